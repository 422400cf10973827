//! The client's half of the ledger for a front end in a browser: what a person could read, and when.
//!
//! Nothing inside the page is asked. A frame's text is in the chat or it is not. White space cannot be read off a rendered
//! page: a piece of white space alone counts as shown when the piece before it was, and before all text when any was shown.

use super::Seen;
use super::late::{is_final, too_late};
use super::server::{WiredFrame, pieces};
use crate::probe::trace::{ClientTrace, Fate, Receipt};
use crate::record::observation::Piece;
use crate::record::{Class, Hop, Reason, Signal};

/// Text that the chat did not show while the reply streamed.
const NOT_DRAWN: Reason = Reason::new("not_drawn");

/// The client's notes as far as the page shows them.
pub(super) fn trace(
    seen: &[Seen],
    console: &[String],
    shown_errors: &[String],
    failed: Option<&str>,
    frames: &[WiredFrame],
    streams: bool,
) -> ClientTrace {
    let mut trace = ClientTrace::default();
    let end = frames.iter().find(|f| is_final(f)).map_or(f64::INFINITY, |f| f.at);
    let before: Vec<&Seen> = seen.iter().filter(|s| s.at < end).collect();
    let streamed = before.last().map(|s| visible(&s.bubbles.concat())).unwrap_or_default();
    let mut rest = streamed.as_str();
    let (mut shown_before, mut replied) = (!streamed.is_empty(), false);
    for frame in frames {
        replied |= is_final(frame);
        let Some(carried) = pieces(&frame.value) else {
            let taken = Fate::Reached { pieces: Vec::new(), missing: NOT_DRAWN };
            trace.receipts.push(Receipt { fate: taken, signal: Signal::None });
            continue;
        };
        if replied && streams {
            trace.receipts.push(Receipt { fate: too_late(), signal: Signal::None });
            continue;
        }
        let mut arrived: Vec<Piece> = Vec::new();
        for piece in carried.into_iter().filter(|p| p.class != Class::Reasoning) {
            let wanted = visible(&piece.text);
            let shown = match rest.strip_prefix(wanted.as_str()) {
                Some(_) if piece.class == Class::Empty => {
                    arrived.push(piece);
                    continue;
                }
                Some(_) if wanted.is_empty() => shown_before,
                Some(after) => {
                    rest = after;
                    true
                }
                None => false,
            };
            shown_before = shown;
            if shown {
                arrived.push(piece);
            }
        }
        let fate = if arrived.is_empty() {
            let reason = if streams { NOT_DRAWN } else { Reason::NOT_STREAMING };
            Fate::Stopped { hop: Hop::Delivered, reason }
        } else {
            trace.delivered.extend(arrived.iter().cloned());
            Fate::Reached { pieces: arrived, missing: NOT_DRAWN }
        };
        trace.receipts.push(Receipt { fate, signal: Signal::None });
    }
    if !rest.is_empty() {
        // More than was sent, or in another order: the judge reads it as text.
        trace.delivered.push(Piece { class: Class::Text, text: rest.to_owned() });
    }
    for line in console {
        *trace.log.entry(line.chars().take(200).collect()).or_default() += 1;
    }
    for error in shown_errors.iter().map(String::as_str).chain(failed) {
        trace.surface(error.to_owned());
        trace.signal = Signal::Surfaced;
    }
    // A chat that never showed a bubble showed an empty reply.
    trace.view = Some(seen.last().map(|s| s.bubbles.join("\n")).unwrap_or_default());
    trace
}

/// Why nothing can be said of a chat that does not show everything by the time of the reply: it was still drawing. Every
/// delta was there well before; a machine that is too slow is nobody's loss.
pub(super) fn behind(seen: &[Seen], frames: &[WiredFrame]) -> Option<String> {
    let end = frames.iter().find(|f| is_final(f))?.at;
    let deltas = || frames.iter().filter_map(|f| Some((f.at, pieces(&f.value)?)));
    let sent: String =
        deltas().flat_map(|(_, pieces)| pieces).filter(|p| p.class == Class::Text).map(|p| p.text).collect();
    let sent = visible(&sent);
    let last_delta = deltas().map(|(at, _)| at).reduce(f64::max)?;
    let (before, after): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|s| s.at < end);
    let text = |s: &&Seen| visible(&s.bubbles.concat());
    let had = before.last().map(text).unwrap_or_default();
    if had.len() >= sent.len() || !sent.starts_with(&had) {
        return None;
    }
    // A reply is drawn in one step: whatever grows in several is drawn from deltas.
    let growing =
        after.iter().map(text).filter(|text| text.len() > had.len() && sent.starts_with(text)).count() > 1;
    let busy = !had.is_empty() && before.last().is_some_and(|s| s.at > last_delta.midpoint(end));
    let shown = had.chars().count();
    (growing || busy).then(|| {
        format!("the chat was still drawing, {shown} of {} characters, when the reply came: the machine is too slow", sent.chars().count())
    })
}

/// What a person can tell apart: the text without white space.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
