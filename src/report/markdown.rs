//! A run as Markdown, for a pull request or the summary of a workflow's step: what broke, what to do, and the grids, of which
//! those that are green are folded away.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::broken::{Broken, STALE_ENTRIES, Trouble, broken, stale_entries, trouble};
use super::escape::line;
use super::first_screen::{entries, summary};
use super::grid::{Grid, grids, legend, marked};
use super::next::{Again, next};
use super::order::parts;
use super::words::counted;
use crate::record::{CellResult, Run, Subject, Verdict};

/// Bytes that GitHub shows of a step's summary (1024 KiB), less a margin for what a runner adds.
pub const STEP_SUMMARY_BYTES: usize = 1024 * 1024 - 16 * 1024;

/// Groups of broken cells that are told one by one.
const MOST: usize = 50;

/// Characters of one text that are shown.
const LONGEST: usize = 600;

/// Writes all runs, one after the other, in at most `limit` bytes: sections that do not fit are left out whole, and it is
/// said how many.
pub fn markdown(runs: &[&Run], limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut sections: Vec<String> = Vec::new();
    for run in runs {
        let (broken, stale) = (broken(run), stale_entries(run));
        sections.push(heading(run, &broken));
        if !broken.is_empty() || !stale.is_empty() {
            sections.push(what_broke(&broken, &stale));
            sections.push(what_to_do(run, &broken));
        }
        sections.extend(scenarios(run));
        sections.push(format!("<sub>{}</sub>\n", text(&origin(run))));
    }
    // Room for the line that says what is missing.
    let room = limit.saturating_sub(200);
    let (mut used, mut left_out) = (0, 0);
    for section in sections {
        if used + section.len() + 1 > room {
            left_out += 1;
            continue;
        }
        used += section.len() + 1;
        writeln!(out, "{section}")?;
    }
    if left_out > 0 {
        let s = if left_out == 1 { "section was" } else { "sections were" };
        writeln!(out, "_{left_out} {s} left out: the summary would be longer than {limit} bytes._")?;
    }
    Ok(())
}

