//! The observer in the page, and how its changes become what the person saw.

use std::sync::Arc;

use serde::Deserialize;

use super::data::{Alert, Seen};

/// The script.
pub(super) const SCRIPT: &str = include_str!("observer.js");

/// The function through which the page tells us at once what would be gone later.
pub(super) const TELL: &str = "__skewlab_tell";

/// What the observer of one document recorded.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Record {
    changes: Vec<Change>,
    alerts: Vec<(f64, String, bool, String)>,
    /// More changed than is kept.
    pub(super) cut: bool,
}

/// When, the number of bubbles from then on, and what changed in some of them.
#[derive(Debug, Deserialize)]
struct Change(f64, usize, Vec<Part>);

/// Which bubble, how many UTF-16 units of its text stay, and what follows them.
#[derive(Debug, Deserialize)]
struct Part(usize, usize, String);

/// What the page tells by itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Told {
    /// The document is being left; this was its record.
    Left(Record),
    /// One of its sockets was closed.
    Closed {
        /// Which.
        url: String,
        /// With which code.
        code: u16,
        /// And reason.
        reason: String,
    },
}

impl Record {
    /// What was seen, oldest first. `None` when a change does not fit to what was there before it.
    pub(super) fn history(&self) -> Option<Vec<Seen>> {
        let mut bubbles: Vec<Arc<str>> = Vec::new();
        let mut seen = Vec::with_capacity(self.changes.len());
        for Change(at, count, parts) in &self.changes {
            bubbles.resize(*count, Arc::from(""));
            for Part(index, keep, rest) in parts {
                let bubble = bubbles.get_mut(*index)?;
                let start = &bubble[..byte_of(bubble, *keep)?];
                *bubble = Arc::from([start, rest].concat());
            }
            seen.push(Seen { at: *at, bubbles: bubbles.clone() });
        }
        Some(seen)
    }

    /// The alerts, in the order in which they appeared.
    pub(super) fn alerts(&self) -> impl Iterator<Item = Alert> {
        let alerts = self.alerts.iter().cloned();
        alerts.map(|(at, mark, error, text)| Alert { at, mark, error, text })
    }
}

/// Where the UTF-16 unit `units` begins in the text; `None` inside a character or behind the end.
fn byte_of(text: &str, units: usize) -> Option<usize> {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(c.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(changes: &str) -> Option<Vec<Vec<String>>> {
        let record: Record =
            serde_json::from_str(&format!(r#"{{"changes":{changes},"alerts":[],"cut":false}}"#)).unwrap();
        let seen = record.history()?;
        Some(seen.iter().map(|s| s.bubbles.iter().map(ToString::to_string).collect()).collect())
    }

    #[test]
    fn changes_become_whole_texts() {
        let changes =
            r#"[[1,1,[[0,0,"a 😀"]]],[2,1,[[0,4," b"]]],[3,2,[[1,0,"new"]]],[4,2,[[0,2,"X"]]],[5,1,[]]]"#;
        let expected: Vec<Vec<&str>> =
            vec![vec!["a 😀"], vec!["a 😀 b"], vec!["a 😀 b", "new"], vec!["a X", "new"], vec!["a X"]];
        assert_eq!(history(changes).unwrap(), expected);
    }

    #[test]
    fn a_change_that_does_not_fit_is_refused() {
        assert_eq!(history(r#"[[1,1,[[0,1,"a"]]]]"#), None, "keeps more than there was");
        assert_eq!(history(r#"[[1,1,[[1,0,"a"]]]]"#), None, "a bubble that is not there");
        assert_eq!(history(r#"[[1,1,[[0,0,"😀"]]],[2,1,[[0,1,"b"]]]]"#), None, "half a character");
    }
}
