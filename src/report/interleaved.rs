//! What was measured in turns, for a person and for a program.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::escape::line as plain;
use super::style::paint;
use crate::record::comparison::Count;
use crate::record::interleaved::{Claim, Interleaved, Series, TimedPoint};

/// The result as JSON.
pub fn interleaved_json(of: &Interleaved, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, of)?;
    writeln!(out)
}

/// The result as text. Colours are ANSI.
pub fn interleaved_table(of: &Interleaved, out: &mut dyn Write) -> io::Result<()> {
    let percent = of.smallest_effect * 100.0;
    writeln!(
        out,
        "CPU a chunk of {} over that of {}, in turns; smallest effect {percent} %, {} points corrected by Holm\n",
        plain(&of.head),
        plain(&of.base),
        of.points.len()
    )?;
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["point", "blocks", "ratio", "95 %", "A/A", "p", "again", ""]);
    for point in &of.points {
        table.add_row(row(point).into_iter().enumerate().map(|(at, text)| {
            let to = if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(to)
        }));
    }
    writeln!(out, "{table}")?;
    for point in of.points.iter().filter(|point| point.claim == Claim::Regressed) {
        writeln!(out, "{}", paint(&format!("{} regressed", plain(&point.id)), AnsiColor::Red.on_default()))?;
    }
    if of.counts.is_empty() {
        writeln!(out, "\nno exact count differs")?;
    } else {
        writeln!(out, "\n{}", paint("exact counts  (* the exit code follows from it)", Style::new().bold()))?;
        let figure = |count: Option<Count>| match count {
            None => "not counted".to_owned(),
            Some(Count::Whole(n)) => n.to_string(),
            Some(Count::Share(n)) => n.to_string(),
        };
        for count in &of.counts {
            let star = if count.gates { "*" } else { " " };
            let (base, head) = (figure(count.base), figure(count.head));
            writeln!(out, "  {star} {} {}: {base} → {head}", plain(&count.id), plain(&count.count))?;
        }
    }
    for broken in &of.broken {
        writeln!(out, "{}", plain(broken))?;
    }
    for reason in &of.rig {
        writeln!(out, "rig {}: {}", paint("INVALID", AnsiColor::Magenta.on_default()), plain(reason))?;
    }
    if !of.complete {
        writeln!(out, "stopped early: not every block that was asked for was measured")?;
    }
    Ok(())
}

fn row(point: &TimedPoint) -> Vec<String> {
    let Series { base_ns, head_ns, ratio, ci, control_ci, p_holm, .. } = &point.first;
    let again = point.second.as_ref().map_or_else(|| "-".to_owned(), |second| format!("{:.3}", second.ratio));
    vec![
        plain(&point.id).into_owned(),
        format!("{}", base_ns.len().min(head_ns.len())),
        format!("{ratio:.3}"),
        between(*ci),
        between(*control_ci),
        format!("{p_holm:.4}"),
        again,
        point.claim.words().to_owned(),
    ]
}

/// An interval of ratios; `unknown` where there are too few blocks.
pub(super) fn between([lo, hi]: [f64; 2]) -> String {
    if lo > 0.0 && hi.is_finite() { format!("{lo:.3} … {hi:.3}") } else { "unknown".to_owned() }
}
