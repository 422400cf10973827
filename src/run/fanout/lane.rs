//! One party under test with its subscribers: a block of chunks through it, and what that cost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Options;
use super::error::FanOutError;
use super::generator::{Emitted, Schedule, emit};
use super::host::{Host, Reading};
use super::raw_writer::{RawWriter, frame};
use super::readers::Readers;
use crate::agent_server::server::Chunk;
use crate::wire::{Dialect, Event, EventBody, Source, numbered};

/// How long nothing at all may happen before a block is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// When a rate is looked at for the first time, and how much of a second's chunks may be behind then.
const RATE_CHECK: Duration = Duration::from_secs(1);
const RATE_BACKLOG: f64 = 0.5;

/// Who serves a lane.
pub(super) enum Party {
    /// An emulated server.
    Server(Host),
    /// The reference: nothing but `write`.
    Raw(RawWriter),
}

/// A party with a group of subscribers of its own.
pub(super) struct Lane {
    /// Its subscribers' group.
    pub(super) group: usize,
    pub(super) party: Party,
    /// The number of the next chunk.
    next: u64,
    /// Deltas published by the server so far.
    published: u64,
}

/// What one block cost.
#[derive(Debug)]
pub(super) struct BlockCost {
    /// Bytes of text in it.
    pub(super) text_bytes: u64,
    /// CPU of the party's thread.
    pub(super) cpu: Duration,
    /// The meter before and after; absent for the reference.
    pub(super) readings: Option<(Reading, Reading)>,
    /// From the first due time until everything was out.
    pub(super) took: Duration,
    /// What the generator did; absent for the reference.
    pub(super) emitted: Option<Emitted>,
}

/// Why a block did not end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Ctrl-C.
    Interrupted,
    /// The rate could not be held; how many chunks it was behind after how long.
    Overloaded { behind: u64, after: Duration },
    /// Nothing happened for too long.
    Stuck { out: u64, of: u64 },
}

impl Lane {
    pub(super) fn new(group: usize, party: Party) -> Lane {
        Lane { group, party, next: 0, published: 0 }
    }

    /// Runs `chunks` chunks through the party, of which `due` delta frames are due to its subscribers.
    pub(super) fn block(
        &mut self,
        chunks: u32,
        due: u64,
        options: &Options,
        readers: &mut Readers,
        stop: &AtomicBool,
    ) -> Result<Result<BlockCost, Cut>, FanOutError> {
        let settings = &options.settings;
        let gap = settings.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate));
        let bytes = usize::try_from(settings.payload_bytes).unwrap_or(usize::MAX);
        let texts: Vec<String> =
            (self.next..).take(chunks as usize).map(|n| numbered::text(n, bytes)).collect();
        // The subscribers have to know of the block before its first chunk.
        let schedule = Schedule { start: Instant::now() + Duration::from_millis(5), gap };
        readers.begin(self.group, schedule, self.next, settings.batch)?;
        self.next += u64::from(chunks);
        let text_bytes = bytes_of(&texts);
        match &self.party {
            Party::Server(host) => {
                let block = Block { texts, schedule, due, group: self.group };
                through_server(host, &mut self.published, block, options, readers, stop)
            }
            Party::Raw(writer) => {
                let frames = texts.iter().map(|text| frame(&delta_frame(text))).collect();
                let answer = writer.write(frames, schedule);
                let gone = || FanOutError::Reference(std::io::Error::other("its thread ended"));
                let cpu = loop {
                    match answer.recv_timeout(Duration::from_millis(2)) {
                        Ok(cpu) => break cpu.map_err(FanOutError::Reference)?,
                        Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                        Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                            writer.halt();
                            return Ok(Err(Cut::Interrupted));
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                    }
                };
                let took = schedule.start.elapsed();
                Ok(Ok(BlockCost { text_bytes, cpu, readings: None, took, emitted: None }))
            }
        }
    }
}

/// A chunk is never shorter than its number, so this may be more than what was asked for.
fn bytes_of(texts: &[String]) -> u64 {
    texts.iter().map(|text| text.len() as u64).sum()
}

/// A frame of today's servers with that text, as the reference writes it.
fn delta_frame(text: &str) -> String {
    let event = Event {
        id: "00000000-0000-4000-8000-000000000001".into(),
        timestamp: "2026-11-30T07:45:00.123456".into(),
        source: Source::Agent,
        parent_id: None,
        body: EventBody::StreamingDelta { content: Some(text.to_owned()), reasoning_content: None },
    };
    event.encode(Dialect::CURRENT)
}

/// What goes through a server in one go.
struct Block {
    texts: Vec<String>,
    schedule: Schedule,
    due: u64,
    group: usize,
}

