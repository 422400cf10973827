//! One client's seat: what came on its connection, noted before the client itself reads it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::board::{Arrived, Board, Index};
use super::counted::Counted;
use super::heard::{Heard, hear};
use super::secret::Secret;
use super::texts::Texts;
use super::votes::Said;
use crate::agent_server::client::Incoming;
use crate::agent_server::link::Onlooker;
use crate::agent_server::profile::client::ClientTraits;
use crate::agent_server::server::Io;
use crate::probe::{ClientTrace, Fate};
use crate::record::attach::{AttachedClient, Closed, StoppedText};
use crate::record::{Class, Hop, Reason};
use crate::unit::Tally;

/// What all seats share.
pub(super) type Shared = Arc<Mutex<Board>>;

/// The board. A thread that panicked with it has ended the run already.
pub(super) fn look(board: &Shared) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An arrival whose text is not the one that came first. Which is right is known when all have left.
struct Other {
    /// Place of its frame.
    frame: usize,
    at: Index,
    said: Said,
}

/// A client's seat.
pub(super) struct Seat {
    board: Shared,
    secret: Secret,
    read: Arc<AtomicU64>,
    /// Whether it has been said that it joined, or will not.
    answered: bool,
    seen: AttachedClient,
    /// One a frame, in order: what it carried, if it carried anything that is compared.
    frames: Vec<Option<Index>>,
    /// How often each entry came.
    came: Vec<u8>,
    /// In the order of their frames.
    others: Vec<Other>,
    texts: Texts,
    /// When the last delta of the reply under way came.
    last_delta: Option<Instant>,
    /// The first delta after the message came.
    began: bool,
}

impl Seat {
    pub(super) fn new(board: Shared, secret: Secret, streams: bool) -> Seat {
        Seat {
            board,
            secret,
            read: Arc::new(AtomicU64::new(0)),
            answered: false,
            seen: AttachedClient { streams, ..AttachedClient::default() },
            frames: Vec::new(),
            came: Vec::new(),
            others: Vec::new(),
            texts: Texts::default(),
            last_delta: None,
            began: false,
        }
    }

    /// It is known now whether this client joins.
    fn answer(&mut self, board: &mut Board) {
        if !std::mem::replace(&mut self.answered, true) {
            board.answered += 1;
        }
    }

    fn hear(&mut self, text: &str) {
        let now = Instant::now();
        let heard = hear(text);
        let board = self.board.clone();
        let mut board = look(&board);
        board.last = now;
        if !self.answered {
            // Who comes late is subscribed, and is owed nothing: what came before is not known for it.
            self.seen.joined = !board.has_joined();
            board.open += u32::from(self.seen.joined);
        }
        self.answer(&mut board);
        if board.has_joined() {
            self.texts.joined();
        }
        let mut noted = None;
        match heard {
            Heard::Delta(delta) => {
                self.texts.delta(&delta);
                let arrived = board.delta(&delta, now, |at| self.has(at));
                let due = board.is_due(arrived.at);
                self.note(arrived, due, false);
                if due {
                    if let Some(before) = self.last_delta {
                        board.gap.record(now.saturating_duration_since(before));
                    }
                    if let Some(said) = board.said.filter(|_| !self.began) {
                        self.began = true;
                        board.first_delta.record(now.saturating_duration_since(said));
                    }
                }
                self.last_delta = Some(now);
                noted = Some(arrived.at);
            }
            Heard::Reply(reply) => {
                self.texts.reply(&reply);
                self.last_delta = None;
                if let Some(id) = reply.id {
                    let arrived = board.durable(id, &reply.text, now, |at| self.has(at));
                    let due = board.is_due(arrived.at);
                    self.note(arrived, due, true);
                    noted = Some(arrived.at);
                }
            }
            Heard::Boundary(item) => {
                self.texts.boundary(item.as_deref());
                self.last_delta = None;
            }
            Heard::Running(running) => self.texts.running(running),
            Heard::Other => {}
        }
        self.frames.push(noted);
    }

    fn has(&self, at: Index) -> bool {
        self.came.get(at as usize).is_some_and(|times| *times > 0)
    }

    fn note(&mut self, arrived: Arrived, due: bool, durable: bool) {
        let frame = self.frames.len();
        self.others.extend(arrived.other.map(|said| Other { frame, at: arrived.at, said }));
        let at = arrived.at as usize;
        if self.came.len() <= at {
            self.came.resize(at + 1, 0);
        }
        let Some(times) = self.came.get_mut(at) else { return };
        *times = times.saturating_add(1);
        let arrivals = if durable { &mut self.seen.durable } else { &mut self.seen.wire };
        arrivals.twice += u64::from(due && *times > 1);
    }

    /// What this client saw, once it left with this trace.
    pub(super) fn seen(
        mut self,
        board: &Board,
        traits: &ClientTraits,
        trace: &ClientTrace,
    ) -> AttachedClient {
        self.seen.bytes_read = self.read.load(Ordering::Relaxed);
        self.seen.frames = self.frames.len() as u64;
        self.seen.replies = self.texts.counts();
        self.seen.signal = trace.loudest();
        self.seen.log_lines = trace.log.values().sum();
        self.seen.surfaced = trace.surfaced.iter().map(|what| self.secret.out_of(what)).collect();
        if self.seen.joined {
            self.due(board);
            self.reached(board, traits, trace);
        }
        self.seen
    }

