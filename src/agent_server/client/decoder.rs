//! From bytes to a value that the client understands.

use std::borrow::Cow;

use serde_json::Value;

use super::Incoming;
use super::event_model::{EventModel, Family, Options, Rejection};
use crate::agent_server::profile::client::{Binary, ClientTraits, DecodeStyle, DecodeTraits, JsonTraits};
use crate::agent_server::profile::{Profile, ProfileError};
use crate::record::{Hop, Reason};
use crate::wire::DELTA_KIND;
use crate::wire::json;

/// A frame that did not become a value.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) hop: Hop,
    pub(super) reason: Reason,
    /// The exception, for a person.
    pub(super) detail: String,
}

/// A client's way of decoding.
#[derive(Debug)]
pub(super) struct Decoder {
    json: JsonTraits,
    how: How,
}

#[derive(Debug)]
enum How {
    Model {
        events: EventModel,
        /// Stage C: the delta's own class, looked at before the events.
        delta: Option<EventModel>,
    },
    Open,
    Frames,
}

impl Decoder {
    pub(super) fn new(profile: &Profile<ClientTraits>) -> Result<Decoder, ProfileError> {
        let traits = &profile.traits;
        let how = match traits.decode.style {
            DecodeStyle::EventModel => model(profile, traits.decode)?,
            DecodeStyle::Open => How::Open,
            DecodeStyle::SessionFrames => How::Frames,
        };
        Ok(Decoder { json: traits.json, how })
    }

    /// The value of a frame.
    pub(super) fn decode(&self, frame: Incoming<'_>) -> Result<Value, Refused> {
        let text = text(frame, self.json.binary).ok_or_else(|| not_json("not text"))?;
        let parse = || json::parse(&text, self.json.reader).map_err(|e| unread(&e));
        match &self.how {
            How::Model { events, delta: None } => events.decode(&text).map(|d| d.value).map_err(rejected),
            How::Model { events, delta: Some(delta) } => {
                let kind = parse().ok().and_then(|v| v.get("kind")?.as_str().map(str::to_owned));
                let model = if kind.as_deref() == Some(DELTA_KIND) { delta } else { events };
                model.decode(&text).map(|d| d.value).map_err(rejected)
            }
            How::Open => parse(),
            How::Frames => {
                let value = parse()?;
                match value.get("type") {
                    Some(Value::String(_)) => Ok(value),
                    _ => Err(Refused {
                        hop: Hop::Decoded,
                        reason: Reason::new("no_type"),
                        detail: "a frame without a type".to_owned(),
                    }),
                }
            }
        }
    }
}

fn model(profile: &Profile<ClientTraits>, decode: DecodeTraits) -> Result<How, ProfileError> {
    let release = profile.release.as_ref().ok_or_else(|| ProfileError::Invalid {
        path: profile.about.name.clone(),
        message: "`decode.style = \"event-model\"` needs a name that ends in a release".to_owned(),
    })?;
    let at = |family| {
        let delta_is_event = decode.delta_is_event;
        EventModel::at(release, Options { delta_is_event, family, ..Options::default() })
    };
    let delta = decode.delta_first.then(|| at(Family::Standalone)).transpose()?;
    Ok(How::Model { events: at(Family::Event)?, delta })
}

fn text(frame: Incoming<'_>, binary: Binary) -> Option<Cow<'_, str>> {
    match (frame, binary) {
        (Incoming::Text(text), _) => Some(Cow::Borrowed(text)),
        (Incoming::Binary(bytes), Binary::Utf8) => {
            // A byte order mark is fine in bytes and an error in a string (run on CPython 3.12 and 3.13).
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
        }
        (Incoming::Binary(bytes), Binary::Lossy) => Some(String::from_utf8_lossy(bytes)),
        (Incoming::Binary(_), Binary::Blob) => None,
    }
}

fn not_json(detail: &str) -> Refused {
    Refused { hop: Hop::Parsed, reason: Reason::new("not_json"), detail: detail.to_owned() }
}

/// A text that is no JSON, or that skewlab does not follow to its end.
fn unread(fault: &json::JsonFault) -> Refused {
    let reason = match fault {
        json::JsonFault::TooDeep => Reason::new("too_deep"),
        _ => Reason::new("not_json"),
    };
    Refused { hop: Hop::Parsed, reason, detail: fault.to_string() }
}

/// An error and its place; the frame as a whole has none.
fn placed(code: &str, at: &str) -> String {
    if at.is_empty() { code.to_owned() } else { format!("{code} at `{at}`") }
}

fn rejected(rejection: Rejection) -> Refused {
    let details: Vec<String> = rejection.details.iter().map(|(code, at)| placed(code, at)).collect();
    let colon = if details.is_empty() { "" } else { ": " };
    let detail = format!("{}{colon}{}", rejection.error.as_str(), details.join(", "));
    Refused { hop: rejection.hop, reason: rejection.reason, detail }
}
