//! The chat behind the session socket: a slot per item, retired by its durable event.
//!
//! No release has it and it was never run here. The rules come from a description of the front end's source:
//! a delta without an open slot is dropped, a lower attempt is ignored, a higher one starts the text anew, an
//! unknown type is ignored, an error frame shows as a banner, a close clears slots and queue. Beyond that
//! description: an aborted item's text leaves the chat, and a repeated `item_started` changes nothing.

use std::time::Duration;

use serde_json::Value;

use super::batcher::{Batcher, Queued};
use super::canvas::Canvas;
use super::cursor::Cursor;
use super::desk::{Desk, stopped, taken};
use super::{guard, js};
use crate::agent_server::profile::client::{Guard, StoreTraits};
use crate::probe::Fate;
use crate::probe::trace::class_of;
use crate::record::observation::Piece;
use crate::record::{Hop, Reason};

/// An item that streams.
#[derive(Debug)]
struct Slot {
    item: String,
    attempt: i64,
    text: String,
}

/// A delta that found its slot.
#[derive(Debug)]
struct SlotDelta {
    item: String,
    reasoning: bool,
    text: String,
}

/// The chat of one conversation on the session socket.
#[derive(Debug)]
pub(super) struct Slots {
    canvas: Canvas,
    guard: Guard,
    cursor: Cursor,
    open: Vec<Slot>,
    batcher: Batcher<SlotDelta>,
}

impl Slots {
    pub(super) fn new(traits: &StoreTraits, guard: Guard) -> Slots {
        let batcher = Batcher::new(traits.batch_ms);
        Slots { canvas: Canvas::new(traits), guard, cursor: Cursor::default(), open: Vec::new(), batcher }
    }

    /// A frame that has a `type`.
    pub(super) fn take(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        let kind = frame.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "delta" {
            return self.delta(frame, desk);
        }
        if let "durable" | "transient" = kind {
            return self.event(frame, desk);
        }
        let fate = match kind {
            "sync" => {
                let seq = |key: &str| frame.get(key).and_then(Value::as_i64);
                self.cursor.start(seq("from_seq"), seq("through_seq"));
                taken()
            }
            "item_started" => self.start(frame, desk),
            "item_aborted" => {
                self.flush(desk);
                let (item, attempt) = key(frame);
                self.open.retain(|s| s.item != item || s.attempt > attempt);
                taken()
            }
            "error" => {
                let detail = frame.get("detail").and_then(Value::as_str).unwrap_or_default();
                desk.note(|f| &f.error_frame, detail);
                taken()
            }
            // A client must ignore a type that it does not know.
            _ => stopped(Hop::Decoded, "unknown_type"),
        };
        desk.receipt(fate);
    }

    /// Draws what waits.
    pub(super) fn flush(&mut self, desk: &mut Desk<'_>) {
        let queue = self.batcher.take();
        self.draw(&queue, desk);
        self.canvas.flush(desk);
    }

    /// How long after its first delta the queue is due.
    pub(super) fn due(&self) -> Option<Duration> {
        self.batcher.due()
    }

    /// The connection is gone: slots and queue go with it, since progress is never replayed.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.batcher.take();
    }

    /// The agent's text of this turn as a person sees it.
    pub(super) fn reply(&self) -> String {
        let open = self.open.iter().map(|s| s.text.as_str());
        self.canvas.reply() + &open.collect::<String>()
    }

    /// Every event up to this one has been seen, with no gap: what a reconnect asks for.
    pub(super) fn cursor(&self) -> Option<i64> {
        self.cursor.at()
    }

    fn event(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        let event = frame.get("event").cloned().unwrap_or_default();
        if let Err(reason) = guard::admit(self.guard, &event) {
            desk.note(|f| &f.guard, reason.as_str());
            return desk.receipt(Fate::Stopped { hop: Hop::Admitted, reason });
        }
        self.flush(desk);
        if let Some(seq) = frame.get("seq").and_then(Value::as_i64) {
            self.cursor.saw(seq);
        }
        let id = event.get("id").and_then(Value::as_str).unwrap_or_default();
        self.open.retain(|s| s.item != id);
        self.canvas.take(event, desk);
    }

    fn start(&mut self, frame: &Value, desk: &mut Desk<'_>) -> Fate {
        self.flush(desk);
        let (item, attempt) = key(frame);
        match self.open.iter_mut().find(|s| s.item == item) {
            Some(slot) if attempt < slot.attempt => return stopped(Hop::Admitted, "old_attempt"),
            Some(slot) => slot.retry(attempt),
            None => self.open.push(Slot { item: item.to_owned(), attempt, text: String::new() }),
        }
        taken()
    }

    fn delta(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        let (item, attempt) = key(frame);
        let newer = match self.open.iter().find(|s| s.item == item) {
            None => return desk.receipt(stopped(Hop::Admitted, "no_open_slot")),
            Some(slot) if attempt < slot.attempt => {
                return desk.receipt(stopped(Hop::Admitted, "old_attempt"));
            }
            Some(slot) => attempt > slot.attempt,
        };
        if newer {
            self.flush(desk);
            self.open.iter_mut().filter(|s| s.item == item).for_each(|s| s.retry(attempt));
        }
        let text = frame.get("content").filter(|v| !v.is_null()).map(js::string).unwrap_or_default();
        let reasoning = frame.get("kind").and_then(Value::as_str) == Some("reasoning");
        let delta = SlotDelta { item: item.to_owned(), reasoning, text };
        let due = self.batcher.push(Queued::note(delta, desk.trace));
        self.draw(&due, desk);
    }

    fn draw(&mut self, queue: &[Queued<SlotDelta>], desk: &mut Desk<'_>) {
        for queued in queue {
            let SlotDelta { item, reasoning, text } = &queued.delta;
            if let (Some(slot), false) = (self.open.iter_mut().find(|s| s.item == *item), *reasoning) {
                slot.text.push_str(text);
            }
            let piece = Piece { class: class_of(text, *reasoning), text: text.clone() };
            let fate = desk.delivery.hand_over(vec![piece], Reason::new("text_missing"), desk.trace);
            queued.settle(fate, desk.trace);
        }
    }
}

impl Slot {
    /// A higher attempt starts the text anew.
    fn retry(&mut self, attempt: i64) {
        if attempt > self.attempt {
            self.attempt = attempt;
            self.text.clear();
        }
    }
}

fn key(frame: &Value) -> (&str, i64) {
    let item = frame.get("item_id").and_then(Value::as_str).unwrap_or_default();
    (item, frame.get("attempt").and_then(Value::as_i64).unwrap_or(1))
}
