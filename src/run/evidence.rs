//! What was read on a client's socket and when, what came too late, and what a report shows of it.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::handled::Handled;
use super::held::{Came, held};
use crate::agent_server::client::Incoming;
use crate::agent_server::link::Onlooker;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::server::{Notes, delta_frame};
use crate::probe::trace::{ClientTrace, Fate, LinkTrace, Origin, class_of};
use crate::record::observation::Piece;
use crate::record::{Class, FirstFrame, FrameText, Hop, HopFlow, Reason, Spread, Times};
use crate::unit::Tally;
use crate::wire::{Event, EventBody, Mutation, Source};

/// Frames whose text is kept. A loss that begins later than that has a hop and a reason, and no text to show.
const KEPT: usize = 4096;

/// What one client read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// When the application took each frame: one a receipt, in the same order.
    at: Vec<Instant>,
    /// How many frames the applications of the cell took.
    handled: Handled,
    /// The first bytes of the first frames, and how many bytes each has.
    texts: Vec<(String, usize)>,
}

impl Read {
    /// One that counts what it reads there as well.
    pub(super) fn counted(handled: Handled) -> Read {
        Read { handled, ..Read::default() }
    }
}

impl Onlooker for Read {
    fn frame(&mut self, frame: Incoming<'_>) {
        self.handled.add();
        self.at.push(Instant::now());
        if self.texts.len() < KEPT {
            self.texts.push(match frame {
                Incoming::Text(text) => {
                    (text[..text.floor_char_boundary(FrameText::MOST)].to_owned(), text.len())
                }
                Incoming::Binary(bytes) => (String::new(), bytes.len()),
            });
        }
    }
}

/// Both ends of one connection, once it is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'a> {
    pub(super) notes: &'a Notes,
    /// The client's connections, in order.
    pub(super) links: &'a [LinkTrace],
    pub(super) trace: &'a ClientTrace,
    pub(super) read: &'a Read,
}

/// What the first lost frame is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Against<'a> {
    /// The server, with what the scenario laid over it.
    pub(super) server: &'a Profile<ServerTraits>,
    /// The server of the client's own release, if there is one.
    pub(super) own: Option<&'a Profile<ServerTraits>>,
    pub(super) mutation: &'a Mutation,
    /// Whether it is the legacy socket, whose frames are events.
    pub(super) legacy: bool,
    /// Classes that the application shows.
    pub(super) shows: &'a [Class],
}

