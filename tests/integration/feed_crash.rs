//! Writers that are killed: what is in the file is what was durable, and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rand::RngExt as _;
use skewlab::seed::Seed;
use skewlab::session_feed::chunk::BlockKind;
use skewlab::session_feed::consumer::Consumer;
use skewlab::session_feed::fault::Fault;
use skewlab::session_feed::play::{self, Listeners};
use skewlab::session_feed::profile::Variants;
use skewlab::session_feed::script::Script;
use skewlab::session_feed::store::crash::{Kill, Plan, Played, Seeded, Told};
use skewlab::session_feed::store::{FlushPolicy, JsonlStore, Memory, StoreError, StoreKind};
use skewlab::session_feed::writer::{Writes, written_by_child};

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_skewlab").into()
}

fn plan(policy: &str, seed: u64, kill_at: Option<u64>) -> Plan {
    let (policy, session) = (policy.parse().unwrap(), format!("seed-{seed}"));
    let (store, events) = (StoreKind::JsonLines, Played::Seeded(seed));
    Plan { store, policy, packed: seed.is_multiple_of(2), session, events, kill_at, quiet_until: None }
}

/// What memory holds of the plan's log, and what its writer says last of what is appended and what is durable.
fn in_memory(plan: &Plan) -> (Vec<u8>, (u64, u64)) {
    let mut said = (0, 0);
    let store = JsonlStore::new(Memory::default(), &plan.session, plan.packed);
    let played = plan.play::<_, StoreError>(store, |told| {
        match told {
            Told::Appended(n) => said.0 = n,
            Told::Durable(n) => said.1 = n,
            Told::Stopped => {}
        }
        Ok(())
    });
    (played.unwrap().store().medium().durable().to_vec(), said)
}

fn killed(dir: &Path, plan: &Plan) {
    let file = dir.join("log.jsonl");
    let left = written_by_child(&program(), &Writes::Log(plan.clone()), &file, Kill::WhenStopped).unwrap();
    let (bytes, said) = in_memory(plan);
    assert_eq!((left.appended, left.durable), said, "{plan:?}");
    assert_eq!(left.appended, plan.kill_at.unwrap() + 1, "{plan:?}");
    let found = if file.exists() { std::fs::read(&file).unwrap() } else { Vec::new() };
    assert!(found == bytes, "{plan:?}: {} bytes in the file and {} in memory", found.len(), bytes.len());
    let Played::Seeded(seed) = plan.events else { unreachable!() };
    let stored = left.loaded.as_ref().map_or(&[][..], |loaded| loaded.stored_events());
    assert_eq!(stored.len() as u64, left.durable, "{plan:?}");
    assert!(
        stored.iter().map(|event| &**event).eq(&Seeded::new(seed).take(stored.len()).collect::<Vec<_>>())
    );
    let _ = std::fs::remove_file(&file);
}

#[test]
fn a_killed_writer_leaves_byte_for_byte_what_memory_holds_at_that_point() {
    let dir = tempfile::tempdir().unwrap();
    for policy in ["turn-end", "window-200ms", "every-event"] {
        let mut rng = Seed(17).derive(policy).rng();
        let mut durable = BTreeSet::new();
        for seed in 0..50 {
            let plan = plan(policy, seed, Some(rng.random_range(0..150)));
            durable.insert(in_memory(&plan).1.1);
            killed(dir.path(), &plan);
        }
        assert!(durable.len() > 5, "{policy}: the kills are all alike: {durable:?}");
    }
}

#[test]
fn a_list_of_events_is_played_as_well_and_its_end_is_a_place_to_stop() {
    let dir = tempfile::tempdir().unwrap();
    let listed = Played::Listed(Seeded::new(3).take(40).collect());
    let plan = Plan { events: listed, ..plan("window-200ms", 3, None) };
    let file = dir.path().join("log.jsonl");
    let left = written_by_child(&program(), &Writes::Log(plan.clone()), &file, Kill::WhenStopped).unwrap();
    assert_eq!((left.appended, left.durable), in_memory(&plan).1);
    assert_eq!(left.appended, 40);
    assert_eq!(std::fs::read(&file).unwrap(), in_memory(&plan).0);
}

