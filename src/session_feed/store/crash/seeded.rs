//! A session without end out of a seed: turns as an agent loop would log them, for a writer that has to be kept busy.

use std::collections::VecDeque;

use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, RngExt as _};

use super::super::super::chunk::{BlockKind, Chunk, assemble};
use super::super::super::event::{
    Attempt, Body, Called, Event, Message, Other, Place, Returned, Seq, Timed, TurnEnd,
};
use crate::seed::Seed;

/// Syllables of one to four bytes a character, and what JSON escapes.
const TEXTS: [&str; 8] = ["ha", " ", "né", "字", "😀", "\"q\"", "\n", "end."];

/// The events of a session, one after the other. The same seed gives the same events.
#[derive(Debug)]
pub struct Seeded {
    rng: ChaCha8Rng,
    made: VecDeque<Event>,
    seq: Seq,
    time: u64,
    turn: u32,
}

impl Seeded {
    /// The session of this seed, from its first event on.
    pub fn new(seed: u64) -> Seeded {
        let rng = Seed(seed).derive("session").rng();
        Seeded { rng, made: VecDeque::new(), seq: 0, time: 1_790_000_000_000, turn: 0 }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }

    fn log(&mut self, body: Body, cites: Option<Box<[Seq]>>) -> Seq {
        // Mostly the pace of a model; sometimes nothing for longer than any window.
        let pause = if self.below(40) == 0 { 500 } else { self.below(30) };
        self.time += u64::from(pause);
        let seq = self.seq;
        self.made.push_back(Event { seq, time: self.time, body, cites });
        self.seq += 1;
        seq
    }

    fn turn(&mut self) {
        self.turn += 1;
        let turn = Place { turn: self.turn, step: 0 };
        self.log(Body::TurnStart(turn), None);
        self.log(Body::UserMessage(turn, "say it again".into()), None);
        for step in 1..=1 + self.below(3) {
            self.step(Place { step, ..turn });
        }
        if self.below(4) == 0 {
            let data = serde_json::json!({ "items": [self.below(9), null, 0.5], "type": "turn/end" });
            self.log(Body::Other(Box::new(Other { kind: "todo/write".into(), data })), None);
        }
        self.log(Body::TurnEnd(turn, TurnEnd::Completed), None);
    }

    fn step(&mut self, place: Place) {
        self.log(Body::StepStart(place), None);
        if self.below(5) == 0 {
            // An attempt that failed, in either form: chunks that nothing cites, or a settlement.
            let failed = self.chunks(place);
            if self.below(2) == 0 {
                let stream = failed.into_iter().map(|(_, chunk)| Timed { time: self.time, chunk }).collect();
                let attempt = Attempt { turn: place.turn, step: place.step, stream };
                self.log(Body::Attempt(Box::new(attempt)), None);
            }
        }
        let chunks = self.chunks(place);
        let message = Message {
            turn: place.turn,
            step: place.step,
            blocks: assemble(chunks.iter().map(|(_, chunk)| chunk)),
            usage: None,
            interrupted: false,
            stream: None,
        };
        self.log(Body::Message(Box::new(message)), Some(chunks.iter().map(|(seq, _)| *seq).collect()));
        for call in 0..self.below(3) {
            let id = format!("call-{}-{}-{call}", place.turn, place.step);
            let called = Called { id: id.clone(), name: "look".into(), arguments: "{}".into() };
            self.log(Body::ToolCall(place, Box::new(called)), None);
            let result = Returned { id, text: "seen".into(), error: false };
            self.log(Body::ToolResult(place, Box::new(result)), None);
        }
        self.log(Body::StepEnd(place), None);
    }

    fn chunks(&mut self, place: Place) -> Vec<(Seq, Chunk)> {
        let mut logged = Vec::new();
        let mut log = |all: &mut Seeded, chunk: Chunk| {
            logged.push((all.log(Body::Chunk(place, chunk.clone()), None), chunk));
        };
        let kinds = [BlockKind::Reasoning, BlockKind::Text, BlockKind::ToolCall];
        for (index, kind) in (0..).zip(kinds) {
            log(self, Chunk::BlockStart { index, kind });
            for _ in 0..self.below(12) {
                let text = TEXTS[self.below(8) as usize];
                log(self, Chunk::of(kind, index, text));
            }
            log(self, Chunk::BlockEnd { index });
        }
        let output = self.rng.next_u32().into();
        log(self, Chunk::Usage { input: 7, output });
        log(self, Chunk::Finish { reason: "stop".into() });
        logged
    }
}

impl Iterator for Seeded {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if self.made.is_empty() {
            self.turn();
        }
        self.made.pop_front()
    }
}
