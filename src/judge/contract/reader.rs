//! A client, as far as it reads events.

use crate::agent_server::advertised::intake;
use crate::agent_server::profile::client::{Application, ClientTraits, Guard};
use crate::agent_server::profile::{Profile, ProfileError};
use crate::openapi::{Document, Extra, Field, Taken};
use crate::record::{Signal, holds_certificate};

use super::EVENT;

/// A client, as far as it reads events.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The client.
    pub name: String,
    /// Whether its profile holds a certificate of agreement with the released package.
    pub certified: bool,
    /// What its event model takes; `None` for a client that takes any value.
    model: Option<Document>,
    traits: ClientTraits,
}

impl Reader {
    /// The client of that profile.
    ///
    /// Errors when nobody knows its event model.
    pub fn of(profile: &Profile<ClientTraits>) -> Result<Reader, ProfileError> {
        Ok(Reader {
            name: profile.release_name.clone(),
            certified: holds_certificate(&profile.about.name),
            model: intake(profile)?,
            traits: profile.traits.clone(),
        })
    }

    /// How loud it is when its event model refuses a frame.
    pub(super) fn refusal(&self) -> Signal {
        self.traits.failure.decode.signal
    }

    /// How loud it is when its guard drops a frame.
    pub(super) fn dropping(&self) -> Signal {
        self.traits.failure.guard.signal
    }

    /// Whether its event model has no place for that kind of event. A client without one takes any kind.
    pub(super) fn refuses_kind(&self, kind: &str) -> bool {
        let Some(model) = &self.model else { return false };
        !model.union(EVENT).is_some_and(|events| events.members.iter().any(|m| m == kind))
    }

    /// Whether its event model has the schema, forbids other keys in it, and has no such field.
    pub(super) fn forbids(&self, schema: &str, field: &str) -> bool {
        let object = self.model.as_ref().and_then(|model| model.object(schema));
        object.is_some_and(|o| o.extra == Extra::Forbidden && !o.fields.contains_key(field))
    }

    /// Whether its event model refuses the schema without that field.
    pub(super) fn needs(&self, schema: &str, field: &str) -> bool {
        self.field(schema, field).is_some_and(|f| f.required)
    }

    /// Whether its event model took everything that a field could be, and does not now.
    pub(super) fn refuses_more(&self, schema: &str, field: &str, before: &Field, after: &Field) -> bool {
        self.field(schema, field).is_some_and(|own| {
            own.term.takes(&before.term) == Taken::All && own.term.takes(&after.term) == Taken::NotAll
        })
    }

    fn field(&self, schema: &str, field: &str) -> Option<&Field> {
        self.model.as_ref()?.object(schema)?.fields.get(field)
    }

    /// Whether its guard wants `id`, `timestamp` and one of four sources of every event.
    pub(super) fn guards(&self) -> bool {
        self.traits.guard == Guard::BaseEvent
    }

    /// Whether a person sees streamed text by way of the delta event.
    pub(super) fn shows_deltas(&self) -> bool {
        self.traits.streams && self.traits.application.kind != Application::Slots
    }

    /// Whether its application finds deltas by comparing the kind itself, whatever decoded the frame.
    pub(super) fn compares_kind(&self) -> bool {
        self.shows_deltas() && self.traits.application.kind != Application::Callbacks
    }

    /// Whether it takes any value for a text that it shows.
    pub(super) fn shows_anything(&self) -> bool {
        self.shows_deltas() && self.model.is_none()
    }
}
