//! A change to a frame, as a value that a scenario can write and a person can type.
//!
//! | written | means |
//! |---|---|
//! | `-source` | drop the field |
//! | `+item_id=x` | add a field at the end (or overwrite it) |
//! | `source=assistant`, `kind=StreamingDelta` | replace the value where the field is present |
//! | `content=null` | the value null |
//! | `content->text` | rename the field |
//! | `!not json{` | replace the whole frame by this text |
//!
//! A value is JSON if it reads as JSON and a bare string otherwise. Steps are separated by blanks.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

/// One step of a mutation.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Drop(String),
    Add(String, Value),
    Set(String, Value),
    Rename(String, String),
    Replace(String),
}

/// A frame mutation: steps applied in order. The empty one is written `none` and changes nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mutation {
    steps: Vec<Step>,
    written: String,
}

/// Why a mutation does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{step}` is no frame mutation: write -field, +field=value, field=value, field->name or !text")]
pub struct MutationError {
    /// The step that does not read.
    pub step: String,
}

/// Every mutation as a regular expression, so that an editor can tell what does not read.
pub const PATTERN: &str = concat!(
    r"^\s*(none|![\s\S]*|",
    // A step: one to drop, to rename, or to add or set.
    r"(-[^\s=]+|[^\s=-][^\s=]*->[^\s=]+|(\+[^\s=]+|[^\s=+-][^\s=]*)=\S*)",
    r"(\s+(-[^\s=]+|[^\s=-][^\s=]*->[^\s=]+|(\+[^\s=]+|[^\s=+-][^\s=]*)=\S*))*",
    r")\s*$",
);

impl Mutation {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// The frame's text after the mutation.
    pub fn apply(&self, mut frame: Map<String, Value>) -> String {
        for step in &self.steps {
            match step {
                Step::Drop(name) => {
                    frame.shift_remove(name);
                }
                Step::Add(name, value) => {
                    frame.insert(name.clone(), value.clone());
                }
                Step::Set(name, value) => {
                    if let Some(slot) = frame.get_mut(name) {
                        *slot = value.clone();
                    }
                }
                Step::Rename(from, to) => {
                    let renamed = std::mem::take(&mut frame).into_iter();
                    frame = renamed.map(|(k, v)| (if k == *from { to.clone() } else { k }, v)).collect();
                }
                Step::Replace(text) => return text.clone(),
            }
        }
        Value::Object(frame).to_string()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() { "none" } else { &self.written })
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn step(text: &str) -> Option<Step> {
    let named = |s: &str| (!s.is_empty() && !s.contains('=')).then(|| s.to_owned());
    if let Some(name) = text.strip_prefix('-') {
        return named(name).map(Step::Drop);
    }
    if let Some((from, to)) = text.split_once("->") {
        return Some(Step::Rename(named(from)?, named(to)?));
    }
    let (name, v) = text.split_once('=')?;
    match name.strip_prefix('+') {
        Some(name) => named(name).map(|n| Step::Add(n, value(v))),
        None => named(name).map(|n| Step::Set(n, value(v))),
    }
}

impl FromStr for Mutation {
    type Err = MutationError;
    fn from_str(s: &str) -> Result<Self, MutationError> {
        let s = s.trim();
        if s == "none" {
            return Ok(Mutation::default());
        }
        let steps = match s.strip_prefix('!') {
            Some(text) => vec![Step::Replace(text.to_owned())],
            None => s
                .split_whitespace()
                .map(|part| step(part).ok_or_else(|| MutationError { step: part.to_owned() }))
                .collect::<Result<_, _>>()?,
        };
        if steps.is_empty() {
            return Err(MutationError { step: s.to_owned() });
        }
        Ok(Mutation { steps, written: s.split_whitespace().collect::<Vec<_>>().join(" ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(mutation: &str) -> String {
        let frame = serde_json::from_str(r#"{"id":"1","source":"agent","content":"a","kind":"K"}"#).unwrap();
        mutation.parse::<Mutation>().unwrap().apply(frame)
    }

    #[test]
    fn each_form_does_what_it_says() {
        assert_eq!(apply("none"), r#"{"id":"1","source":"agent","content":"a","kind":"K"}"#);
        assert_eq!(apply("-source"), r#"{"id":"1","content":"a","kind":"K"}"#);
        assert_eq!(apply("+order=0"), r#"{"id":"1","source":"agent","content":"a","kind":"K","order":0}"#);
        assert_eq!(apply("kind=Other"), r#"{"id":"1","source":"agent","content":"a","kind":"Other"}"#);
        assert_eq!(apply("content=null -id"), r#"{"source":"agent","content":null,"kind":"K"}"#);
        assert_eq!(apply("content->text"), r#"{"id":"1","source":"agent","text":"a","kind":"K"}"#);
        assert_eq!(apply("!not json{"), "not json{");
        assert_eq!(apply("!"), "");
    }

    #[test]
    fn set_leaves_absent_fields_absent() {
        assert_eq!(apply("reasoning_content=x"), apply("none"));
    }

    #[test]
    fn what_does_not_read_is_named() {
        for bad in ["", "source", "-", "+x", "=1", "-source nonsense"] {
            assert!(bad.parse::<Mutation>().is_err(), "{bad:?}");
        }
        assert_eq!("-a what".parse::<Mutation>().unwrap_err().step, "what");
    }

    #[test]
    fn it_prints_as_it_was_written() {
        for text in ["none", "-source", "+item_id=x +order=0", "!not json{"] {
            assert_eq!(text.parse::<Mutation>().unwrap().to_string(), text);
        }
    }
}
