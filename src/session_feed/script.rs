//! What the model streams and the harness does around it: turns, steps, attempts.

use serde::{Deserialize, Serialize};

use super::chunk::{BlockKind, Chunk};
use super::event::Called;

/// A whole session, before anything goes wrong with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The turns, one after the other.
    pub turns: Vec<TurnScript>,
    /// Chunks a second, above 0.
    pub rate: f64,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnScript {
    /// What the person says.
    pub user: String,
    /// The requests that it takes.
    pub steps: Vec<StepScript>,
}

/// One request to the model, and what follows from its reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepScript {
    /// What the model streams.
    pub chunks: Vec<Chunk>,
    /// The tool that it calls, which answers at once.
    pub tool: Option<Called>,
    /// Events of plugins before the request, by type: they fill a log as real ones are filled.
    pub others: Vec<String>,
}

/// How many events and chunks a recorded log had, without its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Events, chunks among them.
    pub events: u32,
    /// Chunks.
    pub chunks: u32,
    /// Steps, each with a message.
    pub steps: u32,
    /// Steps among them whose message has a text block; the others have reasoning alone.
    pub texts: u32,
}

/// A shape that no log can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Fewer events than chunks and what stands around them.
    #[error("{steps} steps with {chunks} chunks are at least {least} events")]
    Events {
        /// Steps.
        steps: u32,
        /// Chunks.
        chunks: u32,
        /// The fewest events.
        least: u32,
    },
    /// Fewer than five chunks a step: a block's start and end, a delta, usage and finish.
    #[error("{steps} steps are at least {least} chunks")]
    Chunks {
        /// Steps.
        steps: u32,
        /// The fewest chunks.
        least: u32,
    },
    /// More steps with text than steps, or no step at all.
    #[error("there have to be as many steps as steps with text, and one at least")]
    Steps,
}

/// Events of a turn beside those of its steps: its start, the person's message, its end.
const AROUND_A_TURN: u32 = 3;
/// Events of a step beside its chunks: its start, the message, its end.
const AROUND_A_STEP: u32 = 3;
/// Chunks of a step beside its deltas: block start and end, usage, finish.
const AROUND_DELTAS: u32 = 4;

impl Script {
    /// A single turn of a single step that streams `pieces`, a block for each run of one kind.
    pub fn of(user: &str, pieces: &[(BlockKind, &str)], rate: f64) -> Script {
        let step = StepScript { chunks: chunks(pieces), ..StepScript::default() };
        Script { turns: vec![TurnScript { user: user.to_owned(), steps: vec![step] }], rate }
    }

    /// A script that makes a log of this shape in a variant that keeps every chunk as an event.
    pub fn shaped(user: &str, shape: Shape, rate: f64) -> Result<Script, ShapeError> {
        let Shape { events, chunks: total, steps, texts } = shape;
        if steps == 0 || texts > steps {
            return Err(ShapeError::Steps);
        }
        let least = steps * (AROUND_DELTAS + 1);
        if total < least {
            return Err(ShapeError::Chunks { steps, least });
        }
        let least = total + AROUND_A_TURN + steps * AROUND_A_STEP;
        let Some(fillers) = events.checked_sub(least) else {
            return Err(ShapeError::Events { steps, chunks: total, least });
        };
        let part = |whole: u32, at: u32| whole / steps + u32::from(at < whole % steps);
        let steps = (0..steps).map(|at| {
            let deltas = part(total, at) - AROUND_DELTAS;
            let kind = if at < texts { BlockKind::Text } else { BlockKind::Reasoning };
            let words: Vec<String> =
                (0..deltas).map(|n| format!("{} ", WORDS[(at + n) as usize % WORDS.len()])).collect();
            let pieces: Vec<(BlockKind, &str)> = words.iter().map(|word| (kind, word.as_str())).collect();
            let others = (0..part(fillers, at)).map(|_| "fixture/filler".to_owned()).collect();
            StepScript { chunks: chunks(&pieces), tool: None, others }
        });
        let steps = steps.collect();
        Ok(Script { turns: vec![TurnScript { user: user.to_owned(), steps }], rate })
    }

    /// Every chunk of the script, in order.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.turns.iter().flat_map(|turn| &turn.steps).flat_map(|step| &step.chunks)
    }
}

/// Words of three and four characters, so that a delta carries about as many as those of the fixtures (2.9 to 4.6).
const WORDS: [&str; 7] = ["the", "log", "has", "one", "feed", "and", "not"];

/// The chunks of one reply: a block for each run of one kind, usage, finish.
pub fn chunks(pieces: &[(BlockKind, &str)]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut open: Option<(BlockKind, u32)> = None;
    for (kind, text) in pieces {
        let index = match open {
            Some((of, index)) if of == *kind => index,
            before => {
                let index = before.map_or(0, |(_, index)| index + 1);
                chunks.extend(before.map(|(_, index)| Chunk::BlockEnd { index }));
                chunks.push(Chunk::BlockStart { index, kind: *kind });
                open = Some((*kind, index));
                index
            }
        };
        chunks.push(Chunk::of(*kind, index, text));
    }
    chunks.extend(open.map(|(_, index)| Chunk::BlockEnd { index }));
    let output = pieces.len() as u64;
    chunks.push(Chunk::Usage { input: 10, output });
    let calls = pieces.iter().any(|(kind, _)| *kind == BlockKind::ToolCall);
    chunks.push(Chunk::Finish { reason: if calls { "tool-calls" } else { "stop" }.into() });
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_characters_are_seven_chunks() {
        let text = [(BlockKind::Text, "h"), (BlockKind::Text, "e"), (BlockKind::Text, "y")];
        assert_eq!(Script::of("hi", &text, 50.0).chunks().count(), 7);
    }

    #[test]
    fn a_shape_has_its_chunks_and_its_texts() {
        let shape = Shape { events: 2098, chunks: 2017, steps: 12, texts: 4 };
        let script = Script::shaped("hi", shape, 50.0).unwrap();
        assert_eq!(script.chunks().count(), 2017);
        let starts = script.chunks().filter(|c| matches!(c, Chunk::BlockStart { kind: BlockKind::Text, .. }));
        assert_eq!(starts.count(), 4);
        let fillers: usize = script.turns[0].steps.iter().map(|s| s.others.len()).sum();
        assert_eq!(fillers, 2098 - 2017 - 3 - 36);
    }

    #[test]
    fn a_shape_that_no_log_can_have_is_refused_with_the_least() {
        let shape = Shape { events: 20, chunks: 10, steps: 2, texts: 2 };
        let of = |change: &dyn Fn(&mut Shape)| {
            let mut shape = shape;
            change(&mut shape);
            Script::shaped("", shape, 1.0).unwrap_err().to_string()
        };
        assert_eq!(of(&|s| s.events = 18), "2 steps with 10 chunks are at least 19 events");
        assert_eq!(of(&|s| s.chunks = 9), "2 steps are at least 10 chunks");
        assert!(of(&|s| s.texts = 3).contains("as many steps"));
        assert!(of(&|s| s.steps = 0).contains("one at least"));
    }
}
