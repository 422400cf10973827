//! From a capture to the observation of the client that sat there, by what its profile says today.

use crate::agent_server::profile::client::{ClientChoice, Listening};
use crate::live::capture::{Capture, ClientSide, Seated, observe};
use crate::record::{Class, Observation};

/// The evidence of a captured cell.
pub fn observed(capture: &Capture, choice: &ClientChoice) -> Observation {
    let traits = &choice.profile.traits;
    let default = Some(traits.listen.default.as_str()).filter(|list| !list.is_empty());
    let list = choice.list.as_deref().or(default);
    let listening = list.and_then(|list| traits.listen.lists.get(list)).copied();
    let swallowed = list.map(|list| format!("{list}_swallowed"));
    let not_called = match listening {
        Some(Listening::Swallowed) => swallowed.as_deref(),
        Some(Listening::Bypassed) => Some("not_in_this_callback_list"),
        Some(Listening::Called) | None => None,
    };
    // A page is read off its bubbles: its reasoning is folded away, and nobody can say what of it was shown.
    let text = [Class::Text];
    let shows = match capture.client {
        ClientSide::Canvas { .. } => &text[..],
        _ => &traits.shows,
    };
    let seated =
        Seated { endpoint: traits.connect.endpoint, shows, streams: traits.streams, list, not_called };
    observe(capture, &seated)
}
