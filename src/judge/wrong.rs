//! Text that arrived and is not what the model made: altered, out of order, or twice.

use super::align::{Kind, align};
use super::evidence::{ClassText, Evidence, count};
use crate::record::{Class, Finding, Reason, Verdict};
use crate::unit::Tally;

const ORDER_CHANGED: Reason = Reason::new("order_changed");
const TEXT_TWICE: Reason = Reason::new("text_twice");
const VIEW_DOUBLED: Reason = Reason::new("view_doubled");
const ATTEMPT_SUPERSEDED: Reason = Reason::new("attempt_superseded");
const VIEW_DIFFERS: Reason = Reason::new("view_differs");

/// What the application got while the reply streamed: at most one finding per shown class.
pub(super) fn texts(evidence: &Evidence) -> Vec<Finding> {
    evidence.shown().filter_map(|text| wrong(evidence, text)).collect()
}

fn wrong(evidence: &Evidence, text: &ClassText) -> Option<Finding> {
    let (missing, extra) = (text.alignment.missing.chars, text.alignment.extra.chars);
    let (class, produced) = (text.class.as_str(), text.produced);
    let (verdict, reason, chars, note) = match text.alignment.kind {
        // What stands there reads like the reply, or like part of it, and is not what its frames carried.
        Kind::Equal | Kind::Missing { .. } => {
            let (reason, chars) = text.foreign()?;
            let note =
                format!("{} of {class} are not those that their frames carried", count(chars, "character"));
            (Verdict::Corrupted, reason, chars, note)
        }
        Kind::Duplicated
            if text.foreign().is_some_and(|(reason, _)| reason == Reason::TEXT_FROM_ELSEWHERE) =>
        {
            let (reason, chars) = text.foreign()?;
            let note = format!("{} of {class} came in frames of another class", count(chars, "character"));
            (Verdict::Corrupted, reason, chars, note)
        }
        Kind::Duplicated => {
            let note = format!(
                "{} of {class} arrived once too often, after {produced} produced",
                count(extra, "character")
            );
            (Verdict::Duplicated, TEXT_TWICE, extra, note)
        }
        Kind::Reordered => {
            let moved = count(missing, "character");
            let note = format!("{moved} of {produced} produced of {class} arrived in another place");
            (Verdict::Reordered, ORDER_CHANGED, missing, note)
        }
        Kind::Altered => {
            let gone = count(missing, "character");
            let bound = if text.alignment.at_most { "at most " } else { "" };
            let note = format!(
                "{bound}{gone} of {produced} produced of {class} did not arrive, and {bound}{extra} others did"
            );
            // A replaced character is both missing and extra, and is one wrong character.
            (Verdict::Corrupted, Reason::TEXT_ALTERED, missing.max(extra), note)
        }
    };
    let amount = Tally { frames: text.added().frames, chars };
    Some(Finding { reason: Some(reason), ..evidence.finding(verdict, amount, note) })
}

/// Text of an attempt that the provider was asked to make again: who has no items or view to replace it in shows it twice.
pub(super) fn superseded(evidence: &Evidence) -> Option<Finding> {
    let amount = evidence.seen.superseded;
    let chars = count(amount.chars, "character");
    let note = format!("{chars} of an attempt stay in the text, and the next attempt says them again");
    let finding = evidence.finding(Verdict::Duplicated, amount, note);
    (amount.chars > 0).then_some(Finding { reason: Some(ATTEMPT_SUPERSEDED), ..finding })
}

/// What a person sees at the end against the reply, once both ended as they should.
pub(super) fn view(evidence: &Evidence) -> Option<Finding> {
    let seen = evidence.seen;
    let view = seen.view.as_deref().filter(|view| *view != seen.reply)?;
    if !seen.completed || !seen.durables.reply {
        return None;
    }
    let text = seen.delivered.iter().filter(|piece| piece.class == Class::Text);
    let streamed: String = text.map(|piece| piece.text.as_str()).collect();
    let alignment = align(&[&seen.reply], &[view]);
    let (missing, extra) = (alignment.missing.chars, alignment.extra.chars);
    let shows = count(Tally::of(view).chars, "character");
    let reply = Tally::of(&seen.reply).chars;
    let (verdict, reason, chars, note) = if repeats(view, &seen.reply)
        || doubled(view, &seen.reply, &streamed)
    {
        let note = format!("the view ends with {shows} for a reply of {reply}: the text is there twice");
        (Verdict::Duplicated, VIEW_DOUBLED, extra, note)
    } else {
        let note =
            format!("the view ends with {shows} for a reply of {reply}: {missing} missing, {extra} others");
        (Verdict::Corrupted, VIEW_DIFFERS, missing.max(extra), note)
    };
    let amount = Tally { frames: 0, chars };
    Some(Finding { reason: Some(reason), ..evidence.finding(verdict, amount, note) })
}

/// Whether the view is the reply and nothing else, twice or more.
fn repeats(view: &str, reply: &str) -> bool {
    !reply.is_empty()
        && view.len() >= 2 * reply.len()
        && view.len().is_multiple_of(reply.len())
        && view.as_bytes().chunks(reply.len()).all(|part| part == reply.as_bytes())
}

/// Whether the whole reply stands in the view, and beside it what streamed, or part of either, once more.
fn doubled(view: &str, reply: &str, streamed: &str) -> bool {
    // White space sets bubbles apart, and is not text of its own.
    let print = |text: &str| -> Vec<char> { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let within = |rest: &[char], whole: &str| {
        let mut wanted = print(whole).into_iter();
        rest.iter().all(|c| wanted.any(|w| w == *c))
    };
    // What streamed may begin with the reply itself, so the reply is looked for from either end.
    let places = [view.find(reply), view.rfind(reply)].into_iter().flatten().filter(|_| !reply.is_empty());
    let mut found = false;
    for at in places {
        found = true;
        let rest = print(&[&view[..at], &view[at + reply.len()..]].concat());
        if !rest.is_empty() && (within(&rest, reply) || streamed.contains(reply) && within(&rest, streamed)) {
            return true;
        }
    }
    let times = |text: &str| text.matches(streamed).count();
    !found && !streamed.is_empty() && times(view) >= 2 && times(view) > times(reply)
}
