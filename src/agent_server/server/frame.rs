//! The text of a delta's frame on the legacy socket.

use serde_json::{Map, Value};

use crate::agent_server::profile::ServerTraits;
use crate::wire::{Event, Mutation};

/// The frame that a server with these traits sends for a delta, after `mutation`.
pub fn delta_frame(traits: &ServerTraits, event: &Event, mutation: &Mutation) -> String {
    mutation.apply(delta_object(traits, event))
}

/// The fields of a delta that the release has, by the name that it has there.
pub(super) fn delta_object(traits: &ServerTraits, event: &Event) -> Map<String, Value> {
    let delta = &traits.delta;
    let mut object = event.to_object(traits.wire);
    object.retain(|field, _| field == "kind" || delta.fields.contains(field));
    object.insert("kind".to_owned(), delta.kind.as_str().into());
    object
}
