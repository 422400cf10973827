//! The renderer that had two listeners: one on the mirror that draws, one on the log that resets the style.
//!
//! Source: the commit of 2026-07-02 calls their order a race. On a synchronous bus it is none: the log's listeners for
//! chunk n run before the mirror's. It becomes one when each feed is a queue of its own.

use std::cell::Cell;
use std::rc::Rc;

use super::ear::Ear;
use crate::session_feed::bus::{Listener, Payload, SessionId, Thrown};
use crate::session_feed::chunk::{BlockKind, Chunk};
use crate::session_feed::event::Body;
use crate::session_feed::harness::Harness;

/// The dim style of reasoning, shared by two listeners.
#[derive(Debug, Default)]
pub(super) struct Dim(Cell<bool>);

/// Draws from the mirror, and dims at reasoning.
pub(super) struct Draws {
    pub(super) dim: Rc<Dim>,
    pub(super) ear: Rc<Ear>,
}

/// Resets the style from the log, at the start of a text block.
pub(super) struct Resets {
    pub(super) dim: Rc<Dim>,
    pub(super) session: SessionId,
}

impl Listener for Draws {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        let own =
            (what.session() == self.ear.session()).then(|| what.chunk().and_then(Chunk::delta)).flatten();
        match own {
            Some((BlockKind::Reasoning, ..)) => self.dim.0.set(true),
            Some((BlockKind::Text, _, text)) if self.dim.0.get() && !text.is_empty() => {
                self.ear.wrong_style();
            }
            _ => {}
        }
        self.ear.hear(harness, what)
    }
}

impl Listener for Resets {
    fn hear(&self, _: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        if let Payload::Logged { event, session } = what
            && session == self.session
            && let Body::Chunk(_, Chunk::BlockStart { kind: BlockKind::Text, .. }) = &event.body
        {
            self.dim.0.set(false);
        }
        Ok(())
    }
}
