//! What a text frame says to a subscriber that counts: borrowed from the frame, and only what it needs.
//!
//! Both sockets are read: `/sockets/events/{id}`, where a delta is an event of kind `StreamingDeltaEvent`, and
//! `/sockets/session/{id}` (1.45.0 on), where it is a frame of type `delta` and events come inside `durable`. Text
//! without an escape is borrowed, so that a delivery allocates nothing.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::wire::DELTA_KIND;

/// One frame, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard<'a> {
    /// A piece of a streaming reply.
    Delta(Delta<'a>),
    /// The durable end of a reply, whole.
    Reply(Reply<'a>),
    /// The person spoke: a reply may begin.
    Asked,
    /// A reply ended that will have no durable event (`item_aborted`).
    Aborted,
    /// Anything else.
    Other,
}

/// A piece of a streaming reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Delta<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) reasoning: Cow<'a, str>,
    /// On the session socket: item, attempt, and place within them.
    pub(super) place: Option<Place<'a>>,
}

/// Where the session socket says that a delta belongs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) item: Cow<'a, str>,
    pub(super) attempt: u64,
    pub(super) order: u64,
}

/// The parts of a durable reply, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply<'a> {
    pub(super) text: Vec<Cow<'a, str>>,
    /// Absent where the event says nothing about reasoning.
    pub(super) reasoning: Option<Cow<'a, str>>,
}

/// Reads one text frame.
pub(super) fn hear(frame: &str) -> Result<Heard<'_>, serde_json::Error> {
    let read: Frame<'_> = serde_json::from_str(frame)?;
    Ok(match read.type_.as_str() {
        None => read.event.heard(),
        Some("delta") => read.session_delta(),
        Some("durable") => read.inner.unwrap_or_default().heard(),
        Some("item_aborted") => Heard::Aborted,
        Some(_) => Heard::Other,
    })
}

/// The fields of a frame of either socket.
#[derive(Debug, Default)]
struct Frame<'a> {
    type_: Word<'a>,
    item_id: Word<'a>,
    attempt: Option<u64>,
    order: Option<u64>,
    inner: Option<EventFields<'a>>,
    event: EventFields<'a>,
}

/// The fields of an event, at the top of a frame or inside `event`.
#[derive(Debug, Default)]
struct EventFields<'a> {
    kind: Word<'a>,
    source: Word<'a>,
    content: Word<'a>,
    reasoning_content: Word<'a>,
    llm_message: Option<Message<'a>>,
    action: Option<Finish<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Part<'a>>,
    #[serde(borrow)]
    reasoning_content: Word<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Word<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Finish<'a> {
    #[serde(borrow)]
    kind: Word<'a>,
    #[serde(borrow)]
    message: Word<'a>,
}

impl<'a> Frame<'a> {
    fn session_delta(self) -> Heard<'a> {
        let content = self.event.content.0.unwrap_or_default();
        let (text, reasoning) = match self.event.kind.as_str() {
            Some("reasoning") => (Cow::Borrowed(""), content),
            _ => (content, Cow::Borrowed("")),
        };
        let place = self.order.map(|order| Place {
            item: self.item_id.0.unwrap_or_default(),
            attempt: self.attempt.unwrap_or_default(),
            order,
        });
        Heard::Delta(Delta { text, reasoning, place })
    }
}

impl<'a> EventFields<'a> {
    fn heard(self) -> Heard<'a> {
        match (self.kind.as_str(), self.source.as_str()) {
            (Some(DELTA_KIND), _) => Heard::Delta(Delta {
                text: self.content.0.unwrap_or_default(),
                reasoning: self.reasoning_content.0.unwrap_or_default(),
                place: None,
            }),
            (Some("MessageEvent"), Some("agent")) => {
                let message = self.llm_message.unwrap_or_default();
                let text = message.content.into_iter().filter_map(|part| part.text.0).collect();
                Heard::Reply(Reply { text, reasoning: message.reasoning_content.0 })
            }
            (Some("MessageEvent"), Some("user")) => Heard::Asked,
            (Some("ActionEvent"), _) => match self.action {
                Some(Finish { kind, message }) if kind.as_str() == Some("FinishAction") => {
                    Heard::Reply(Reply {
                        text: message.0.into_iter().collect(),
                        reasoning: self.reasoning_content.0,
                    })
                }
                _ => Heard::Other,
            },
            _ => Heard::Other,
        }
    }

    /// Takes the value of one field, and drops it if it is none of an event's.
    fn take<A: MapAccess<'a>>(&mut self, name: Name, map: &mut A) -> Result<(), A::Error> {
        match name {
            Name::Kind => self.kind = map.next_value()?,
            Name::Source => self.source = map.next_value()?,
            Name::Content => self.content = map.next_value()?,
            Name::ReasoningContent => self.reasoning_content = map.next_value()?,
            Name::LlmMessage => self.llm_message = map.next_value()?,
            Name::Action => self.action = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// The names that matter; all others are skipped without a look at their values.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    Kind,
    Source,
    Content,
    ReasoningContent,
    LlmMessage,
    Action,
    Type,
    ItemId,
    Attempt,
    Order,
    Event,
    #[serde(other)]
    Unknown,
}

