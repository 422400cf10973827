//! A baseline as a file, and as a person is shown it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::escape::line as plain;
use super::style::{paint, style};
use crate::record::Verdict;
use crate::record::baseline::{Baseline, BaselineCell};

/// The baseline as it is committed: the header, then one cell a line. The same run gives the same bytes.
pub fn baseline_lines(of: &Baseline, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &of.head)?;
    writeln!(out)?;
    for cell in &of.cells {
        serde_json::to_writer(&mut *out, cell)?;
        writeln!(out)?;
    }
    Ok(())
}

/// What a baseline holds: how many cells ended how, and every one that is not healthy.
pub fn baseline_table(name: &str, of: &Baseline, out: &mut dyn Write) -> io::Result<()> {
    let head = &of.head;
    let cells = of.cells.len();
    writeln!(
        out,
        "{}: {cells} cells of {}, {} clock, seed {}, by skewlab {}",
        plain(name),
        plain(&head.of),
        plain(&head.clock),
        head.seed,
        plain(&head.skewlab)
    )?;
    let mut by_verdict: BTreeMap<Verdict, u64> = BTreeMap::new();
    for cell in &of.cells {
        *by_verdict.entry(cell.verdict).or_default() += 1;
    }
    for (verdict, count) in by_verdict.iter().rev() {
        writeln!(out, "  {count} {}", paint(verdict.as_str(), style(*verdict)))?;
    }
    for cell in of.cells.iter().filter(|cell| !cell.verdict.is_healthy()) {
        let BaselineCell { id, verdict, scope, lost_at, reason, .. } = cell;
        let scope = scope.map(|scope| format!(" {}", scope.as_str())).unwrap_or_default();
        let at = lost_at.map(|hop| format!(" at {hop}")).unwrap_or_default();
        let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let verdict = paint(verdict.as_str(), style(*verdict));
        writeln!(out, "  {}: {verdict}{}", plain(id), plain(&format!("{scope}{at}{why}")))?;
    }
    Ok(())
}
