//! The client profiles that come with skewlab.

use super::*;
use crate::agent_server::profile::{CLIENT_FILES, Catalogue};

fn client(name: &str) -> ClientChoice {
    Catalogue::embedded().unwrap().client(name).unwrap()
}

#[test]
fn every_file_reads_and_names_itself() {
    for (path, _) in CLIENT_FILES {
        let name = path.trim_start_matches("scenarios/clients/").trim_end_matches(".toml");
        assert_eq!(client(name).profile.about.name, name);
    }
}

#[test]
fn every_trait_that_a_file_sets_has_a_source() {
    let free =
        ["name", "extends", "covers", "era", "summary", "family", "source", "since", "mutant", "what_if"];
    for (path, text) in CLIENT_FILES {
        let table: toml::Table = text.parse().unwrap();
        let sources = table["source"].as_table().unwrap();
        for key in table.keys().filter(|k| !free.contains(&k.as_str())) {
            assert!(sources.contains_key(key), "{path}: no source for `{key}`");
        }
    }
}

#[test]
fn a_release_is_resolved_to_its_era() {
    let rows = [
        ("python-1.10.0", "python-1.30.0"),
        ("python-1.31.0", "python-1.34.0"),
        ("python-1.35.0", "python-1.37.1"),
        ("python-1.47.0", "python-1.55.1"),
        ("python-1.56.0", "python-1.58.2"),
        ("typescript-1.36.1", "typescript-1.39.0"),
        ("browser-1.0.0-alpha.5", "browser-1.0.0-alpha.10"),
        ("browser-1.0.0", "browser-1.4.0"),
        ("browser-1.2.0", "browser-1.4.0"),
        ("browser-1.7.2", "browser-1.14.0"),
        ("browser-1.16.0", "browser-1.20.0"),
    ];
    for (name, era) in rows {
        let profile = client(name).profile;
        assert_eq!((profile.about.name.as_str(), profile.release_name.as_str()), (era, name));
    }
    for beyond in ["python-1.9.0", "python-1.59.0", "browser-1.21.0", "browser-1.7.0", "typescript-1.40.0"] {
        assert!(Catalogue::embedded().unwrap().client(beyond).is_err(), "{beyond}");
    }
}

#[test]
fn a_client_without_a_socket_is_the_same_client_otherwise() {
    let plain = client("typescript-1.39.0").profile.traits;
    let without = client("typescript-1.39.0+no-shim").profile.traits;
    assert_eq!(plain.connect.socket, SocketSupport::Available);
    assert_eq!(without.connect.socket, SocketSupport::Unavailable);
    assert_eq!(without.connect.auth, plain.connect.auth);
    assert_eq!(without.failure.json.key, plain.failure.json.key);
    // A range of releases is the plain profile's alone.
    assert_eq!(client("typescript-1.38.0").profile.traits.connect.socket, SocketSupport::Available);
}

#[test]
fn traits_change_within_an_era() {
    let auth = |name: &str| client(name).profile.traits.connect.auth;
    assert_eq!((auth("python-1.26.0"), auth("python-1.27.0")), (Auth::Query, Auth::QueryEncoded));
    assert_eq!((auth("python-1.37.1"), auth("python-1.38.0")), (Auth::QueryEncoded, Auth::FirstFrame));
    assert_eq!((auth("browser-1.6.1"), auth("browser-1.7.2")), (Auth::Query, Auth::FirstFrame));
    let least = |name: &str| client(name).profile.traits.connect.min_server.map(|least| least.to_string());
    assert_eq!(least("browser-1.0.0-alpha.10"), None);
    for name in ["browser-1.0.0", "browser-1.6.1", "browser-1.14.0", "browser-1.20.0"] {
        assert_eq!(least(name).as_deref(), Some("1.28.0"), "{name}");
    }
    assert_eq!(least("python-1.58.2"), None);
    let finalise = |name: &str| client(name).profile.traits.store.finalise;
    assert_eq!(finalise("browser-1.0.0"), Finalise::MatchSegmentsExact);
    assert_eq!(finalise("browser-1.2.0"), Finalise::MatchSegmentsTrimmed);
    assert_eq!(finalise("browser-1.6.1"), Finalise::Supersede);
}

#[test]
fn a_users_folder_adds_clients() {
    let dir = tempfile::tempdir().unwrap();
    let clients = dir.path().join("clients");
    std::fs::create_dir(&clients).unwrap();
    let text = "name = 'mine'\nextends = 'typescript-1.39.0'\nsummary = 's'\nshows = ['text', 'reasoning']\n";
    std::fs::write(clients.join("mine.toml"), text).unwrap();
    let catalogue = Catalogue::embedded().unwrap().with_dir(dir.path()).unwrap();
    assert_eq!(catalogue.client("mine").unwrap().profile.traits.shows.len(), 2);
}

#[test]
fn a_typing_error_in_a_trait_points_at_its_line() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("clients")).unwrap();
    let text =
        "name = 'mine'\nextends = 'typescript-1.39.0'\nsummary = 's'\n[store]\nfinalise = 'supercede'\n";
    std::fs::write(dir.path().join("clients/mine.toml"), text).unwrap();
    let catalogue = Catalogue::embedded().unwrap().with_dir(dir.path()).unwrap();
    let error = catalogue.client("mine").unwrap_err().to_string();
    assert!(error.contains("mine.toml") && error.contains("supercede"), "{error}");
}

#[test]
fn a_bounded_queue_of_nothing_is_refused() {
    let read = |frames: u64| {
        toml::from_str::<IntakeTraits>(&format!("queue = \"bounded\"\nqueue_frames = {frames}"))
    };
    assert_eq!((read(1).unwrap().queue_frames.get(), IntakeTraits::default().queue_frames.get()), (1, 64));
    assert!(read(0).unwrap_err().to_string().contains("nonzero"), "{}", read(0).unwrap_err());
}
