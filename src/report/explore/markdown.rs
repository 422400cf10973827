//! A search for the comment on a pull request.

use std::io::{self, Write};

use super::{DECLARED, NEWS, NO_NEWS, ROW, counts, groups, kinds, parted, tried, tried_triples};
use crate::record::explore::{ExploreReport, Group};
use crate::report::markdown::{code, text};
use crate::report::style::mark;

/// Kinds of ends that are told one by one.
const MOST: usize = 50;

/// Writes what nobody had declared, what somebody had folded away, and how much was tried.
pub fn explore_markdown(report: &ExploreReport, out: &mut dyn Write) -> io::Result<()> {
    let (news, declared) = parted(report);
    let title = if news.is_empty() { NO_NEWS.to_owned() } else { format!("{NEWS}: {}", groups(&news)) };
    writeln!(out, "### skewlab explore: {title}\n\n{}\n", text(&counts(report)))?;
    table(&news, out)?;
    let kept: Vec<&str> = news.iter().filter_map(|group| group.example.capsule.as_deref()).collect();
    if !kept.is_empty() {
        writeln!(out, "Capsules in the folder of the search, for {}:\n", code("skewlab replay FILE"))?;
        kept.iter().try_for_each(|name| writeln!(out, "- {}", code(name)))?;
        writeln!(out)?;
    }
    if !declared.is_empty() {
        writeln!(out, "<details><summary>{DECLARED}: {}</summary>\n", groups(&declared))?;
        table(&declared, out)?;
        writeln!(out, "</details>\n")?;
    }
    let pairs = report.coverage.pairs.iter().map(tried);
    let tried: Vec<String> = pairs.chain([tried_triples(&report.coverage)]).collect();
    writeln!(out, "<sub>tried: {}; skewlab {}</sub>", text(&tried.join("; ")), text(&report.skewlab))
}

fn table(groups: &[&Group], out: &mut dyn Write) -> io::Result<()> {
    let kinds = kinds(groups);
    if kinds.is_empty() {
        return Ok(());
    }
    writeln!(out, "| | {} |\n|---|---|---|---|---:|---:|---|", ROW.join(" | "))?;
    for kind in kinds.iter().take(MOST) {
        let row = kind.row().map(|cell| text(&cell));
        writeln!(out, "| {} | {} |", text(mark(kind.shown.verdict)), row.join(" | "))?;
    }
    if kinds.len() > MOST {
        writeln!(out, "\nand {} more", kinds.len() - MOST)?;
    }
    writeln!(out)
}
