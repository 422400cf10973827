//! Annotations of a GitHub workflow: lines that the runner reads and shows at the top of a run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::broken::{Broken, STALE_ENTRIES, Trouble, broken, stale_entries};
use super::escape::line;
use crate::record::Run;

/// How many of each kind GitHub shows of one step.
const MOST: usize = 10;

/// Writes one annotation for each kind of broken cell, worst first: stale entries are warnings, all others errors, ten of each
/// at most. `files` has the file of a scenario that was given as one.
pub fn annotations(run: &Run, files: &BTreeMap<String, String>, out: &mut dyn Write) -> io::Result<()> {
    let broken = broken(run);
    let (warnings, errors): (Vec<_>, Vec<_>) =
        broken.iter().partition(|group| group.trouble == Trouble::Stale);
    for (kind, groups) in [("error", errors), ("warning", warnings)] {
        for (at, group) in groups.iter().take(MOST).enumerate() {
            let rest = match groups.len() - MOST.min(groups.len()) {
                more @ 1.. if at + 1 == MOST => format!("\nand {more} more like this; the report has all"),
                _ => String::new(),
            };
            writeln!(out, "{}", annotation(kind, group, files, &rest))?;
        }
    }
    for entry in stale_entries(run).iter().take(MOST) {
        writeln!(out, "::warning title=stale known failure::{}", data(&format!("{entry}\n{STALE_ENTRIES}")))?;
    }
    Ok(())
}

fn annotation(kind: &str, group: &Broken<'_>, files: &BTreeMap<String, String>, rest: &str) -> String {
    let pair = group.cells.first().map(|cell| format!("{} and {}", cell.server_release, cell.client_release));
    let title = line(&format!("{}: {}", group.verdict.as_str(), pair.unwrap_or_default())).into_owned();
    let file = match files.get(group.scenario) {
        Some(file) => format!("file={},", property(&line(file))),
        None => String::new(),
    };
    let mut message = format!("{}: {}; on {}", line(group.scenario), group.what, group.places());
    if let Some(note) = &group.note {
        message = format!("{message}\n{note}");
    }
    let message = format!("{message}\nskewlab explain {}{rest}", group.verdict.as_str());
    format!("::{kind} {file}title={}::{}", property(&title), data(&message))
}

/// A message: percent signs and line ends as the runner's own library writes them.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property, which a colon or a comma would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_line_or_a_property() {
        assert_eq!(data("50 %\r\n::error::x"), "50 %25%0D%0A::error::x");
        assert_eq!(property("a: b, c%\n"), "a%3A b%2C c%25%0A");
    }
}
