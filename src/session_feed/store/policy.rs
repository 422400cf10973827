//! When pending events are written, as a value.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::super::event::{Body, Event};

/// When a [`Coordinator`](super::Coordinator) writes what is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FlushPolicy {
    /// When a turn has ended. Source: the harness until 2026-07-21.
    TurnEnd,
    /// Before the model is asked, before a tool runs, and when a step or a turn has ended. Source: note of 2026-07-21.
    Checkpoints,
    /// So many milliseconds after the first pending event came; more events do not put it off. Source: note of
    /// 2026-08-08, which has 200.
    Window(u32),
    /// At every event. The note of 2026-07-21 refuses it for its price.
    EveryEvent,
}

/// A word that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no flush policy is called `{word}`; expected `turn-end`, `checkpoints`, `every-event`, or `window-<n>ms` with n \
     from 1, as in `window-200ms`{near}"
)]
pub struct PolicyError {
    word: String,
    near: String,
}

/// The policies with a fixed name, and the usual window.
const NAMES: [(&str, FlushPolicy); 4] = [
    ("turn-end", FlushPolicy::TurnEnd),
    ("checkpoints", FlushPolicy::Checkpoints),
    ("window-200ms", FlushPolicy::Window(200)),
    ("every-event", FlushPolicy::EveryEvent),
];

impl FlushPolicy {
    /// Every policy as a regular expression.
    pub const PATTERN: &str = "^(turn-end|checkpoints|every-event|window-[1-9][0-9]*ms)$";

    /// The policies with a fixed name, and the usual window.
    pub fn names() -> [&'static str; 4] {
        NAMES.map(|(name, _)| name)
    }

    /// Whether the event, which is the last one pending, has to be written at once.
    pub(super) fn at_once(self, event: &Event) -> bool {
        match self {
            FlushPolicy::EveryEvent => true,
            FlushPolicy::Window(_) => false,
            FlushPolicy::TurnEnd => matches!(event.body, Body::TurnEnd(..)),
            // The model is asked right after the step began, and the tool runs right after its call was logged.
            FlushPolicy::Checkpoints => matches!(
                event.body,
                Body::StepStart(_) | Body::ToolCall(..) | Body::StepEnd(_) | Body::TurnEnd(..)
            ),
        }
    }

    /// When events of which the first came at `first` have to be written; none if time alone never does it.
    pub(super) fn due(self, first: u64) -> Option<u64> {
        match self {
            FlushPolicy::Window(ms) => Some(first.saturating_add(ms.into())),
            _ => None,
        }
    }
}

impl fmt::Display for FlushPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlushPolicy::TurnEnd => f.pad("turn-end"),
            FlushPolicy::Checkpoints => f.pad("checkpoints"),
            FlushPolicy::Window(ms) => f.pad(&format!("window-{ms}ms")),
            FlushPolicy::EveryEvent => f.pad("every-event"),
        }
    }
}

impl FromStr for FlushPolicy {
    type Err = PolicyError;

    fn from_str(word: &str) -> Result<FlushPolicy, PolicyError> {
        if let Some((_, policy)) = NAMES.iter().find(|(name, _)| *name == word) {
            return Ok(*policy);
        }
        let window = word.strip_prefix("window-").and_then(|rest| rest.strip_suffix("ms"));
        let ms = window.filter(|n| !n.starts_with(['0', '+'])).and_then(|n| n.parse().ok());
        ms.map(FlushPolicy::Window).ok_or_else(|| {
            let scored = NAMES.iter().map(|(name, _)| (strsim::jaro_winkler(word, name), *name));
            let best = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.75);
            let near = best.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
            PolicyError { word: word.to_owned(), near }
        })
    }
}

impl TryFrom<String> for FlushPolicy {
    type Error = PolicyError;
    fn try_from(word: String) -> Result<FlushPolicy, PolicyError> {
        word.parse()
    }
}

impl From<FlushPolicy> for String {
    fn from(policy: FlushPolicy) -> String {
        policy.to_string()
    }
}
