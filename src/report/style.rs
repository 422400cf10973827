//! One mark and one colour a verdict, in every table.

use anstyle::{AnsiColor, Style};

use crate::record::Verdict;

/// The mark of a verdict in a grid.
pub(super) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Delivered => "ok",
        Verdict::ByDesign => "-",
        Verdict::SilentLoss => "SILENT",
        Verdict::LoudLoss => "loud",
        Verdict::OverBudget => "COST",
        Verdict::DurableLoss => "DURABLE",
        Verdict::Reaped => "REAPED",
        Verdict::Corrupted => "CORRUPT",
        Verdict::Reordered => "ORDER",
        Verdict::Divergent => "DIVERGE",
        Verdict::Duplicated => "TWICE",
        Verdict::Late => "LATE",
        Verdict::NotStreamed => "AT END",
        Verdict::Stalled => "STALLED",
        Verdict::Unbounded => "UNBOUND",
        Verdict::Leaked => "LEAK",
        Verdict::Invalid => "INVALID",
        Verdict::NotRun => "NOT RUN",
    }
}

/// The colour of a verdict.
pub(super) fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Delivered => AnsiColor::Green,
        Verdict::ByDesign => AnsiColor::BrightBlack,
        Verdict::LoudLoss
        | Verdict::NotStreamed
        | Verdict::Stalled
        | Verdict::Unbounded
        | Verdict::OverBudget => AnsiColor::Yellow,
        Verdict::Invalid | Verdict::NotRun => AnsiColor::Magenta,
        _ => AnsiColor::Red,
    };
    colour.on_default()
}

/// Text in a style. The writer strips it where colours are not wanted.
pub(super) fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// A name broken where a reader would break it, so that columns stay narrow: `python-1.43.1+AB` in three lines.
pub(super) fn stacked(name: &str) -> String {
    let mut lines = String::new();
    let family_end = name.find('-').filter(|at| *at > 0 && name[at + 1..].starts_with(char::is_alphanumeric));
    for (at, c) in name.char_indices() {
        let breaks = Some(at) == family_end || c == '+' || c == '/' || (c == '-' && at > 0);
        if breaks && at > 0 {
            lines.push('\n');
        }
        if Some(at) != family_end {
            lines.push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_where_they_are_read() {
        assert_eq!(stacked("1.58.2+step7"), "1.58.2\n+step7");
        assert_eq!(stacked("python-1.43.1+AB"), "python\n1.43.1\n+AB");
        assert_eq!(stacked("python-1.55.1/token_callbacks"), "python\n1.55.1\n/token_callbacks");
        assert_eq!(stacked("browser-1.0.0-alpha.10"), "browser\n1.0.0\n-alpha.10");
        assert_eq!(stacked("browser-session"), "browser\nsession");
        assert_eq!(stacked("-source"), "-source");
    }
}
