//! One attempt at a reply: its chunks on both feeds, and how it is settled.

use super::together::others_turn;
use super::{Agent, Halt, message};
use crate::session_feed::bus::{ASSISTANT_STREAM, Frame, Payload, STREAM_CHUNK, Says, Thrown};
use crate::session_feed::chunk::{Assembler, BlockKind, Chunk};
use crate::session_feed::event::{Attempt as Settled, Body, Place, Seq, Timed};
use crate::session_feed::fault::Fault;
use crate::session_feed::harness::Ordinal;
use crate::session_feed::profile::{KeptChunks, LiveStream};

/// One attempt.
pub(super) struct Attempt<'a, 'h> {
    agent: &'a Agent<'h>,
    place: Place,
    number: u32,
    revision: u64,
    /// What the loop assembled so far, and the numbers of its chunks.
    assembler: Assembler,
    /// Whether text for a person is in it.
    visible: bool,
    ordinals: Vec<Ordinal>,
    /// The chunks with their times, where a settlement embeds them.
    timed: Vec<Timed>,
    /// The seqs of those that were appended (`chunkSeqs`).
    seqs: Vec<Seq>,
}

impl<'h> Agent<'h> {
    pub(super) fn attempt(&self, place: Place) -> Attempt<'_, 'h> {
        let number = u32::try_from(self.done.borrow().attempts).unwrap_or(u32::MAX);
        self.done.borrow_mut().attempts += 1;
        let (assembler, ordinals, timed, seqs) = Default::default();
        let (revision, visible) = (0, false);
        Attempt { agent: self, place, number, revision, assembler, visible, ordinals, timed, seqs }
    }
}

impl Attempt<'_, '_> {
    /// Streams until the end, or until the fault.
    pub(super) async fn stream(&mut self, chunks: &[Chunk]) -> Result<(), Halt> {
        self.agent.harness.begin_prefix(self.agent.session);
        self.frame(Says::Start)?;
        for chunk in chunks {
            others_turn().await;
            self.chunk(chunk)?;
        }
        Ok(())
    }

    /// One chunk: appended, then emitted, then assembled. A throw between two of these is what makes feeds differ.
    fn chunk(&mut self, chunk: &Chunk) -> Result<(), Halt> {
        let agent = self.agent;
        let ordinal = agent.done.borrow().streamed;
        let nth = ordinal + 1;
        agent.harness.advance(agent.time_of(ordinal));
        agent.done.borrow_mut().streamed = nth;
        if let Some(watch) = agent.watch {
            watch.streamed(ordinal, chunk);
        }
        // The rig's mark; everything that goes out until the next one is about this chunk.
        agent.harness.mark(agent.marks.then_some(ordinal));
        if agent.traits.durable.chunks == KeptChunks::Event {
            let body = Body::Chunk(self.place, chunk.clone());
            let seq = agent.harness.append(agent.session, body, None)?;
            self.seqs.push(seq);
        } else if agent.traits.durable.chunks == KeptChunks::None && agent.traits.durable.cites {
            // The field was kept and what it points to was not: the seqs that the chunks would have had.
            self.seqs.push(agent.harness.length(agent.session) + self.seqs.len() as Seq);
        }
        if agent.fault == Fault::KillBetween(nth) {
            agent.done.borrow_mut().fired = true;
            return Err(Halt::Killed);
        }
        let live = &agent.traits.live;
        let forgotten = nth.checked_rem(live.forget_every) == Some(0);
        match live.stream {
            LiveStream::None => {}
            _ if forgotten => {}
            LiveStream::Chunks => {
                let what = Payload::Chunk { session: agent.session, place: self.place, chunk };
                let thrown = |e: Thrown| Halt::Failed(format!("a listener of {STREAM_CHUNK} threw: {e}"));
                agent.harness.emit(STREAM_CHUNK, what).map_err(thrown)?;
            }
            LiveStream::Frames => {
                self.frame(Says::Chunk(chunk.clone()))?;
                agent.harness.extend_prefix(agent.session, ordinal, self.place, chunk);
            }
        }
        self.assembler.push(chunk);
        self.visible |= matches!(chunk.delta(), Some((BlockKind::Text, _, text)) if !text.is_empty());
        self.ordinals.push(ordinal);
        if agent.traits.durable.chunks == KeptChunks::Embedded {
            self.timed.push(Timed { time: agent.harness.now(), chunk: chunk.clone() });
        }
        agent.harness.mark(None);
        // A listener's fault is the listener's to note.
        let listeners = matches!(agent.fault, Fault::LogListenerThrows(_) | Fault::LiveListenerThrows(_));
        if agent.fault.chunk() == Some(nth) && !listeners {
            agent.done.borrow_mut().fired = true;
        }
        match agent.fault {
            Fault::Kill(k) if k == nth => Err(Halt::Killed),
            // The signal is looked at before the next append, so a cancel never splits a chunk's two feeds.
            Fault::Cancel(k) if k == nth => Err(Halt::Cancelled),
            Fault::ProviderError(k) | Fault::Retry(k) if k == nth => {
                Err(Halt::Failed("the provider failed".to_owned()))
            }
            Fault::Dispose(k) if k == nth => {
                agent.harness.dispose(agent.session);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The whole reply is there.
    pub(super) fn commit(self) -> Result<(), Halt> {
        self.settle(false)
    }

    /// The person cancelled: the text that was delivered is committed, where the variant does that and there is any.
    pub(super) fn cancel(self) -> Result<(), Halt> {
        if self.visible && self.agent.traits.cancel.commits_prefix { self.settle(true) } else { self.fail() }
    }

    /// The attempt made no message.
    pub(super) fn fail(mut self) -> Result<(), Halt> {
        self.agent.harness.begin_prefix(self.agent.session);
        if self.agent.traits.durable.chunks != KeptChunks::Embedded {
            return self.frame(Says::Abandoned);
        }
        let settled =
            Settled { turn: self.place.turn, step: self.place.step, stream: std::mem::take(&mut self.timed) };
        let seq = self.agent.append(Body::Attempt(Box::new(settled)), None)?;
        self.note(seq);
        self.frame(Says::Committed { kind: "assistant/attempt", seq })
    }

    fn settle(mut self, interrupted: bool) -> Result<(), Halt> {
        self.agent.harness.begin_prefix(self.agent.session);
        let mut message = message(self.place, &self.assembler, interrupted);
        if self.agent.traits.durable.chunks == KeptChunks::Embedded {
            message.stream = Some(std::mem::take(&mut self.timed));
        }
        let cites = self.agent.traits.durable.cites.then(|| self.seqs.clone().into_boxed_slice());
        let seq = self.agent.append(Body::Message(Box::new(message)), cites)?;
        self.note(seq);
        self.frame(Says::Committed { kind: "assistant/message", seq })
    }

    fn note(&self, seq: Seq) {
        self.agent.done.borrow_mut().settled.push((seq, self.ordinals.clone()));
    }

    /// A frame of the transient stream, where there is one.
    fn frame(&mut self, says: Says) -> Result<(), Halt> {
        if self.agent.traits.live.stream != LiveStream::Frames {
            return Ok(());
        }
        let frame = Frame { attempt: self.number, place: self.place, revision: self.revision, says };
        self.revision += 1;
        let what = Payload::Frame { session: self.agent.session, frame: &frame };
        let thrown = |e: Thrown| Halt::Failed(format!("a listener of {ASSISTANT_STREAM} threw: {e}"));
        self.agent.harness.emit(ASSISTANT_STREAM, what).map_err(thrown)
    }
}