/// The agent loop plays in this process; the child writes the events that it had appended when it was killed.
#[test]
fn a_killed_session_is_the_same_file_and_the_same_loss_as_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let variants = Variants::embedded().unwrap();
    let words: Vec<String> = (0..30).map(|n| format!("w{n} ")).collect();
    let pieces: Vec<_> = words.iter().map(|word| (BlockKind::Text, word.as_str())).collect();
    let script = Script::of("hi", &pieces, 50.0);
    let mut durable = BTreeSet::new();
    for name in ["mirrored", "mirror-removed", "transient-only", "embedded"] {
        let variant = variants.get(name).unwrap();
        for policy in ["turn-end", "window-200ms", "every-event"] {
            for k in [1, 11, 30] {
                let virtual_run = |policy: FlushPolicy| play::Plan {
                    variant: &variant,
                    consumer: Consumer::SnapshotReplay,
                    script: &script,
                    fault: Fault::Kill(k),
                    policy,
                    packed: true,
                    listeners: Listeners::default(),
                    sessions: 1,
                };
                let policy: FlushPolicy = policy.parse().unwrap();
                let run = virtual_run(policy);
                let file = dir.path().join(format!("{name}-{policy}-{k}"));
                let writes = Writes::Session(Box::new(play::Sent::of(&run)));
                let left = written_by_child(&program(), &writes, &file, Kill::WhenStopped).unwrap();
                let bytes = std::fs::read(&file).unwrap_or_default();
                assert!(bytes == play::stored_bytes(&run), "{name} {policy} {k}");
                durable.insert(left.durable);
                let there = play::play_against(&run, left.loaded.map(Ok));
                assert_eq!(there, play::play(&run), "{name} {policy} {k}");
            }
        }
    }
    assert!(durable.len() > 4 && durable.contains(&0), "the crashes are all alike: {durable:?}");
}

#[test]
fn a_writer_killed_at_any_moment_has_everything_that_it_said_was_durable() {
    for store in StoreKind::ALL {
        let dir = tempfile::tempdir().unwrap();
        let mut rng = Seed(23).derive("moments").rng();
        let mut with_events = 0;
        for kill in 0..20 {
            let policy = ["window-200ms", "turn-end", "every-event", "window-5000ms"][kill % 4];
            let file = dir.path().join(kill.to_string());
            let after = Duration::from_millis(rng.random_range(20..250));
            let plan = Plan { store: *store, ..plan(policy, kill as u64, None) };
            let left =
                written_by_child(&program(), &Writes::Log(plan.clone()), &file, Kill::After(after)).unwrap();
            let stored = left.loaded.as_ref().map_or(&[][..], |loaded| loaded.stored_events());
            let count = stored.len() as u64;
            // The last batch may be durable without that anybody was told so.
            assert!(count >= left.durable, "{store} {policy}: {count} of {}", left.durable);
            let mut appended = Seeded::new(kill as u64);
            assert!(
                stored.iter().all(|event| Some(&**event) == appended.next().as_ref()),
                "{store} {policy}"
            );
            assert!(left.appended >= count, "{store} {policy}: {count} stored, {} appended", left.appended);
            with_events += u32::from(left.durable > 0);
        }
        assert!(with_events >= 10, "{store}: only {with_events} of 20 had written anything");
    }
}

#[test]
fn every_store_has_what_was_durable_where_the_writer_was_stopped() {
    for store in StoreKind::ALL {
        let dir = tempfile::tempdir().unwrap();
        for (policy, at) in [("turn-end", 130), ("window-200ms", 77), ("every-event", 50)] {
            let plan = Plan { store: *store, ..plan(policy, 6, Some(at)) };
            let left = written_by_child(
                &program(),
                &Writes::Log(plan.clone()),
                &dir.path().join(policy),
                Kill::WhenStopped,
            )
            .unwrap();
            assert_eq!((left.appended, left.durable), in_memory(&plan).1, "{store} {policy}");
            let loaded = left.loaded.unwrap();
            let appended: Vec<_> = Seeded::new(6).take(loaded.stored_events().len()).map(Rc::new).collect();
            assert_eq!(loaded.stored_events(), appended, "{store} {policy}");
            assert_eq!(appended.len() as u64, left.durable, "{store} {policy}");
        }
    }
}

#[test]
fn a_writer_that_ends_by_itself_is_an_error_with_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.jsonl");
    std::fs::write(&file, "mine").unwrap();
    let error =
        written_by_child(&program(), &Writes::Log(plan("turn-end", 1, Some(3))), &file, Kill::WhenStopped)
            .unwrap_err();
    assert!(error.to_string().contains("never written over another file"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}
