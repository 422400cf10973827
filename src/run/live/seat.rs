//! From a capture to the observation of the client that sat there, by what its profile says today.

use crate::agent_server::profile::client::{ClientChoice, Listening};
use crate::agent_server::server::Chunk;
use crate::live::capture::{Capture, ClientSide, Seated, observe};
use crate::record::observation::Piece;
use crate::record::{Class, Observation};
use crate::scenario::{Cell, Does};

/// The evidence of a captured cell, next to what the cell was meant to be.
pub fn observed(capture: &Capture, cell: &Cell, choice: &ClientChoice) -> Observation {
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
    let fails = cell.workload.asides.iter().any(|aside| matches!(aside.what, Does::Fail { .. }));
    let (endpoint, streams) = (traits.connect.endpoint, traits.streams);
    let seated = Seated { endpoint, shows, streams, list, not_called, fails };
    let mut observation = observe(capture, &seated);
    observation.rig_faults.extend(other_workload(&observation.produced, cell));
    observation
}

/// A model that broke off, was asked twice, or sent an older workload: all of what it sent may have arrived, and nothing
/// is said of this cell by that.
fn other_workload(produced: &[Piece], cell: &Cell) -> Option<String> {
    let planned: Vec<Piece> = cell.workload.tokens.iter().flat_map(Chunk::pieces).collect();
    let differs = planned.iter().zip(produced).position(|(planned, sent)| planned != sent);
    let at = match differs {
        Some(at) => at,
        None if planned.len() == produced.len() => return None,
        None => planned.len().min(produced.len()),
    };
    let (sent, all) = (produced.len(), planned.len());
    Some(format!(
        "the model sent {sent} pieces, the workload `{}` has {all}, and they part at piece {}",
        cell.workload.name,
        at + 1
    ))
}