impl Ends<'_> {
    /// How the text came in time. None where nothing came.
    pub(super) fn times(&self, shows: &[Class]) -> Option<Times> {
        let (mut delays, mut arrivals, mut first) = (Vec::new(), Vec::new(), None);
        let (mut came, mut known) = (Vec::new(), BTreeSet::new());
        let counts = |piece: &Piece| piece.class != Class::Empty && shows.contains(&piece.class);
        for (origin, k) in self.read_frames() {
            let (Some(receipt), Some(at)) =
                (k.and_then(|k| self.trace.receipts.get(k)), k.and_then(|k| self.read.at.get(k)))
            else {
                continue;
            };
            let (Origin::Delta { first: piece, .. }, Fate::Reached { pieces, .. }) = (origin, &receipt.fate)
            else {
                continue;
            };
            if pieces.iter().any(counts) {
                first = first.or(Some(*at));
            }
            if let Some(produced) = self.notes.produced_at.get(piece as usize) {
                delays.push(micros(*produced, *at));
                let counted = pieces.iter().filter(|piece| counts(piece));
                let chars: u64 = counted.map(|piece| Tally::of(&piece.text).chars).sum();
                // What comes once more was there already.
                came.extend(known.insert(piece).then_some((*produced, *at, chars)));
            }
            arrivals.push(*at);
        }
        let mut gaps: Vec<u64> = arrivals.windows(2).map(|two| micros(two[0], two[1])).collect();
        let made = self.notes.server.produced.iter().zip(&self.notes.produced_at);
        let mut made = made.filter(|(piece, _)| counts(piece)).map(|(_, at)| *at);
        let begun = made.next();
        let produced_us = begun.zip(made.next_back()).map_or(0, |(begun, ended)| micros(begun, ended));
        let since = |begun: Instant| {
            let since = move |(made, at, chars)| Came {
                made_us: micros(begun, made),
                at_us: micros(begun, at),
                chars,
            };
            came.into_iter().map(since).collect()
        };
        let times = Times {
            delay: Spread::of(&mut delays),
            gap: Spread::of(&mut gaps),
            first_us: begun.zip(first).map(|(begun, first)| micros(begun, first)),
            produced_us,
            held_chars: begun.map_or(0, |begun| held(since(begun), produced_us)),
        };
        (times.delay.count > 0).then_some(times)
    }

    /// The pieces that reached the application after the reply of their turn had, by their place among all that did.
    pub(super) fn late(&self) -> Vec<usize> {
        let (server, delivered) = (&self.notes.server, &self.trace.delivered);
        let (mut replied, mut late, mut next) = (BTreeSet::new(), Vec::new(), 0);
        for (origin, k) in self.read_frames() {
            let Some(receipt) = k.and_then(|k| self.trace.receipts.get(k)) else { continue };
            let Fate::Reached { pieces, .. } = &receipt.fate else { continue };
            match origin {
                Origin::Durable { reply: true, number } => {
                    replied.extend(server.replies.iter().position(|reply| *reply == number));
                }
                Origin::Delta { first, .. } => {
                    let turn = server.replied_after.partition_point(|made| *made <= first);
                    for piece in pieces {
                        // A client that takes a piece twice has more than its receipts say.
                        let place = delivered.iter().skip(next).position(|other| other == piece);
                        let Some(at) = place.map(|place| next + place) else { continue };
                        next = at + 1;
                        late.extend(replied.contains(&turn).then_some(at));
                    }
                }
                Origin::Durable { .. } | Origin::Other => {}
            }
        }
        late
    }

    /// Text that reached the application of attempts which a later one said again.
    pub(super) fn superseded(&self) -> Tally {
        let again = |piece: u32| self.notes.superseded.iter().any(|range| range.contains(&(piece as usize)));
        let taken = self.read_frames().filter_map(|(origin, k)| {
            let receipt = self.trace.receipts.get(k?)?;
            match (origin, &receipt.fate) {
                (Origin::Delta { first, .. }, Fate::Reached { pieces, .. }) if again(first) => Some(pieces),
                _ => None,
            }
        });
        taken.flatten().filter(|piece| piece.class != Class::Empty).map(|piece| Tally::of(&piece.text)).sum()
    }

    /// The first frame whose text did not reach the application as it was produced. None where all of it did.
    pub(super) fn first_frame(&self, hops: &[HopFlow], against: &Against<'_>) -> Option<FirstFrame> {
        let mut number = 0;
        for (origin, k) in self.read_frames() {
            let Origin::Delta { first, count } = origin else { continue };
            number += 1;
            let produced = self.pieces(first, count);
            let Some((k, receipt)) = k.and_then(|k| Some((k, self.trace.receipts.get(k)?))) else { continue };
            let Some((hop, reason)) = stopped(&receipt.fate, produced, against.shows) else { continue };
            let (text, bytes) = self.read.texts.get(k)?;
            let after = FrameText {
                from: format!("server {}", against.server.about.name),
                text: blanked(text),
                cut_bytes: (bytes - text.len()) as u64,
            };
            let before = against.before(produced).filter(|before| before.text != after.text);
            return Some(FirstFrame { number, hop, reason, before, after: Some(after) });
        }
        // Nothing that was read was lost. Something may never have been sent.
        let before_socket = [Hop::Published, Hop::Dispatched, Hop::Sent];
        let lost = hops.iter().filter(|flow| before_socket.contains(&flow.hop));
        let lost = lost.flat_map(|flow| flow.dropped.keys().map(move |reason| (flow.hop, reason)));
        let (hop, reason) = lost.into_iter().find(|(_, reason)| !reason.by_design())?;
        let before = against.before(self.pieces(0, 1));
        Some(FirstFrame { number: 1, hop, reason: Some(reason.clone()), before, after: None })
    }

    /// Every frame that was written to this client, with the place of its receipt, if it was read.
    fn read_frames(&self) -> impl Iterator<Item = (Origin, Option<usize>)> {
        self.links.iter().zip(self.trace.connections()).flat_map(|(link, (read, _))| {
            let place = move |k: usize| Some(read.start + k).filter(|at| read.contains(at));
            link.sent.iter().enumerate().map(move |(k, origin)| (*origin, place(k)))
        })
    }

    fn pieces(&self, first: u32, count: u32) -> &[Piece] {
        let all = &self.notes.server.produced[..];
        let first = (first as usize).min(all.len());
        &all[first..all.len().min(first + count as usize)]
    }
}

