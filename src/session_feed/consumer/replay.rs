//! Who reads a stored log: three different things that are all called replay, and a comparison of its two accounts.

use std::collections::{BTreeMap, BTreeSet};

use crate::session_feed::chunk::{Block, BlockKind, Chunk, assemble};
use crate::session_feed::event::{Body, Event, Message, Place, Seq};

/// Where text that was read back came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Read {
    /// A chunk event.
    Chunk(Seq),
    /// A settlement: a committed message, or an attempt's own.
    Settlement(Seq),
}

/// One message of a model request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who says it: `user`, `assistant`, `tool`.
    pub role: &'static str,
    /// Its text; reasoning is not sent back.
    pub text: String,
}

/// The next model request: surface events only, chunks never.
pub fn request<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Said> {
    let said = events.into_iter().filter_map(|event| match &event.body {
        Body::UserMessage(_, text) => Some(Said { role: "user", text: text.to_string() }),
        Body::Message(message) => Some(Said { role: "assistant", text: text_of(&message.blocks, false) }),
        Body::ToolResult(_, result) => Some(Said { role: "tool", text: result.text.clone() }),
        _ => None,
    });
    said.collect()
}

/// One step as a transcript shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The step.
    pub place: Place,
    /// What is shown, block by block.
    pub blocks: Vec<Block>,
    /// Where it was read.
    pub from: Vec<Read>,
}

/// The session as it is shown again: a step's committed message, and its chunks only where it has none.
pub fn transcript<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Shown> {
    let mut chunks: BTreeMap<Place, (Vec<&Chunk>, Vec<Read>)> = BTreeMap::new();
    let mut messages: BTreeMap<Place, Shown> = BTreeMap::new();
    for event in events {
        match &event.body {
            Body::Chunk(place, chunk) => {
                let (all, from) = chunks.entry(*place).or_default();
                all.push(chunk);
                from.push(Read::Chunk(event.seq));
            }
            Body::Attempt(attempt) => {
                let place = Place { turn: attempt.turn, step: attempt.step };
                let (all, from) = chunks.entry(place).or_default();
                all.extend(attempt.stream.iter().map(|timed| &timed.chunk));
                from.push(Read::Settlement(event.seq));
            }
            Body::Message(message) => {
                let place = Place { turn: message.turn, step: message.step };
                let shown =
                    Shown { place, blocks: message.blocks.clone(), from: vec![Read::Settlement(event.seq)] };
                messages.insert(place, shown);
            }
            _ => {}
        }
    }
    for (place, (chunks, from)) in chunks {
        messages.entry(place).or_insert_with(|| Shown { place, blocks: assemble(chunks), from });
    }
    messages.into_values().collect()
}

/// What a snapshot replay makes of a log: a script for each request that the model was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scripts {
    /// The scripts, in order, each with where its chunks stood.
    pub derived: Vec<(Place, Vec<Chunk>, Vec<Read>)>,
    /// The steps that have none, and why. Each fails the replay loudly and needs a sidecar file.
    pub failed: Vec<(Place, &'static str)>,
}

/// Chunks grouped by turn and step, split at `finish`. A group without `finish` fails, and so does a step that committed a
/// message of which no chunk is left.
pub fn scripts<'a>(events: impl IntoIterator<Item = &'a Event>) -> Scripts {
    let mut scripts = Scripts::default();
    let mut open: BTreeMap<Place, (Vec<Chunk>, Vec<Read>)> = BTreeMap::new();
    let mut asked: BTreeSet<Place> = BTreeSet::new();
    let mut streamed: BTreeSet<Place> = BTreeSet::new();
    let mut take = |place: Place, chunk: &Chunk, read: Read, scripts: &mut Scripts| {
        let (chunks, from) = open.entry(place).or_default();
        chunks.push(chunk.clone());
        if from.last() != Some(&read) {
            from.push(read);
        }
        if matches!(chunk, Chunk::Finish { .. })
            && let Some((chunks, from)) = open.remove(&place)
        {
            scripts.derived.push((place, chunks, from));
        }
    };
    for event in events {
        let (place, stream) = match &event.body {
            Body::Chunk(place, chunk) => {
                streamed.insert(*place);
                take(*place, chunk, Read::Chunk(event.seq), &mut scripts);
                continue;
            }
            Body::Message(message) => {
                let place = Place { turn: message.turn, step: message.step };
                asked.insert(place);
                (place, message.stream.as_deref())
            }
            Body::Attempt(attempt) => {
                (Place { turn: attempt.turn, step: attempt.step }, Some(attempt.stream.as_slice()))
            }
            _ => continue,
        };
        for timed in stream.unwrap_or_default() {
            streamed.insert(place);
            take(place, &timed.chunk, Read::Settlement(event.seq), &mut scripts);
        }
    }
    scripts.failed.extend(open.into_keys().map(|place| (place, "no_finish")));
    scripts.failed.extend(asked.difference(&streamed).map(|place| (*place, "no_chunks")));
    scripts.failed.sort_unstable();
    scripts
}

/// A step whose text a log has twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    /// The step.
    pub place: Place,
    /// Text and reasoning of the chunks that made the message.
    pub chunks: String,
    /// The same of the message.
    pub message: String,
}

