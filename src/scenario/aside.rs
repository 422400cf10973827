//! What a model does between its tokens: it falls silent, calls a tool, or fails.

use std::time::Duration;

use serde_json::Value;

use super::problem::Problem;
use super::section::{Faults, Section};

/// Something between two tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// The token that it comes before; as many as there are for the end.
    pub before: usize,
    /// What happens.
    pub what: Does,
}

/// What happens between two tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Nothing comes for a while.
    Stall(Duration),
    /// The model calls a tool, which ends its answer; what follows is its answer to the tool's result.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments, as the text of a JSON object.
        arguments: String,
    },
    /// The provider fails, which ends the turn.
    Fail {
        /// HTTP status instead of a stream; `None` for an error within it.
        status: Option<u16>,
        /// What the provider says.
        message: String,
    },
}

/// The longest silence, seconds: longer than any limit of a server or a client.
pub(super) const MAX_STALL_S: f64 = 7200.0;

impl Aside {
    /// Reads the keys of one item of `tokens` that are about no token. `before` is its place.
    pub(super) fn read(item: &mut Section<'_>, before: usize, faults: &mut Faults) -> Vec<Aside> {
        let mut asides = Vec::new();
        if let Some(seconds) = item.positive("stall_s", MAX_STALL_S, faults) {
            asides.push(Aside { before, what: Does::Stall(Duration::from_secs_f64(seconds)) });
        }
        let arguments = item.text("arguments", faults);
        if let Some(name) = item.text("tool", faults) {
            let arguments = arguments.map_or_else(
                || "{}".to_owned(),
                |text| {
                    if !matches!(serde_json::from_str(text.get_ref()), Ok(Value::Object(_))) {
                        faults.add(text.span(), Problem::NoArguments);
                    }
                    text.into_inner()
                },
            );
            asides.push(Aside { before, what: Does::Tool { name: name.into_inner(), arguments } });
        }
        let status = item.count("status", 400, 599, faults).and_then(|n| u16::try_from(n).ok());
        if let Some(message) = item.text("error", faults) {
            asides.push(Aside { before, what: Does::Fail { status, message: message.into_inner() } });
        }
        asides
    }

    /// Whether only a released server can play it.
    pub fn needs_a_package(&self) -> bool {
        !matches!(self.what, Does::Stall(_))
    }
}