    /// What was due, what of it came, and with which text. Of a client that was closed nothing is asked after the last that
    /// it got.
    fn due(&mut self, board: &Board) {
        let until = if self.seen.closed.is_some() { self.came.len() } else { usize::MAX };
        let mut others: HashMap<Index, Vec<Said>> = HashMap::new();
        for other in &self.others {
            others.entry(other.at).or_default().push(other.said);
        }
        for (at, entry) in board.due().filter(|(at, _)| (*at as usize) < until) {
            let has = self.has(at);
            if !entry.shared && !has {
                continue;
            }
            let arrivals = if entry.durable { &mut self.seen.durable } else { &mut self.seen.wire };
            arrivals.due += 1;
            arrivals.got += u64::from(has);
            if !has {
                arrivals.missing_chars += entry.votes.chars();
                continue;
            }
            let times = self.came.get(at as usize).map_or(0, |times| usize::from(*times));
            let others = others.get(&at).map_or(&[][..], Vec::as_slice);
            match entry.votes.right() {
                Some(right) => {
                    let like_first = times.saturating_sub(others.len());
                    let like = others.iter().filter(|said| *said == right).count();
                    let right = if right == entry.votes.came_first() { like_first } else { like };
                    arrivals.altered += times.saturating_sub(right) as u64;
                }
                None => arrivals.contested += 1,
            }
        }
    }

    /// What of the frames that came reached the application. The k-th receipt is that of the k-th frame.
    fn reached(&mut self, board: &Board, traits: &ClientTraits, trace: &ClientTrace) {
        let classes = [Class::Text, Class::Reasoning].map(|class| traits.shows.contains(&class));
        let mut stopped: BTreeMap<(Hop, Reason), Tally> = BTreeMap::new();
        let mut others = self.others.iter().peekable();
        for (frame, (noted, receipt)) in self.frames.iter().zip(&trace.receipts).enumerate() {
            // What came here is what could be shown here, whatever the others got.
            let own = others.next_if(|other| other.frame == frame).map(|other| other.said.chars);
            let Some((at, entry)) = noted.and_then(|at| Some((at, board.entry(at)?))) else { continue };
            if !board.is_due(at) {
                continue;
            }
            if entry.durable {
                self.seen.durable_refused += u64::from(matches!(receipt.fate, Fate::Stopped { .. }));
                continue;
            }
            let chars = own.unwrap_or(entry.votes.came_first().chars);
            let shown: u64 = chars.iter().zip(classes).filter(|(_, shown)| *shown).map(|(n, _)| n).sum();
            let (got, at, why) = match &receipt.fate {
                Fate::Stopped { hop, reason } => (0, *hop, reason),
                Fate::Reached { pieces, missing } => {
                    let chars = pieces.iter().map(|piece| Tally::of(&piece.text).chars).sum();
                    self.seen.delivered += Tally { frames: 1, chars };
                    (chars, Hop::Delivered, missing)
                }
            };
            if got < shown && !why.by_design() {
                *stopped.entry((at, why.clone())).or_default() += Tally { frames: 1, chars: shown - got };
            }
        }
        let mut stopped: Vec<StoppedText> =
            stopped.into_iter().map(|((hop, reason), amount)| StoppedText { hop, reason, amount }).collect();
        stopped.sort_by_key(|stop| std::cmp::Reverse(stop.amount.chars));
        self.seen.stopped = stopped;
    }
}

impl Onlooker for Seat {
    fn connected(&mut self, io: Io) -> Io {
        Counted::over(io, self.read.clone())
    }

    fn opened(&mut self, extensions: Option<&str>) {
        self.seen.extensions = extensions.map(|named| self.secret.out_of(named));
    }

    fn refused(&mut self, _status: u16, why: &str) {
        self.seen.refused = Some(self.secret.out_of(why));
        let board = self.board.clone();
        self.answer(&mut look(&board));
    }

    fn frame(&mut self, frame: Incoming<'_>) {
        let text = match frame {
            Incoming::Text(text) => text,
            // What is no text is read as nothing; the client still leaves its receipt.
            Incoming::Binary(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
        };
        self.seen.text_bytes += match frame {
            Incoming::Text(text) => text.len() as u64,
            Incoming::Binary(bytes) => bytes.len() as u64,
        };
        self.hear(text);
    }

    fn ready(&mut self) {
        self.seen.ready = true;
    }

    fn closed(&mut self, code: u16, reason: &str) {
        self.seen.closed = Some(Closed { code, reason: self.secret.out_of(reason) });
        let board = self.board.clone();
        let mut board = look(&board);
        if self.seen.joined {
            board.open = board.open.saturating_sub(1);
        }
        self.answer(&mut board);
    }
}