/// Every committed message beside the chunks that it cites or embeds. A log without chunks has one account only.
pub fn agreement<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Twice> {
    let mut chunks: BTreeMap<Seq, &Chunk> = BTreeMap::new();
    let mut twice = Vec::new();
    for event in events {
        match &event.body {
            Body::Chunk(_, chunk) => {
                chunks.insert(event.seq, chunk);
            }
            Body::Message(message) => {
                let embedded =
                    message.stream.as_ref().map(|s| s.iter().map(|t| &t.chunk).collect::<Vec<_>>());
                let cited =
                    event.cites.as_ref().map(|c| c.iter().filter_map(|s| chunks.get(s).copied()).collect());
                if let Some(of) = embedded.or(cited) {
                    twice.push(compare(message, of));
                }
            }
            _ => {}
        }
    }
    twice
}

fn compare(message: &Message, chunks: Vec<&Chunk>) -> Twice {
    let place = Place { turn: message.turn, step: message.step };
    let mut blocks = assemble(chunks);
    if message.interrupted {
        blocks.retain(|block| block.kind != BlockKind::ToolCall);
    }
    Twice { place, chunks: text_of(&blocks, true), message: text_of(&message.blocks, true) }
}

/// The text of blocks, with reasoning or without. Arguments of tool calls are no text.
pub(in crate::session_feed) fn text_of(blocks: &[Block], reasoning: bool) -> String {
    let wanted = |kind| kind == BlockKind::Text || (reasoning && kind == BlockKind::Reasoning);
    blocks.iter().filter(|block| wanted(block.kind)).map(|block| block.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_feed::event::{Attempt, Timed};
    use crate::session_feed::script::chunks;

    fn log(bodies: Vec<Body>) -> Vec<Event> {
        (0..).zip(bodies).map(|(seq, body)| Event { seq, time: 1, body, cites: None }).collect()
    }

    fn message(place: Place, text: &str) -> Body {
        let blocks = vec![Block { kind: BlockKind::Text, text: text.to_owned() }];
        let Place { turn, step } = place;
        Body::Message(Box::new(Message { turn, step, blocks, usage: None, interrupted: false, stream: None }))
    }

    const ONE: Place = Place { turn: 1, step: 1 };
    const TWO: Place = Place { turn: 1, step: 2 };

    #[test]
    fn scripts_are_split_at_finish_and_a_group_without_one_fails() {
        let reply = chunks(&[(BlockKind::Text, "ab")]);
        let mut bodies: Vec<Body> = reply.iter().map(|c| Body::Chunk(ONE, c.clone())).collect();
        bodies.push(message(ONE, "ab"));
        bodies.extend(reply[..2].iter().map(|c| Body::Chunk(TWO, c.clone())));
        let scripts = scripts(&log(bodies));
        assert_eq!(scripts.derived.len(), 1);
        assert_eq!(scripts.derived[0].1, reply);
        assert_eq!(scripts.failed, [(TWO, "no_finish")]);
    }

    #[test]
    fn a_message_without_chunks_derives_nothing_and_an_embedded_one_its_own() {
        assert_eq!(scripts(&log(vec![message(ONE, "ab")])).failed, [(ONE, "no_chunks")]);
        let reply = chunks(&[(BlockKind::Text, "ab")]);
        let stream: Vec<Timed> = reply.iter().map(|c| Timed { time: 1, chunk: c.clone() }).collect();
        let Body::Message(mut m) = message(ONE, "ab") else { unreachable!() };
        m.stream = Some(stream.clone());
        let failed = Body::Attempt(Box::new(Attempt { turn: 1, step: 2, stream: stream[..1].to_vec() }));
        let scripts = scripts(&log(vec![Body::Message(m), failed]));
        assert_eq!(scripts.derived[0].1, reply);
        assert_eq!(scripts.failed, [(TWO, "no_finish")]);
    }

    #[test]
    fn a_transcript_falls_back_to_chunks_only_where_a_step_has_no_message() {
        let reply = chunks(&[(BlockKind::Text, "ab")]);
        let mut bodies: Vec<Body> = reply.iter().map(|c| Body::Chunk(ONE, c.clone())).collect();
        bodies.push(message(ONE, "AB"));
        bodies.extend(reply[..2].iter().map(|c| Body::Chunk(TWO, c.clone())));
        let shown = transcript(&log(bodies));
        let texts: Vec<&str> = shown.iter().map(|s| s.blocks[0].text.as_str()).collect();
        assert_eq!(texts, ["AB", "ab"]);
        assert_eq!(shown[0].from.len(), 1);
        assert_eq!(shown[1].from, [Read::Chunk(6), Read::Chunk(7)]);
    }

    #[test]
    fn an_edit_on_either_side_shows() {
        let reply = chunks(&[(BlockKind::Text, "ab")]);
        let mut events: Vec<Event> = log(reply.iter().map(|c| Body::Chunk(ONE, c.clone())).collect());
        let cites: Box<[Seq]> = (0..events.len() as Seq).collect();
        for (text, agrees) in [("ab", true), ("aB", false)] {
            events.push(Event { seq: 9, time: 1, body: message(ONE, text), cites: Some(cites.clone()) });
            let twice = agreement(&events).pop().unwrap();
            assert_eq!(twice.chunks == twice.message, agrees);
        }
    }
}
