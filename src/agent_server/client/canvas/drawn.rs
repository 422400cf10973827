//! Which text a queue of deltas adds to the bubble that they merge into.

use serde_json::Value;

use super::entry::Payload;
use super::shape::Threw;
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
    // A leading `<think>` block goes to the fold, where it can still be read: it is shown, and keeps the class
    // that it was sent in.
    if all_text {
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
