//! What a server advertises, and what a client takes, as `OpenAPI` documents made of traits and the event vocabulary.
//!
//! The document holds the union of events with all that it leads to, and the endpoints that return events. Nothing else of
//! the real document is in it, and what is not known says so (`x-skewlab`).

mod data;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::data::{Answer, Endpoint};
use super::client::event_model::{EventModel, Family, Options, Side};
use super::profile::client::DecodeStyle;
use super::profile::server::DeltaClass;
use super::profile::{ClientTraits, Profile, ProfileError, ServerTraits};
use crate::openapi::{Document, NOT_MODELLED};
use crate::unit::Release;
use crate::wire::DELTA_KIND;

pub use data::{Unlogged, unlogged};

/// The document that `GET /openapi.json` answers.
///
/// Errors when the profile is built on no release, whose event classes nobody knows, and when the vocabulary contradicts
/// itself.
pub fn document(profile: &Profile<ServerTraits>) -> Result<Value, ProfileError> {
    let release = profile.release.as_ref().ok_or_else(|| nameless(&profile.release_name))?;
    of(release, &profile.traits)
}

/// The same for a release and its traits.
pub(super) fn of(release: &Release, traits: &ServerTraits) -> Result<Value, ProfileError> {
    let data = data::data()?;
    let standalone = traits.delta.class == DeltaClass::Standalone;
    let events = Options { delta_is_event: !standalone, server: true, ..Options::default() };
    let mut events = EventModel::advertised(release, events, Side::Sent, &data.not_modelled)?;
    if standalone && traits.openapi.names_delta {
        events.schemas.extend(alone(release, Side::Sent)?);
    }
    let members = data.ordered(&events.kinds)?;
    let mapping: Map<String, Value> =
        members.iter().map(|(kind, word)| (word.clone(), reference(kind).into())).collect();
    let union = json!({
        "oneOf": members.iter().map(|(kind, _)| json!({"$ref": reference(kind)})).collect::<Vec<_>>(),
        "discriminator": {"propertyName": data.discriminator, "mapping": mapping},
    });
    events.schemas.insert(data.union.clone(), union);
    let mut paths = Map::new();
    for endpoint in data.endpoints(release) {
        if endpoint.answer == Answer::Page {
            events.schemas.insert("EventPage".to_owned(), page(&data.union));
        }
        paths.insert(endpoint.path.clone(), answering(endpoint, &data.union));
    }
    Ok(json!({
        "openapi": data.openapi,
        "info": {"title": data.title, "version": release.to_string()},
        "paths": paths,
        "components": {"schemas": sorted(events.schemas)},
        NOT_MODELLED: "emulated: the events, what they lead to, and the endpoints that return them; as in every release, \
                       no socket is in the document",
    }))
}

/// What a client's event model takes, as a document without endpoints; `None` for a client without an event model.
///
/// Errors as [`document`] does.
pub fn intake(profile: &Profile<ClientTraits>) -> Result<Option<Document>, ProfileError> {
    let decode = profile.traits.decode;
    if decode.style != DecodeStyle::EventModel {
        return Ok(None);
    }
    let release = profile.release.as_ref().ok_or_else(|| nameless(&profile.release_name))?;
    let data = data::data()?;
    let options = Options { delta_is_event: decode.delta_is_event, ..Options::default() };
    let mut events = EventModel::advertised(release, options, Side::Taken, &data.not_modelled)?;
    if decode.delta_first {
        // Looked at before the event model sees the frame: known, whatever the union says.
        events.schemas.extend(alone(release, Side::Taken)?);
        events.kinds.retain(|kind| kind != DELTA_KIND);
        events.kinds.push(DELTA_KIND.to_owned());
    }
    let members: Vec<Value> = events.kinds.iter().map(|kind| json!({"$ref": reference(kind)})).collect();
    let union = json!({"oneOf": members, "discriminator": {"propertyName": data.discriminator}});
    events.schemas.insert(data.union.clone(), union);
    let value = json!({
        "openapi": data.openapi,
        "info": {"title": profile.release_name, "version": release.to_string()},
        "components": {"schemas": sorted(events.schemas)},
    });
    let read = Document::of(&profile.release_name, &value);
    read.map(Some).map_err(|e| ProfileError::Invalid { path: data::PATH.to_owned(), message: e.to_string() })
}

