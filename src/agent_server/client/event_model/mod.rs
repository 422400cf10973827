//! What a released Python client makes of the text of a frame: `json.loads`, then `Event.model_validate`.
//!
//! The classes of every release are data, in `scenarios/vocabulary/python.toml`; the code knows how pydantic
//! reads a type, and no release. An [`EventModel`] is the classes of one release, ready to judge frames. It
//! says of each what the real client says: taken, as which class, or refused, with which exception and, for
//! a `ValidationError`, with which error at which place.
//!
//! | file | idea |
//! |---|---|
//! | `file` | reading the data file, with errors that name the line |
//! | `vocabulary` | families and models of all releases, and what of them one release has |
//! | `line` | one field line, `content?: str? since 1.18.1` |
//! | `types` | the types that a field can have |
//! | `check` | walking a value along its type: models, families, lists |
//! | `place` | where in a frame an error is |
//! | `coerce` | what pydantic takes for a string, a bool, an int or a float |
//! | `smart` | unions: the first member that fits |
//! | `show` | one release's classes, written out in the language of the data file |
//! | `advertise` | the same as the schemas of an `OpenAPI` document |
//! | `problem` | errors by their pydantic names, and what becomes of a frame |
//!
//! **Adding a field**: one line in the data file, with the release it came with. **Adding a kind**: a
//! `[[model]]` with its family. A new *behaviour* of pydantic needs a word in `types` and a test in
//! `conformance`, whose frames were put through the real packages.
//!
//! **What differs from the real thing**, knowingly: nesting beyond [`json::MAX_DEPTH`] counts as too deep; a
//! float beyond 2^63 passes as `int`, because it cannot be told from a whole number of that size; the
//! character U+FDD0 passes for a lone surrogate.

mod advertise;
mod check;
mod coerce;
#[cfg(test)]
mod conformance;
mod file;
mod line;
mod place;
mod problem;
mod show;
mod smart;
mod types;
mod vocabulary;

use std::sync::Arc;

use serde_json::Value;

pub use advertise::{Advertised, Side};
pub use problem::{Decoded, PythonError, Rejection};
pub use show::{Shown, ShownFamily, ShownModel};

use self::check::Check;
use self::vocabulary::{Tables, Vocabulary};
use crate::agent_server::profile::ProfileError;
use crate::unit::Release;
use crate::wire::json::{self, Reader};

/// What a build of a client may change about the events that it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether `StreamingDeltaEvent` is a kind of `Event`. It is in every release since 1.18.1; a build with
    /// stage A of the bus split takes it out (issue #4696).
    pub delta_is_event: bool,
    /// Which classes a frame is decoded as.
    pub family: Family,
    /// Whether the classes of the server's own package are there too.
    pub server: bool,
}

/// A set of classes told apart by their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `Event` and its subclasses.
    Event,
    /// The delta on its own, as stage C decodes it.
    Standalone,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::Event => "Event",
            Family::Standalone => "Standalone",
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { delta_is_event: true, family: Family::Event, server: false }
    }
}

/// The event classes of one client release. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EventModel {
    tables: Arc<Tables>,
}

impl EventModel {
    /// The classes that `release` had; the stages after `+` are not looked at, `options` say what they do.
    /// Releases before 1.18.0 get those of 1.18.0, and nobody has measured whether that is right.
    ///
    /// Errors when the vocabulary contradicts itself for that release.
    pub fn at(release: &Release, options: Options) -> Result<EventModel, ProfileError> {
        let tables = Vocabulary::embedded()?.at(release, options)?;
        Ok(EventModel { tables: Arc::new(tables) })
    }

    /// Puts the text of a frame through the client.
    ///
    /// Errors when the client raises.
    pub fn decode(&self, text: &str) -> Result<Decoded, Rejection> {
        let value = json::parse(text, Reader::Python).map_err(|fault| Rejection::parsed(&fault))?;
        let mut check = Check::new(&self.tables);
        check.event(&value).map_err(Rejection::escaped)?;
        let problems = check.into_problems();
        if problems.is_empty() {
            let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(Decoded { kind, value })
        } else {
            Err(Rejection::invalid(problems))
        }
    }

    /// The kinds of event, in the order of the data file.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.tables.event_kinds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Hop;

