//! Which text a queue of deltas adds to the bubble that they merge into.

use serde_json::Value;

use super::entry::Payload;
use super::shape::Threw;
use super::think;
use super::view::{self, Bubble};
use crate::agent_server::profile::client::StoreTraits;
use crate::probe::trace::class_of;
use crate::record::Reason;
use crate::record::observation::Piece;

/// What one delta of a queue put on the screen, and why its text may not be among it.
pub(super) type Drawn = Result<(Vec<Piece>, Reason), Threw>;

/// What each delta of `queue` adds. `open` is the bubble that they merge into, as it was before.
pub(super) fn drawn(traits: &StoreTraits, open: Option<&Payload>, queue: &[&Payload]) -> Vec<Drawn> {
    let all_text = open.into_iter().chain(queue.iter().copied()).all(Payload::is_text);
    if all_text && !(traits.split_think && may_think(open, queue)) {
        return queue.iter().map(|p| Ok((fields(p), Reason::new("text_missing")))).collect();
    }
    let mut bubble = open.cloned().unwrap_or_default();
    let mut before = view::bubble(traits, &bubble).unwrap_or_default();
    let alone = open.is_none() && queue.len() == 1;
    let mut all = Vec::new();
    for payload in queue {
        if alone {
            bubble = (*payload).clone();
        } else {
            bubble.merge(payload);
        }
        let after = view::bubble(traits, &bubble);
        all.push(after.clone().map(|after| (difference(&before, &after), why(payload))));
        before = after.unwrap_or_default();
    }
    all
}

/// Whether the text starts, or may turn out to start, with a `<think>` block.
fn may_think(open: Option<&Payload>, queue: &[&Payload]) -> bool {
    let content = |p: &Payload| p.content.as_ref().and_then(Value::as_str).map(str::to_owned);
    let mut leading = open.and_then(|p| p.content.as_ref()).and_then(Value::as_str).unwrap_or_default();
    let rest: String;
    if leading.is_empty() {
        rest = queue.iter().filter_map(|p| content(p)).collect();
        leading = &rest;
    }
    !leading.is_empty() && think::may_start(leading)
}

fn fields(payload: &Payload) -> Vec<Piece> {
    let piece = |field: &Option<Value>, reasoning: bool| {
        let text = field.as_ref()?.as_str()?;
        Some(Piece { class: class_of(text, reasoning), text: text.to_owned() })
    };
    [piece(&payload.reasoning, true), piece(&payload.content, false)].into_iter().flatten().collect()
}

fn difference(before: &Bubble, after: &Bubble) -> Vec<Piece> {
    let piece = |before: &str, after: &str, reasoning: bool| {
        let text = after.strip_prefix(before).unwrap_or(after);
        (!text.is_empty()).then(|| Piece { class: class_of(text, reasoning), text: text.to_owned() })
    };
    let message = |b: &Bubble| b.message.clone().unwrap_or_default();
    [piece(&before.reasoning, &after.reasoning, true), piece(&message(before), &message(after), false)]
        .into_iter()
        .flatten()
        .collect()
}

fn why(payload: &Payload) -> Reason {
    Reason::new(match &payload.content {
        None | Some(Value::Null) => "text_missing",
        Some(Value::String(_)) => "in_thinking_fold",
        Some(_) => "drawn_empty",
    })
}
