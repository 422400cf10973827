//! One entry of a session log: the envelope, and what the harness puts into it.

use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::chunk::{Block, Chunk};

/// A place in a session log: the length of the log when the event was appended.
pub type Seq = u64;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// As it should.
    Completed,
    /// A person cancelled it.
    Aborted,
    /// A policy stopped it.
    Blocked,
    /// The provider, a tool or a listener failed.
    Error,
    /// The model ran out of tokens.
    MaxTokens,
    /// The process died; written by the repair on load and by nothing else.
    Interrupted,
}

/// A chunk and when it came, as a settlement embeds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// Milliseconds since the epoch.
    pub time: u64,
    /// The chunk.
    pub chunk: Chunk,
}

/// What a request cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
}

/// A committed message, or with `embedded` the settlement of the attempt that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// The turn, from 1.
    pub turn: u32,
    /// The step within the turn, from 1.
    pub step: u32,
    /// The reply, block by block.
    pub blocks: Vec<Block>,
    /// What it cost; absent for a prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether a person cancelled it and this is what had been delivered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The attempt's chunks with their times; `embedded` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Vec<Timed>>,
}

/// The settlement of an attempt that made no message: log only, no model request ever sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// Its chunks with their times.
    pub stream: Vec<Timed>,
}

/// An event of somebody who is not the core: plugins, and core events that nothing here depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// Its type.
    pub kind: Box<str>,
    /// Its data.
    pub data: Value,
}

/// What an event says. The names of the types are those of the harness.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// `turn/start`
    TurnStart(Place),
    /// `turn/end`
    TurnEnd(Place, TurnEnd),
    /// `step/start`
    StepStart(Place),
    /// `step/end`
    StepEnd(Place),
    /// `user/message`
    UserMessage(Place, Box<str>),
    /// `assistant/chunk`
    Chunk(Place, Chunk),
    /// `assistant/message`
    Message(Box<Message>),
    /// `assistant/attempt`
    Attempt(Box<Attempt>),
    /// `tool/call`
    ToolCall(Place, Box<Called>),
    /// `tool/result`
    ToolResult(Place, Box<Returned>),
    /// Anything else.
    Other(Box<Other>),
}

/// The turn and, within it, the step (0 for what belongs to the whole turn). Part of the data, not of the envelope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The turn, from 1.
    pub turn: u32,
    /// The step, from 1; 0 stands for none and is not written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub step: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Called {
    /// Joins it with its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, JSON text.
    pub arguments: String,
}

/// What a tool said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Returned {
    /// The call that it answers.
    pub id: String,
    /// What it said.
    pub text: String,
    /// Whether it failed, or was never run because the process died.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

impl Body {
    /// The event's type.
    pub fn kind(&self) -> &str {
        match self {
            Body::TurnStart(_) => "turn/start",
            Body::TurnEnd(..) => "turn/end",
            Body::StepStart(_) => "step/start",
            Body::StepEnd(_) => "step/end",
            Body::UserMessage(..) => "user/message",
            Body::Chunk(..) => "assistant/chunk",
            Body::Message(_) => "assistant/message",
            Body::Attempt(_) => "assistant/attempt",
            Body::ToolCall(..) => "tool/call",
            Body::ToolResult(..) => "tool/result",
            Body::Other(other) => &other.kind,
        }
    }

    /// The turn and step that it belongs to; none for events of others.
    pub fn place(&self) -> Option<Place> {
        match self {
            Body::TurnStart(p)
            | Body::TurnEnd(p, _)
            | Body::StepStart(p)
            | Body::StepEnd(p)
            | Body::UserMessage(p, _)
            | Body::Chunk(p, _)
            | Body::ToolCall(p, _)
            | Body::ToolResult(p, _) => Some(*p),
            Body::Message(m) => Some(Place { turn: m.turn, step: m.step }),
            Body::Attempt(a) => Some(Place { turn: a.turn, step: a.step }),
            Body::Other(_) => None,
        }
    }
}