    fn refused(release: &str, text: &str) -> (&'static str, Hop, String) {
        let model = EventModel::at(&release.parse().unwrap(), Options::default()).unwrap();
        let rejection = model.decode(text).unwrap_err();
        (rejection.error.as_str(), rejection.hop, rejection.reason.to_string())
    }

    #[test]
    fn every_refusal_has_its_hop_and_reason() {
        let delta = |more: &str| format!(r#"{{"kind":"StreamingDeltaEvent"{more}}}"#);
        let action = |action: &str| format!(r#"{{"kind":"ActionEvent","thought":[],"action":{action}}}"#);
        let long = "1".repeat(4301);
        let deep = "[".repeat(20_000);
        let cases: &[(&str, &str, &str, Hop, &str)] = &[
            ("1.58.2", "not json{", "JSONDecodeError", Hop::Parsed, "not_json"),
            ("1.58.2", &long, "ValueError", Hop::Parsed, "int_too_long"),
            ("1.58.2", &deep, "RecursionError", Hop::Parsed, "too_deep"),
            ("1.58.2", "[]", "ValidationError", Hop::Decoded, "not_an_object"),
            ("1.57.0", "[]", "TypeError", Hop::Decoded, "not_an_object"),
            ("1.57.0", "null", "AttributeError", Hop::Decoded, "not_an_object"),
            ("1.57.0", &action("[]"), "TypeError", Hop::Decoded, "not_an_object"),
            ("1.57.0", &action("4"), "AttributeError", Hop::Decoded, "not_an_object"),
            ("1.58.2", &action(r#"{"kind":{}}"#), "TypeError", Hop::Decoded, "unknown_kind"),
            ("1.58.2", "{}", "ValidationError", Hop::Decoded, "unknown_kind"),
            ("1.58.2", r#"{"kind":[]}"#, "TypeError", Hop::Decoded, "unknown_kind"),
            ("1.58.2", r#"{"kind":"\ud800"}"#, "UnicodeEncodeError", Hop::Decoded, "unknown_kind"),
            ("1.58.2", &delta(r#","id":"__root__""#), "ValidationError", Hop::Decoded, "reserved_id"),
            ("1.58.2", &delta(r#","item_id":"i""#), "ValidationError", Hop::Decoded, "extra_forbidden"),
            ("1.30.0", &delta(r#","parent_id":null"#), "ValidationError", Hop::Decoded, "extra_forbidden"),
            ("1.18.0", &delta(""), "ValidationError", Hop::Decoded, "unknown_kind"),
            ("1.58.2", &action("null"), "ValidationError", Hop::Decoded, "missing"),
        ];
        for (release, text, error, hop, reason) in cases {
            let shown = &text[..text.len().min(80)];
            assert_eq!(refused(release, text), (*error, *hop, (*reason).to_owned()), "{release} {shown}");
        }
    }

    #[test]
    fn what_differs_from_the_real_package_is_known() {
        let model = EventModel::at(&"1.58.2".parse().unwrap(), Options::default()).unwrap();
        let float =
            r#"{"kind":"TokenEvent","source":"agent","prompt_token_ids":[1e30],"response_token_ids":[]}"#;
        assert!(model.decode(float).is_ok(), "pydantic: int_parsing_size");
        let key = model.decode("{\"kind\":\"PauseEvent\",\"\u{fdd0}\":1}").unwrap_err();
        assert_eq!(key.reason.as_str(), "string_unicode", "pydantic: extra_forbidden");
    }

    #[test]
    fn a_tool_of_an_unknown_package_loses_the_whole_action() {
        let text = r#"{"kind":"ActionEvent","source":"agent","thought":[],"tool_name":"terminal",
            "tool_call_id":"c","llm_response_id":"r","tool_call":{"id":"c","name":"terminal",
            "arguments":"{}","origin":"completion"},"action":{"kind":"TerminalAction","command":"ls"}}"#;
        let model = EventModel::at(&"1.58.2".parse().unwrap(), Options::default()).unwrap();
        let rejection = model.decode(text).unwrap_err();
        assert_eq!(rejection.reason.as_str(), "unknown_kind");
        assert_eq!(rejection.details, [("value_error", "action".to_owned())]);
    }
}
