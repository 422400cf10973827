//! A file of known failures beside the scenarios: `known.toml`.
//!
//! ```toml
//! [[known]]
//! cell = "release-skew/1.58.2/python-1.55.1/*"
//! verdict = "silent_loss"
//! hop = "decoded"
//! reason = "unknown_kind"
//! why = "the client is too old to know deltas"
//! link = "https://github.com/OpenHands/software-agent-sdk/issues/4671"
//! expires = 2027-03-01
//! ```
//!
//! `cell` picks by id as `--only` does. `hop` and `reason` (the code of the loss) may be absent, and are then any. The first
//! entry that picks a cell counts. What a scenario lists itself goes before: it knows its cells better.

use std::path::Path;

use super::diagnostic::{Fault, ScenarioError};
use super::parse::table;
use super::pattern::Glob;
use super::problem::Problem;
use super::section::{Faults, Section};
use super::words;
use crate::caret::Caret;
use crate::record::Known;

/// A file of known failures.
#[derive(Debug, Clone)]
pub struct KnownList {
    path: String,
    text: String,
    /// Its entries, in file order; never empty.
    pub entries: Vec<KnownEntry>,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct KnownEntry {
    /// Which cells.
    pub cell: Glob,
    /// Which failure.
    pub known: Known,
    /// Where its table stands.
    span: (usize, usize),
}

impl KnownList {
    /// Reads a file, or says everything that is wrong with it.
    pub fn load(path: &Path) -> Result<KnownList, ScenarioError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| ScenarioError::Read { path: shown.clone(), message: e.to_string() })?;
        KnownList::parse(&shown, &text)
    }

    /// Reads the text of a file; `path` names it in diagnostics.
    pub fn parse(path: &str, text: &str) -> Result<KnownList, ScenarioError> {
        let (path, text) = (path.to_owned(), text.to_owned());
        match entries(&text) {
            Ok(entries) => Ok(KnownList { path, text, entries }),
            Err(faults) => Err(ScenarioError::Invalid { path, text, faults }),
        }
    }

    /// The line of an entry, from 1.
    pub fn line(&self, entry: &KnownEntry) -> u64 {
        let before = self.text.get(..entry.span.0).unwrap_or_default();
        before.matches('\n').count() as u64 + 1
    }

    /// A complaint about an entry, with its line and a caret under it.
    pub fn complain(&self, entry: &KnownEntry, title: &str, styled: bool) -> String {
        // The whole table would be underlined; its first line is enough.
        let (start, end) = entry.span;
        let line = self.text.get(start..end).and_then(|table| table.find('\n'));
        let span = (start, line.map_or(end, |at| start + at));
        Caret { path: &self.path, text: &self.text, span }.show(title, None, styled)
    }
}

fn entries(text: &str) -> Result<Vec<KnownEntry>, Vec<Fault>> {
    let table = table(text)?;
    let mut faults = Faults::default();
    let mut file = Section::new("a file of known failures", 0..0, table.get_ref());
    // Comments alone are a list of nothing, as `skewlab init` writes it; any other key is a typing error.
    if !table.get_ref().is_empty() {
        file.require("known", &mut faults);
    }
    let mut entries = Vec::new();
    for mut section in file.tables("known", &mut faults) {
        let span = (section.span.start, section.span.end);
        let cell = section.required("cell", &mut faults);
        let cell = cell.and_then(|cell| match Glob::new(cell.get_ref()) {
            Ok(glob) => Some(glob),
            Err(e) => {
                let pattern = cell.get_ref().clone();
                faults.add(cell.span(), Problem::BadPattern { pattern, message: e.to_string() });
                None
            }
        });
        let known = words::listed(&mut section, &mut faults);
        section.finish(&mut faults);
        entries.extend(cell.zip(known).map(|(cell, known)| KnownEntry { cell, known, span }));
    }
    file.finish(&mut faults);
    if faults.is_empty() { Ok(entries) } else { Err(faults.sorted()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Hop, Verdict};

    const WHOLE: &str = "# ours\n[[known]]\ncell = \"*/python-1.55.1/*\"\nverdict = \"silent_loss\"\nhop = \"decoded\"\n\
                         reason = \"unknown_kind\"\nwhy = \"too old\"\nlink = \"https://x/1\"\nexpires = 2027-03-01\n";

    #[test]
    fn an_entry_is_read_with_its_line() {
        let list = KnownList::parse("known.toml", WHOLE).unwrap();
        let [entry] = &list.entries[..] else { panic!("one entry") };
        let Known { verdict, lost_at, code, reason, .. } = &entry.known;
        assert_eq!((*verdict, *lost_at), (Verdict::SilentLoss, Some(Hop::Decoded)));
        assert_eq!((code.as_deref(), reason.as_str()), (Some("unknown_kind"), "too old"));
        assert!(entry.cell.picks("release-skew/1.58.2/python-1.55.1/chat/none"));
        assert_eq!(list.line(entry), 2);
        let said = list.complain(entry, "it passes now", false);
        assert!(said.contains("known.toml:2:1") && said.starts_with("error: it passes now"), "{said}");
    }

    #[test]
    fn every_mistake_is_shown_at_its_place() {
        let said = |text: &str| KnownList::parse("known.toml", text).unwrap_err().to_string();
        for (from, to, place, words) in [
            ("silent_loss", "silent_los", "known.toml:4:11", "did you mean `silent_loss`"),
            ("decoded", "replaid", "known.toml:5:7", "did you mean `replayed`"),
            ("why =", "wy =", "known.toml:7:1", "has no key `wy`"),
            ("expires =", "expirse =", "known.toml:9:1", "did you mean `expires`"),
            ("2027-03-01", "\"soon\"", "known.toml:9:11", "a date without quotes"),
            ("*/python-1.55.1/*", "[", "known.toml:3:8", "is no pattern"),
            ("link = \"https://x/1\"\n", "", "known.toml:2:1", "lacks `link`"),
            ("[[known]]", "[[knwon]]", "known.toml:2:3", "did you mean `known`"),
        ] {
            let text = WHOLE.replace(from, to);
            assert_ne!(text, WHOLE);
            let said = said(&text);
            assert!(said.contains(place) && said.contains(words), "{from}: {said}");
        }
        assert!(KnownList::parse("known.toml", "# nothing yet\n").unwrap().entries.is_empty());
        assert!(said("other = 1").contains("lacks `known`"), "{}", said("other = 1"));
        assert!(said("known = 3").contains("a list of tables"));
    }
}