fn heading(run: &Run, broken: &[Broken<'_>]) -> String {
    let cells = run.cells.len();
    let title = match (cells, broken.is_empty() && run.stale.is_empty()) {
        (0, _) => "skewlab: nothing ran".to_owned(),
        (1, true) => "skewlab: the only cell is as expected".to_owned(),
        (_, true) => format!("skewlab: all {cells} cells are as expected"),
        (_, false) if broken.is_empty() => format!("skewlab: {}", entries(run)),
        (_, false) => format!("skewlab: {} are not as expected", summary(run, broken)),
    };
    let count = |of: fn(&CellResult) -> bool| run.cells.iter().filter(|cell| of(cell)).count();
    let known = count(|cell| cell.outcome == crate::record::Outcome::Known);
    let unproven = count(|cell| !cell.proven);
    let mut text = format!("## {}\n", text(&title));
    let failures = if known == 1 { "known failure" } else { "known failures" };
    for (count, what) in [(known, failures), (unproven, "without a certificate of their parties")] {
        if count > 0 {
            let _ = writeln!(text, "- {count} {what}");
        }
    }
    text
}

fn what_broke(broken: &[Broken<'_>], stale: &[String]) -> String {
    let mut text = "### What broke\n\n".to_owned();
    for group in broken.iter().take(MOST) {
        let _ = writeln!(
            text,
            "- **{}** in {}: {}; on {}",
            self::text(group.trouble.as_str()),
            code(group.scenario),
            self::text(&group.what),
            self::text(&group.places()),
        );
        if let Some(note) = &group.note {
            let _ = writeln!(text, "  - {}", self::text(note));
        }
        for queue in &group.waiting {
            let _ = writeln!(text, "  - {}", self::text(queue));
        }
    }
    if broken.len() > MOST {
        let _ = writeln!(text, "- and {} more", broken.len() - MOST);
    }
    for entry in stale.iter().take(MOST) {
        let _ = writeln!(text, "- **{}**: {}", Trouble::Stale.as_str(), self::text(entry));
    }
    if stale.len() > MOST {
        let _ = writeln!(text, "- and {} more entries that have to go", stale.len() - MOST);
    }
    text
}

/// Steps for the worst of each verdict.
fn what_to_do(run: &Run, broken: &[Broken<'_>]) -> String {
    let mut text = "### What to do\n".to_owned();
    let again = Again::of(run);
    let mut told: Vec<(Trouble, Verdict)> = Vec::new();
    for group in broken {
        if told.contains(&(group.trouble, group.verdict)) {
            continue;
        }
        told.push((group.trouble, group.verdict));
        let next = next(&again, group);
        let verdict = group.verdict.as_str();
        let _ = writeln!(text, "\n{}: {}\n", code(verdict), self::text(&next.look));
        let commands: Vec<String> = next.commands.iter().map(|command| line(command).into_owned()).collect();
        let commands = commands.join("\n");
        let fence = "`".repeat(longest_run(&commands).max(2) + 1);
        let _ = writeln!(text, "{fence}sh\n{commands}\n{fence}");
        if let Some(declare) = &next.declare {
            let _ = writeln!(text, "\n{}", self::text(declare));
        }
    }
    if !run.stale.is_empty() {
        let _ = writeln!(text, "\n{}: {}", code("stale"), self::text(STALE_ENTRIES));
    }
    text
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// A section a scenario, open where something is not as expected.
fn scenarios(run: &Run) -> Vec<String> {
    let all: Vec<&CellResult> = run.cells.iter().collect();
    let mut sections = Vec::new();
    for (name, cells) in parts(&all, |cell| vec![cell.scenario.as_str()]) {
        let ran = run.scenarios.iter().find(|ran| ran.name == name);
        let subject = ran.map_or(Subject::default(), |ran| ran.subject);
        let broken = cells.iter().filter(|cell| trouble(run, cell).is_some()).count();
        let (open, state) = match broken {
            0 => ("", "all as expected".to_owned()),
            n => (" open", format!("{n} not as expected")),
        };
        let mut section = format!(
            "<details{open}><summary>{}: {}, {state}</summary>\n\n",
            code(name),
            counted(cells.len() as u64, "cell")
        );
        if let Some(ran) = ran {
            let _ = writeln!(section, "{}\n", text(&ran.question));
            if let Some(url) = &ran.seen {
                let _ = writeln!(section, "Seen at {}\n", code(url));
            }
        }
        for grid in grids(subject, &cells) {
            table(&grid, &mut section);
        }
        section.push_str("</details>\n");
        sections.push(section);
    }
    if !run.cells.is_empty() {
        sections.push(format!("<sub>{}</sub>\n", text(&legend(&run.cells))));
    }
    sections
}

fn table(grid: &Grid<'_>, to: &mut String) {
    let _ = writeln!(to, "{}\n", text(&grid.title));
    let heads: Vec<String> = grid.columns.iter().map(|name| text(name)).collect();
    let _ = writeln!(to, "| | {} |", heads.join(" | "));
    let _ = writeln!(to, "|---|{}", ":---:|".repeat(grid.columns.len()));
    for (name, cells) in &grid.rows {
        let marks: Vec<String> =
            cells.iter().map(|cell| cell.map_or_else(String::new, |cell| text(&marked(cell)))).collect();
        let _ = writeln!(to, "| {} | {} |", text(name), marks.join(" | "));
    }
    to.push('\n');
}

fn origin(run: &Run) -> String {
    let digest = run.digest.get(..16).unwrap_or(&run.digest);
    format!("skewlab {}, {} clock, seed {}, digest {digest}", run.skewlab, run.clock, run.seed)
}

/// A text as it is, whatever is in it: one line, no markup, nobody mentioned, no issue linked, not endless.
pub(super) fn text(raw: &str) -> String {
    let raw = line(raw);
    let kept = raw.char_indices().nth(LONGEST).map_or(&*raw, |(at, _)| &raw[..at]);
    let mut out = String::with_capacity(kept.len());
    for c in kept.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention or a link to an issue is looked for after entities are read; nothing may stand directly behind it.
            '@' | '#' => {
                out.push(c);
                out.push('\u{200b}');
            }
            // In words they mean nothing; where they could, a number says the same.
            '`' | '*' | '_' | '|' | '[' | ']' | '\\' | '~' | '!' | '$' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    if kept.len() < raw.len() {
        out.push('…');
    }
    out
}

/// The same in the letters of a program.
pub(super) fn code(raw: &str) -> String {
    format!("<code>{}</code>", text(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_and_does_nothing() {
        let shown = text("a|b `c` <img src=x> @octocat #1 **d** [e](f)\n# g");
        for active in ["|", "`", "<", "@o", " #1", "**", "[e]", "\n"] {
            assert!(!shown.contains(active), "{active}: {shown}");
        }
        assert!(text(&"é".repeat(LONGEST + 1)).ends_with('…'));
        assert_eq!(text("silent&loss"), "silent&amp;loss");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(longest_run("a ``` b ` c"), 3);
        assert_eq!(longest_run("abc"), 0);
    }
}