/// One entry of a session log. Immutable once appended.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place: the log's length when it was appended.
    pub seq: Seq,
    /// Milliseconds since the epoch.
    pub time: u64,
    /// What it says.
    pub body: Body,
    /// The chunks that it was made of (`sourceEventSeqs`). Empty is a stream known to be empty; absent is unknown.
    pub cites: Option<Box<[Seq]>>,
}

/// The data of an event, as it is written.
struct Data<'a>(&'a Body);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct At<'a, T: Serialize + ?Sized> {
            #[serde(flatten)]
            place: Place,
            #[serde(flatten)]
            rest: &'a T,
        }
        fn entry<S: Serializer>(
            to: S,
            place: Place,
            key: &'static str,
            value: &impl Serialize,
        ) -> Result<S::Ok, S::Error> {
            let mut map = to.serialize_map(None)?;
            map.serialize_entry("turn", &place.turn)?;
            if place.step > 0 {
                map.serialize_entry("step", &place.step)?;
            }
            map.serialize_entry(key, value)?;
            map.end()
        }
        match self.0 {
            Body::TurnStart(p) | Body::StepStart(p) | Body::StepEnd(p) => p.serialize(to),
            Body::TurnEnd(p, reason) => entry(to, *p, "reason", reason),
            Body::UserMessage(p, text) => entry(to, *p, "text", text),
            Body::Chunk(p, chunk) => entry(to, *p, "chunk", chunk),
            Body::Message(message) => message.serialize(to),
            Body::Attempt(attempt) => attempt.serialize(to),
            Body::ToolCall(p, call) => At { place: *p, rest: &**call }.serialize(to),
            Body::ToolResult(p, result) => At { place: *p, rest: &**result }.serialize(to),
            Body::Other(other) => other.data.serialize(to),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", self.body.kind())?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("time", &self.time)?;
        map.serialize_entry("data", &Data(&self.body))?;
        if let Some(cites) = &self.cites {
            map.serialize_entry("sourceEventSeqs", cites)?;
        }
        map.end()
    }
}

/// The envelope as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    seq: Seq,
    time: u64,
    data: Value,
    #[serde(rename = "sourceEventSeqs")]
    cites: Option<Box<[Seq]>>,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Event, D::Error> {
        let Envelope { kind, seq, time, data, cites } = Envelope::deserialize(from)?;
        let body = body(&kind, data).map_err(D::Error::custom)?;
        Ok(Event { seq, time, body, cites })
    }
}

/// The body of an event of this type. A type that is not the core's is anybody's.
fn body(kind: &str, data: Value) -> Result<Body, Misfit> {
    fn read<T: serde::de::DeserializeOwned>(kind: &str, data: Value) -> Result<T, Misfit> {
        serde_json::from_value(data).map_err(|e| Misfit { kind: kind.to_owned(), message: e.to_string() })
    }
    /// Turn and step, and what else there is.
    fn placed(kind: &str, data: Value) -> Result<(Place, serde_json::Map<String, Value>), Misfit> {
        let mut rest: serde_json::Map<String, Value> = read(kind, data)?;
        let mut own = serde_json::Map::new();
        for key in ["turn", "step"] {
            own.extend(rest.shift_remove(key).map(|value| (key.to_owned(), value)));
        }
        Ok((read(kind, Value::Object(own))?, rest))
    }
    /// Turn and step, and the one other value.
    fn row<T: serde::de::DeserializeOwned>(kind: &str, data: Value, key: &str) -> Result<(Place, T), Misfit> {
        let (place, mut rest) = placed(kind, data)?;
        let misfit = |message: String| Misfit { kind: kind.to_owned(), message };
        let value = rest.shift_remove(key).ok_or_else(|| misfit(format!("missing field `{key}`")))?;
        match rest.keys().next() {
            None => Ok((place, read(kind, value)?)),
            Some(other) => Err(misfit(format!("unknown field `{other}`"))),
        }
    }
    Ok(match kind {
        "turn/start" => Body::TurnStart(read(kind, data)?),
        "step/start" => Body::StepStart(read(kind, data)?),
        "step/end" => Body::StepEnd(read(kind, data)?),
        "turn/end" => {
            let (place, reason) = row(kind, data, "reason")?;
            Body::TurnEnd(place, reason)
        }
        "user/message" => {
            let (place, text) = row(kind, data, "text")?;
            Body::UserMessage(place, text)
        }
        "assistant/chunk" => {
            let (place, chunk) = row(kind, data, "chunk")?;
            Body::Chunk(place, chunk)
        }
        "assistant/message" => Body::Message(read(kind, data)?),
        "assistant/attempt" => Body::Attempt(read(kind, data)?),
        "tool/call" => {
            let (place, rest) = placed(kind, data)?;
            Body::ToolCall(place, read(kind, Value::Object(rest))?)
        }
        "tool/result" => {
            let (place, rest) = placed(kind, data)?;
            Body::ToolResult(place, read(kind, Value::Object(rest))?)
        }
        _ => Body::Other(Box::new(Other { kind: kind.into(), data })),
    })
}