impl<'de> Deserialize<'de> for Frame<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Frame<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame<'de>, A::Error> {
                let mut frame = Frame::default();
                while let Some(name) = map.next_key()? {
                    match name {
                        Name::Type => frame.type_ = map.next_value()?,
                        Name::ItemId => frame.item_id = map.next_value()?,
                        Name::Attempt => frame.attempt = map.next_value()?,
                        Name::Order => frame.order = map.next_value()?,
                        Name::Event => frame.inner = map.next_value()?,
                        name => frame.event.take(name, &mut map)?,
                    }
                }
                Ok(frame)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for EventFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = EventFields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventFields<'de>, A::Error> {
                let mut event = EventFields::default();
                while let Some(name) = map.next_key()? {
                    event.take(name, &mut map)?;
                }
                Ok(event)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A string, borrowed where it has no escape; nothing for a value of any other type, which is for the strict
/// clients to mind. `Option<Cow<str>>` would copy every string: serde borrows only a bare `Cow`.
#[derive(Debug, Default)]
struct Word<'a>(Option<Cow<'a, str>>);

impl Word<'_> {
    fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyWord)
    }
}

struct AnyWord;

impl<'de> Visitor<'de> for AnyWord {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Word<'de>, E> {
        Ok(Word(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Word<'de>, E> {
        Ok(Word(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Word<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Word(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Word<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Word(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::event;
    use crate::wire::session::SessionDelta;
    use crate::wire::{Dialect, Event, EventBody, Nulls, SessionFrame, Source};

    fn event(source: Source, body: EventBody) -> Event {
        Event { id: "i".into(), timestamp: "t".into(), source, parent_id: None, body }
    }

    fn delta(content: Option<&str>, reasoning: Option<&str>) -> Event {
        let (content, reasoning_content) = (content.map(str::to_owned), reasoning.map(str::to_owned));
        event(Source::Agent, EventBody::StreamingDelta { content, reasoning_content })
    }

    fn message(source: Source) -> Event {
        let (role, text) = ("assistant".into(), "all of it".into());
        let reasoning_content = Some("because".into());
        event(
            source,
            EventBody::Message(event::Message { role, text, reasoning_content, llm_response_id: None }),
        )
    }

    #[test]
    fn a_delta_is_heard_on_either_socket_and_in_every_dialect() {
        let heard = |text: &str| match hear(text).unwrap() {
            Heard::Delta(d) => (d.text.into_owned(), d.reasoning.into_owned(), d.place.map(|p| p.order)),
            other => panic!("{text}: {other:?}"),
        };
        let old = Dialect { nulls: Nulls::Kept, ..Dialect::CURRENT };
        for dialect in [Dialect::CURRENT, old] {
            assert_eq!(
                heard(&delta(Some("tok1 "), None).encode(dialect)),
                ("tok1 ".into(), String::new(), None)
            );
            assert_eq!(
                heard(&delta(None, Some("why1 ")).encode(dialect)),
                (String::new(), "why1 ".into(), None)
            );
            let both = heard(&delta(Some("a\n\"é\""), Some("b")).encode(dialect));
            assert_eq!(both, ("a\n\"é\"".into(), "b".into(), None));
        }
        for reasoning in [false, true] {
            let (item_id, content) = ("i".into(), "x".to_owned());
            let session = SessionDelta { item_id, attempt: 2, order: 7, reasoning, content, chunk: None };
            let said = heard(&SessionFrame::Delta(session).encode());
            let expected = if reasoning { (String::new(), "x".into()) } else { ("x".into(), String::new()) };
            assert_eq!((said.0, said.1, said.2), (expected.0, expected.1, Some(7)));
        }
    }

    #[test]
    fn the_durable_end_is_heard_on_either_socket() {
        let plain = message(Source::Agent).encode(Dialect::CURRENT);
        let inside = SessionFrame::Durable { seq: 3, event: message(Source::Agent) }.encode();
        for text in [plain, inside] {
            let Heard::Reply(reply) = hear(&text).unwrap() else { panic!("{text}") };
            assert_eq!(reply.text, ["all of it"]);
            assert_eq!(reply.reasoning.as_deref(), Some("because"));
        }
        let finish =
            r#"{"source":"agent","action":{"message":"done","kind":"FinishAction"},"kind":"ActionEvent"}"#;
        let Heard::Reply(reply) = hear(finish).unwrap() else { panic!() };
        assert_eq!((reply.text, reply.reasoning), (vec![Cow::Borrowed("done")], None));
    }

    #[test]
    fn the_rest_is_neither() {
        assert_eq!(hear(&message(Source::User).encode(Dialect::CURRENT)).unwrap(), Heard::Asked);
        for other in [
            r#"{"kind":"ConversationStateUpdateEvent","key":"full_state","value":{"content":[1],"kind":"x"}}"#,
            r#"{"kind":"ObservationEvent","action":[],"content":{"a":1},"llm_message":null}"#,
            r#"{"type":"sync"}"#,
            r#"{"type":"transient","event":{"kind":"StreamingDeltaEvent","content":"never so"}}"#,
            r#"{"kind":17,"content":"x"}"#,
        ] {
            match hear(other) {
                Ok(Heard::Other) => {}
                got => panic!("{other}: {got:?}"),
            }
        }
        assert_eq!(hear(r#"{"type":"item_aborted","reason":"cancelled"}"#).unwrap(), Heard::Aborted);
        for bad in ["", "null", "[1]", "{\"kind\":", "{} trailing"] {
            assert!(hear(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn text_without_an_escape_is_borrowed() {
        let frame = delta(Some("tok17 é"), None).encode(Dialect::CURRENT);
        let Heard::Delta(heard) = hear(&frame).unwrap() else { panic!() };
        assert!(matches!(heard.text, Cow::Borrowed("tok17 é")));
    }
}