fn through_server(
    host: &Host,
    published: &mut u64,
    block: Block,
    options: &Options,
    readers: &Readers,
    stop: &AtomicBool,
) -> Result<Result<BlockCost, Cut>, FanOutError> {
    let Block { texts, schedule, due, group } = block;
    let text_bytes = bytes_of(&texts);
    let chunks: Vec<Chunk> =
        texts.into_iter().map(|text| Chunk { text: Some(text), reasoning: None }).collect();
    // A publish ends with its slowest subscriber, so with one that does not read it never may. Then the block is over
    // when all others have everything.
    let by_readers = !options.unhealthy.is_empty();
    let count = chunks.len() as u64;
    let wanted = *published + count;
    let before = host.read()?;
    let mut out = if by_readers { None } else { Some(host.read_when_out(wanted)?) };
    let (emitted, halt) = (AtomicU64::new(0), AtomicBool::new(false));
    let (ended, generated) = std::thread::scope(|scope| {
        let generator = std::thread::Builder::new()
            .name("generator".into())
            .spawn_scoped(scope, || emit(chunks, schedule, options.mutant, &host.chunks, &emitted, &halt))
            .map_err(|error| FanOutError::Thread { what: "the generator", error })?;
        let mut watch = Watch::new(schedule, *published, wanted);
        let ended = loop {
            let (sent, read) = (emitted.load(Ordering::Relaxed), readers.got(group));
            let after = match out.as_mut().map(oneshot::Receiver::try_recv) {
                Some(Ok(after)) => Some(Ok(after)),
                Some(Err(TryRecvError::Closed)) => {
                    Some(Err(FanOutError::Server("its thread ended in the middle of a block".into())))
                }
                Some(Err(TryRecvError::Empty)) => None,
                None => (sent == count && read >= due).then(|| host.read()),
            };
            match after {
                Some(Ok(after)) => break Ok(after),
                Some(Err(error)) => {
                    halt.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                None => {}
            }
            let through = if by_readers { *published + read * count / due.max(1) } else { host.published() };
            if let Some(cut) = watch.look(through, sent, stop) {
                break Err(cut);
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        halt.store(ended.is_err(), Ordering::Relaxed);
        let generated = generator.join().map_err(|_| FanOutError::Server("the generator panicked".into()))?;
        Ok((ended, generated))
    })?;
    *published = wanted;
    Ok(ended.map(|after| BlockCost {
        text_bytes,
        cpu: after.cpu.saturating_sub(before.cpu),
        readings: Some((before, after)),
        took: schedule.start.elapsed(),
        emitted: Some(generated),
    }))
}

/// Looks after a block from outside: whether it goes on, and whether it keeps up.
struct Watch {
    schedule: Schedule,
    from: u64,
    wanted: u64,
    seen: u64,
    moved: Instant,
}

impl Watch {
    fn new(schedule: Schedule, from: u64, wanted: u64) -> Watch {
        Watch { schedule, from, wanted, seen: from, moved: Instant::now() }
    }

    fn look(&mut self, published: u64, emitted: u64, stop: &AtomicBool) -> Option<Cut> {
        if stop.load(Ordering::Relaxed) {
            return Some(Cut::Interrupted);
        }
        let now = Instant::now();
        if published != self.seen {
            (self.seen, self.moved) = (published, now);
        }
        let quiet = now.saturating_duration_since(self.moved.max(self.schedule.start));
        if quiet > PATIENCE.max(self.schedule.gap * 3) {
            return Some(Cut::Stuck { out: published - self.from, of: self.wanted - self.from });
        }
        let since = now.saturating_duration_since(self.schedule.start);
        if self.schedule.gap.is_zero() || since < RATE_CHECK {
            return None;
        }
        // Behind the plan, whoever is at fault: a generator that cannot keep up is no better than a server that cannot.
        let due = (since.as_secs_f64() / self.schedule.gap.as_secs_f64()).floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of chunks")]
        let due = (due as u64).min(self.wanted - self.from);
        let behind = due.saturating_sub(published - self.from).max(due.saturating_sub(emitted));
        let allowed = (RATE_BACKLOG / self.schedule.gap.as_secs_f64()).max(10.0);
        #[expect(clippy::cast_precision_loss, reason = "a count of chunks")]
        let over = behind as f64 > allowed;
        over.then_some(Cut::Overloaded { behind, after: since })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(rate: u32, ago: Duration) -> Watch {
        let start = Instant::now().checked_sub(ago).unwrap();
        Watch::new(Schedule { start, gap: Duration::from_secs(1) / rate }, 0, 1_000_000)
    }

    #[test]
    fn a_rate_that_is_not_held_is_noticed_after_a_second_and_not_before() {
        let stop = AtomicBool::new(false);
        assert_eq!(watch(1000, Duration::from_millis(900)).look(0, 0, &stop), None);
        let cut = watch(1000, Duration::from_millis(1100)).look(100, 1100, &stop);
        assert!(matches!(cut, Some(Cut::Overloaded { behind: 990..=1100, .. })), "{cut:?}");
        assert_eq!(
            watch(1000, Duration::from_millis(1100)).look(1000, 1100, &stop),
            None,
            "100 behind is no backlog"
        );
        let late_generator = watch(1000, Duration::from_millis(1100)).look(100, 100, &stop);
        assert!(matches!(late_generator, Some(Cut::Overloaded { .. })), "{late_generator:?}");
    }

    #[test]
    fn a_block_that_stands_still_is_given_up() {
        let stop = AtomicBool::new(false);
        let mut watch = Watch::new(Schedule { start: Instant::now(), gap: Duration::ZERO }, 5, 20);
        assert_eq!(watch.look(7, 15, &stop), None);
        watch.moved = Instant::now().checked_sub(PATIENCE * 2).unwrap();
        watch.schedule.start = watch.moved;
        assert_eq!(watch.look(7, 15, &stop), Some(Cut::Stuck { out: 2, of: 15 }));
    }
}