/// Data that is not what its type promises.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Misfit {
    kind: String,
    message: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the data of a `{}` event: {}", self.kind, self.message)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::chunk::BlockKind;
    use super::*;

    pub(crate) fn one_of_each() -> Vec<Event> {
        let at = Place { turn: 1, step: 2 };
        let turn = Place { turn: 1, step: 0 };
        let chunk = Chunk::of(BlockKind::Text, 0, "h\"é\u{1f600}");
        let stream = vec![Timed { time: 5, chunk: chunk.clone() }];
        let blocks = vec![Block { kind: BlockKind::Text, text: "hé".to_owned() }];
        let bodies = [
            Body::TurnStart(turn),
            Body::UserMessage(turn, "hello".into()),
            Body::StepStart(at),
            Body::Chunk(at, chunk),
            Body::Message(Box::new(Message {
                turn: 1,
                step: 2,
                blocks,
                usage: Some(Usage { input: 1, output: 2 }),
                interrupted: true,
                stream: Some(stream.clone()),
            })),
            Body::Attempt(Box::new(Attempt { turn: 1, step: 2, stream })),
            Body::ToolCall(at, Box::new(Called { id: "c".into(), name: "t".into(), arguments: "{}".into() })),
            Body::ToolResult(at, Box::new(Returned { id: "c".into(), text: "r".into(), error: true })),
            Body::Other(Box::new(Other { kind: "todo/write".into(), data: serde_json::json!({ "a": [1] }) })),
            Body::StepEnd(at),
            Body::TurnEnd(turn, TurnEnd::Completed),
        ];
        let events = bodies.into_iter().zip(0..).map(|(body, seq)| {
            let cites = matches!(body, Body::Message(_)).then(|| vec![3].into());
            Event { seq, time: 1_750_000_000_000 + seq, body, cites }
        });
        events.collect()
    }

    #[test]
    fn every_event_reads_back_as_it_was() {
        for event in one_of_each() {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn the_envelope_is_that_of_the_harness() {
        let text = serde_json::to_string(&one_of_each()[3]).unwrap();
        let expected = "{\"type\":\"assistant/chunk\",\"seq\":3,\"time\":1750000000003,\"data\":{\"turn\":1,\"step\":2,\
                        \"chunk\":{\"type\":\"text-delta\",\"index\":0,\"text\":\"h\\\"é😀\"}}}";
        assert_eq!(text, expected);
    }

    #[test]
    fn data_that_does_not_fit_its_type_is_refused_with_the_type() {
        for (data, says) in [
            (r#"{"turn":1}"#, "missing field `chunk`"),
            (r#"{"turn":1,"text":{"type":"block-end","index":0}}"#, "missing field `chunk`"),
            (r#"{"turn":1,"chunk":{"type":"block-end","index":0},"text":""}"#, "unknown field `text`"),
            (r#"{"chunk":{"type":"block-end","index":0}}"#, "missing field `turn`"),
        ] {
            let text = format!(r#"{{"type":"assistant/chunk","seq":0,"time":1,"data":{data}}}"#);
            let error = serde_json::from_str::<Event>(&text).unwrap_err().to_string();
            assert!(error.contains("`assistant/chunk`") && error.contains(says), "{error}");
        }
    }
}
