//! The body of a streamed answer: each step when it is due, noted when its last byte is handed over.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{Instant, Sleep, sleep_until};

use super::dialect::Dialect;
use super::reply::{Reply, Step, What};
use super::state::State;
use super::streamed::SentPart;
use crate::record::flow::Class;
use crate::record::observation::Piece;

/// Bytes of a stream, by the clock. The clock alone decides: what became of earlier parts delays nothing.
///
/// A caller that leaves drops the body, which is how an abort is noticed.
#[derive(Debug)]
pub(super) struct Stream {
    state: Arc<State>,
    tag: String,
    reply: Arc<Reply>,
    dialect: Dialect,
    begun: Instant,
    steps: VecDeque<Step>,
    timer: Pin<Box<Sleep>>,
    /// The step whose bytes are going out, and what of them is left.
    current: Option<(Step, Bytes)>,
    /// Set when the next cut has to wait until the one before is flushed.
    breathe: bool,
    parts_sent: usize,
    ended: bool,
}

impl Stream {
    pub(super) fn new(
        state: Arc<State>,
        tag: String,
        reply: Arc<Reply>,
        dialect: Dialect,
        begun: Instant,
    ) -> Stream {
        let steps = reply.steps(dialect.has_roles()).into();
        let timer = Box::pin(sleep_until(begun));
        let (current, breathe, parts_sent, ended) = (None, false, 0, false);
        Stream { state, tag, reply, dialect, begun, steps, timer, current, breathe, parts_sent, ended }
    }

    /// The next write of the step that is going out; the step is noted with its last one.
    fn cut(&mut self) -> Option<Bytes> {
        let (step, mut rest) = self.current.take()?;
        let most = self.reply.chunk_bytes.map_or(rest.len(), NonZeroUsize::get).min(rest.len());
        let cut = rest.split_to(most);
        if rest.is_empty() {
            self.note(step);
        } else {
            self.current = Some((step, rest));
        }
        self.breathe = self.reply.chunk_bytes.is_some();
        Some(cut)
    }

    fn note(&mut self, step: Step) {
        let (index, pieces) = match step.what {
            What::Open => return,
            What::End => return self.end(),
            What::Role => (None, vec![Piece { class: Class::Empty, text: String::new() }]),
            What::Part(index) => {
                let part = self.reply.parts.get(index);
                (Some(index), part.map_or_else(Vec::new, |part| part.pieces().collect()))
            }
        };
        let since = |moment: Instant| moment.saturating_duration_since(self.state.epoch);
        let (intended_at, at): (Duration, Duration) = (since(self.begun + step.due), since(Instant::now()));
        let sent = SentPart { index, pieces: pieces.len(), intended_at, at };
        self.parts_sent += usize::from(index.is_some());
        self.state.book.note(&self.tag, |page| {
            page.parts.push(sent);
            page.produced.extend(pieces);
        });
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.state.book.note(&self.tag, |page| page.finished += 1);
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        loop {
            if std::mem::take(&mut this.breathe) {
                // Bytes are written out when the body has none ready. So every cut becomes a write of its own.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(cut) = this.cut() {
                return Poll::Ready(Some(Ok(Frame::data(cut))));
            }
            let Some(step) = this.steps.front().copied() else {
                // A reply that ends in an error has no other end.
                this.end();
                return Poll::Ready(None);
            };
            let due = this.begun + step.due;
            if due > Instant::now() {
                this.timer.as_mut().reset(due);
                std::task::ready!(this.timer.as_mut().poll(cx));
            }
            this.steps.pop_front();
            let bytes = this.dialect.write(step.what, &this.reply);
            if bytes.is_empty() {
                this.note(step);
            } else {
                this.current = Some((step, bytes.into()));
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.ended {
            let sent = self.parts_sent;
            self.state.book.note(&self.tag, |page| page.aborted_at = Some(sent));
        }
    }
}