/// The delta's own class, which is no event.
fn alone(release: &Release, side: Side) -> Result<BTreeMap<String, Value>, ProfileError> {
    let options = Options { family: Family::Standalone, ..Options::default() };
    Ok(EventModel::advertised(release, options, side, &[])?.schemas)
}

fn nameless(name: &str) -> ProfileError {
    ProfileError::Invalid {
        path: format!("profile `{name}`"),
        message: "it is built on no release, so nobody knows its event classes; `extends` a release"
            .to_owned(),
    }
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

fn sorted(schemas: BTreeMap<String, Value>) -> Map<String, Value> {
    schemas.into_iter().collect()
}

fn page(union: &str) -> Value {
    let items = json!({"type": "array", "items": {"$ref": reference(union)}});
    let next = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    json!({"type": "object", "properties": {"items": items, "next_page_id": next}, "required": ["items"]})
}

fn answering(endpoint: &Endpoint, union: &str) -> Value {
    let one = json!({"$ref": reference(union)});
    let schema = match endpoint.answer {
        Answer::Event => one,
        Answer::Events => json!({"type": "array", "items": {"anyOf": [one, {"type": "null"}]}}),
        Answer::Page => json!({"$ref": reference("EventPage")}),
        Answer::Untyped => json!({}),
    };
    json!({"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;

    fn read(server: &str) -> Document {
        let profile = Catalogue::embedded().unwrap().server(server).unwrap();
        Document::of(server, &document(&profile).unwrap()).unwrap()
    }

    fn members(server: &str) -> Vec<String> {
        read(server).union("Event").unwrap().members.clone()
    }

    #[test]
    fn the_members_of_an_era_come_out_of_its_classes() {
        for (server, count) in
            [("1.22.0", 18), ("1.30.0", 19), ("1.43.1", 19), ("1.53.0", 19), ("1.58.2", 20)]
        {
            assert_eq!(members(server).len(), count, "{server}");
        }
        let new: Vec<String> =
            members("1.58.2").into_iter().filter(|m| !members("1.43.1").contains(m)).collect();
        assert_eq!(new, ["SecurityAnalysisEvent"]);
        assert_eq!(members("1.58.2+step7").len(), 20, "the class stays when nothing is made of it");
    }

    #[test]
    fn stage_a_loses_the_delta_and_stage_d_brings_it_back_alone() {
        for server in ["1.43.1+A", "1.43.1+AB", "1.43.1+ABC"] {
            assert!(!read(server).schemas.contains_key(DELTA_KIND), "{server}");
            assert_eq!(members(server).len(), 18, "{server}");
        }
        for server in ["1.43.1+ABCD", "1.58.2+ABCD"] {
            let document = read(server);
            assert!(document.schemas.contains_key(DELTA_KIND), "{server}");
            assert!(!document.answered().contains(DELTA_KIND), "{server}: no endpoint refers to it");
            assert!(!members(server).iter().any(|m| m == DELTA_KIND), "{server}");
        }
    }

    #[test]
    fn search_had_a_schema_until_it_answered_by_hand() {
        assert_eq!(read("1.30.0").answering("Event").len(), 3);
        assert_eq!(read("1.31.1").answering("EventPage").len(), 1);
        assert_eq!(read("1.43.1").answering("Event").len(), 2);
        assert!(!read("1.43.1").schemas.contains_key("EventPage"));
    }

    #[test]
    fn every_server_has_a_document_and_every_strict_client_an_intake() {
        let catalogue = Catalogue::embedded().unwrap();
        for about in catalogue.servers().all() {
            assert!(!read(&about.name).operations.is_empty(), "{}", about.name);
        }
        let mut strict = 0;
        for about in catalogue.clients().all() {
            let profile = catalogue.client(&about.name).unwrap().profile;
            strict += usize::from(intake(&profile).unwrap().is_some());
        }
        assert_eq!(strict, 12, "the Python clients, three what-ifs among them");
    }

    #[test]
    fn a_client_without_stage_c_has_no_place_for_the_delta() {
        let knows = |client: &str| {
            let profile = Catalogue::embedded().unwrap().client(client).unwrap().profile;
            intake(&profile).unwrap().unwrap().union("Event").unwrap().members.iter().any(|m| m == DELTA_KIND)
        };
        assert!(knows("python-1.43.1") && knows("python-1.43.1+ABC") && !knows("python-1.43.1+AB"));
    }
}