/// Where a frame's text stopped, or that it reached the application as another text.
fn stopped(fate: &Fate, produced: &[Piece], shows: &[Class]) -> Option<(Hop, Option<Reason>)> {
    match fate {
        Fate::Stopped { reason, .. } if reason.by_design() => None,
        Fate::Stopped { hop, reason } => Some((*hop, Some(reason.clone()))),
        Fate::Reached { pieces, missing } => {
            let due = produced.iter().filter(|p| p.class != Class::Empty && shows.contains(&p.class));
            let mut wrong = due.filter(|due| !pieces.contains(due));
            let due = wrong.next()?;
            let gone = !pieces.iter().any(|piece| piece.class == due.class);
            (!(gone && missing.by_design())).then(|| (Hop::Delivered, gone.then(|| missing.clone())))
        }
    }
}

impl Against<'_> {
    /// The same chunk as it was before the mutation, or as the client's own release sends it.
    fn before(&self, produced: &[Piece]) -> Option<FrameText> {
        if !self.legacy {
            return None;
        }
        let event = delta(produced);
        let none = Mutation::default();
        let (from, traits) = if self.mutation.is_none() {
            let own = self.own?;
            (format!("server {}", own.about.name), &own.traits)
        } else {
            (format!("server {}, no mutation", self.server.about.name), &self.server.traits)
        };
        Some(FrameText::of(from, &delta_frame(traits, &event, &none)))
    }
}

/// The delta that holds these pieces.
fn delta(produced: &[Piece]) -> Event {
    let text = |reasoning: bool| {
        let of = |p: &&Piece| p.class == class_of(&p.text, reasoning);
        produced.iter().find(of).map(|piece| piece.text.clone())
    };
    let reasoning_content = text(true).filter(|text| !text.is_empty());
    let content = text(false).filter(|text| !text.is_empty() || reasoning_content.is_none());
    Event {
        id: ID.to_owned(),
        timestamp: TIMESTAMP.to_owned(),
        source: Source::Agent,
        parent_id: None,
        body: EventBody::StreamingDelta { content, reasoning_content },
    }
}

/// Every frame has an id and a time of its own, which no loss is about: frames that are shown all have these.
const ID: &str = "00000000-0000-4000-8000-000000000000";
const TIMESTAMP: &str = "2026-01-01T00:00:00.000000";

/// The frame with the id and the time of every frame that is shown. It need not be JSON any more.
fn blanked(text: &str) -> String {
    [("\"id\":\"", ID), ("\"timestamp\":\"", TIMESTAMP)].into_iter().fold(
        text.to_owned(),
        |text, (key, value)| {
            let Some(from) = text.find(key).map(|at| at + key.len()) else { return text };
            let Some(end) = text[from..].find('"') else { return text };
            // What a mutation made of it is what the loss may be about.
            if end != value.len() {
                return text;
            }
            format!("{}{value}{}", &text[..from], &text[from + end..])
        },
    )
}

fn micros(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
}
