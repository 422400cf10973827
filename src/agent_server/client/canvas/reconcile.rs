//! What a final message or a tool call does with the text streamed before it (`handle-event-for-ui.ts`).
//!
//! Every function either changes the list or throws before touching it, as the reducer does on its copy.

use serde_json::Value;

use super::super::js;
use super::entry::{Body, Entry, append};
use super::segments::{self, Slack};
use super::shape::{self, Threw};
use super::think;
use crate::agent_server::profile::client::{Finalise, StoreTraits, ToolAction};

/// What becomes of the event itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// It is added to the list.
    Append,
    /// The streamed text stands for it.
    LeaveOut,
}

/// Reconciles the list with an agent message or a `FinishAction`.
pub(super) fn finalise(traits: &StoreTraits, last: &Entry, ui: &mut Vec<Entry>) -> Result<Own, Threw> {
    let Some(event) = last.event() else { return Ok(Own::Append) };
    let turn = ui.iter().rposition(|e| e.event().is_some_and(shape::is_user_turn)).map_or(0, |at| at + 1);
    let content: Vec<usize> = (turn..ui.len())
        .filter(|&at| ui[at].delta().is_some_and(super::entry::Payload::has_content))
        .collect();
    let slack = match traits.finalise {
        Finalise::None => return Ok(Own::Append),
        Finalise::Supersede => {
            let own: Vec<usize> =
                content.into_iter().filter(|&at| ui[at].planning == last.planning).collect();
            if !own.is_empty() {
                let keep_reasoning = !renders_reasoning(event)?;
                strip_content(ui, &own, keep_reasoning);
            }
            return Ok(Own::Append);
        }
        Finalise::MatchSegmentsExact => Slack::Exact,
        Finalise::MatchSegmentsTrimmed => Slack::End,
    };
    // 1.0.0 looks at the final text as soon as there is any delta, later releases only if one has content.
    let any_delta = ui[turn..].iter().any(|e| e.delta().is_some());
    if content.is_empty() && (slack != Slack::Exact || !any_delta) {
        return Ok(Own::Append);
    }
    let text = final_text(event)?;
    let (Some(&tail), false) = (content.last(), text.is_empty()) else { return Ok(Own::Append) };
    let Some(end) = segments::matched(&text, &texts(ui, &content), slack) else {
        return Ok(Own::Append);
    };
    if let (Body::Delta(payload), false) = (&mut ui[tail].body, text[end..].is_empty()) {
        append(&mut payload.content, Some(&Value::from(&text[end..])));
    }
    Ok(Own::LeaveOut)
}

/// Reconciles the list with a tool call, which itself always stays: it owns the call.
pub(super) fn tool_call(traits: &StoreTraits, action: &Entry, ui: &mut Vec<Entry>) -> Result<(), Threw> {
    let slack = match traits.tool_action {
        ToolAction::Append => return Ok(()),
        ToolAction::MatchEndTrimmed => Slack::End,
        ToolAction::MatchTrimmed => Slack::Both,
    };
    let Some(event) = action.event() else { return Ok(()) };
    // Only the unbroken run of deltas at the very end is this step's.
    let run = ui.iter().rposition(|e| e.delta().is_none()).map_or(0, |at| at + 1);
    let thought = shape::text_blocks(event.get("thought"))?.concat();
    let same = |e: &Entry| e.planning == action.planning;
    let content: Vec<usize> = (run..ui.len())
        .filter(|&at| ui[at].delta().is_some_and(super::entry::Payload::has_content))
        .filter(|&at| !traits.prompted_tools || same(&ui[at]))
        .collect();
    if !thought.is_empty() && !content.is_empty() {
        let streamed = texts(ui, &content);
        let marked = traits.prompted_tools && streamed.iter().any(|s| s.contains("<function="));
        if marked || segments::matched(&thought, &streamed, slack).is_some() {
            let keep_reasoning = js::trim(&shape::reasoning(event)?).is_empty();
            strip_content(ui, &content, keep_reasoning);
            return Ok(());
        }
    }
    if traits.tool_reasoning && !js::trim(&shape::reasoning(event)?).is_empty() {
        let streamed: Vec<usize> = (run..ui.len())
            .filter(|&at| ui[at].delta().is_some_and(super::entry::Payload::has_reasoning) && same(&ui[at]))
            .collect();
        strip_reasoning(ui, &streamed);
    }
    Ok(())
}

/// Removes deltas, except for reasoning that nothing else will show.
fn strip_content(ui: &mut Vec<Entry>, at: &[usize], keep_reasoning: bool) {
    retain(ui, at, |entry| match &mut entry.body {
        Body::Delta(payload) if keep_reasoning && payload.has_reasoning() => {
            payload.content = Some(Value::Null);
            true
        }
        _ => false,
    });
}

/// Removes reasoning, and deltas that had nothing else.
fn strip_reasoning(ui: &mut Vec<Entry>, at: &[usize]) {
    retain(ui, at, |entry| match &mut entry.body {
        Body::Delta(payload) if payload.content.as_ref().is_some_and(js::truthy) => {
            payload.reasoning = Some(Value::Null);
            true
        }
        _ => false,
    });
}

fn retain(ui: &mut Vec<Entry>, at: &[usize], mut keep: impl FnMut(&mut Entry) -> bool) {
    let mut index = 0;
    ui.retain_mut(|entry| {
        let listed = at.contains(&index);
        index += 1;
        !listed || keep(entry)
    });
}

fn texts(ui: &[Entry], at: &[usize]) -> Vec<String> {
    let content = |i: &usize| ui[*i].delta().and_then(|p| p.content.as_ref()).map(js::string);
    at.iter().filter_map(content).collect()
}

fn final_text(event: &Value) -> Result<String, Threw> {
    if shape::is_action_of(event, "FinishAction") {
        return match event.get("action").and_then(|a| a.get("message")) {
            Some(Value::String(s)) => Ok(s.clone()),
            Some(other) if js::truthy(other) => Err(Threw::new("finalText.startsWith is not a function")),
            _ => Ok(String::new()),
        };
    }
    Ok(shape::text_blocks(event.get("llm_message").and_then(|m| m.get("content")))?.concat())
}

fn renders_reasoning(event: &Value) -> Result<bool, Threw> {
    if shape::action_kind(event).is_some() {
        return Ok(!js::trim(&shape::reasoning(event)?).is_empty());
    }
    let blocks = shape::text_blocks(event.get("llm_message").and_then(|m| m.get("content")))?;
    Ok(!think::split(&blocks.concat(), false).reasoning.is_empty())
}
