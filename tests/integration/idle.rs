//! The idle clocks: what the facts and the recordings say of each era, and what nobody has released yet.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::server::{Chunk, Clock, Finish, IdleClocks, Script, Server, ServerConfig};
use skewlab::record::idle::ServerIdle;
use skewlab::run::{IdlePlan, watch_idle};
use skewlab::seed::Seed;
use tokio::time::{Instant, sleep, sleep_until};

use crate::fixtures;
use crate::runs::Folder;

const FORTY_MINUTES_S: u64 = 2400;

fn plan(seconds: u64) -> IdlePlan {
    let client = Catalogue::embedded().unwrap().client("python-1.58.2").unwrap();
    IdlePlan {
        rate: 1.0,
        duration: Duration::from_secs(seconds),
        reap_after: Duration::from_mins(20),
        warm_up: 0,
        clients: vec![("python-1.58.2".to_owned(), client)],
        seed: Seed(1),
    }
}

fn idle_on(catalogue: &Catalogue, server: &str, plan: &IdlePlan) -> ServerIdle {
    watch_idle(server, &catalogue.server(server).unwrap(), plan).unwrap()
}

fn idle(server: &str, plan: &IdlePlan) -> ServerIdle {
    idle_on(&Catalogue::embedded().unwrap(), server, plan)
}

#[expect(clippy::float_cmp, reason = "virtual time is a whole number of milliseconds")]
fn same(a: f64, b: f64) -> bool {
    a == b
}

#[test]
fn a_75_s_stream_peaks_at_75_s_without_a_heartbeat_and_at_30_s_with_one() {
    // Measured upstream (#4790): 75 s and 29 s, in whole seconds and sampled.
    for (server, peak) in [
        ("1.43.1", 1.0),
        ("1.44.1", 75.0),
        ("1.45.0", 30.0),
        ("1.58.2", 30.0),
        ("1.43.1+A", 1.0),
        ("1.43.1+AB", 75.0),
        ("1.58.2+AB", 30.0),
        ("1.44.1+per-token", 1.0),
        ("1.44.1+throttled", 30.0),
        ("1.44.1+heartbeat", 30.0),
    ] {
        let idle = idle(server, &plan(75));
        assert!(same(idle.peak_idle_s, peak), "{server}: {}", idle.peak_idle_s);
        assert!(same(idle.streamed_s, 75.0) && idle.tokens == 75, "{server}");
        assert_eq!(idle.clients[0].delivered, 75, "{server}");
    }
}

/// ⌈T / 30⌉ + 1, the bound of #4790.
fn bound(seconds: u64) -> u64 {
    seconds.div_ceil(30) + 1
}

#[test]
fn a_heartbeat_writes_by_the_clock_and_everything_before_it_by_the_token() {
    for seconds in [1, 29, 30, 31, 75, 600] {
        for server in ["1.45.0", "1.58.2", "1.58.2+AB", "1.44.1+heartbeat", "1.44.1+throttled"] {
            let writes = idle(server, &plan(seconds)).writes;
            assert!(writes.process <= bound(seconds), "{server}, {seconds} s: {}", writes.process);
            assert_eq!(writes.process, seconds.div_ceil(30), "{server}, {seconds} s");
        }
        for server in ["1.22.0", "1.36.1", "1.43.1", "1.43.1+A", "1.44.1+per-token"] {
            let idle = idle(server, &plan(seconds));
            assert_eq!(idle.writes.process, seconds, "{server}, {seconds} s");
            assert!(same(idle.writes_per_token.process, 1.0), "{server}");
            assert!(seconds < 3 || idle.writes.process > bound(seconds), "the bound can be broken");
        }
        assert_eq!(idle("1.44.1", &plan(seconds)).writes.process, 0);
    }
    // Ten times the tokens are ten times the writes, or none more.
    let fast = IdlePlan { rate: 10.0, ..plan(60) };
    assert_eq!(idle("1.43.1", &fast).writes.process, 600);
    assert_eq!(idle("1.45.0", &fast).writes.process, 2);
}

#[test]
fn each_consumer_writes_its_own_clocks() {
    let writes = |server| {
        let writes = idle(server, &plan(60)).writes;
        (writes.process, writes.updated_at, writes.eviction)
    };
    assert_eq!(writes("1.36.1"), (60, 60, None), "no eviction clock before 1.37.1");
    assert_eq!(writes("1.37.0"), (60, 60, None));
    assert_eq!(writes("1.37.1"), (60, 60, Some(60)));
    assert_eq!(writes("1.44.1"), (0, 0, Some(0)));
    assert_eq!(writes("1.45.0"), (2, 0, Some(0)), "the producer writes the process clock alone");
    assert_eq!(
        writes("1.44.1+throttled"),
        (2, 2, Some(60)),
        "#4706: touched by each delta, shared clocks throttled"
    );
    assert_eq!(writes("1.44.1+per-token"), (60, 0, Some(0)));
}

#[test]
fn forty_minutes_without_a_durable_event_are_reaped_where_deltas_reach_no_clock() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut reaped = Vec::new();
    for about in catalogue.servers().all() {
        let idle = idle(&about.name, &plan(FORTY_MINUTES_S));
        if let Some(at) = idle.reaped_at_s {
            assert!(same(at, 1200.0) && same(idle.peak_idle_s, 2400.0), "{}: {at}", about.name);
            reaped.push(about.name.clone());
        }
        assert_eq!(idle.evicted_at_s, None, "{}", about.name);
    }
    // Stage B takes the deltas off the bus that the idle clocks hang on, as the flag of 1.44.1 did: with no heartbeat
    // the second bus brings #4695 back.
    assert_eq!(reaped, ["1.44.1", "1.43.1+AB", "1.43.1+ABC", "1.43.1+ABCD"]);
}

#[test]
fn the_reaper_looks_at_the_limit_that_it_was_given() {
    let reaped = |server, minutes| {
        let reap_after = Duration::from_mins(minutes);
        idle(server, &IdlePlan { reap_after, ..plan(600) }).reaped_at_s
    };
    assert_eq!(reaped("1.44.1", 5), Some(300.0));
    assert_eq!(reaped("1.44.1", 11), None, "the stream is over before");
    let half = IdlePlan { reap_after: Duration::from_secs(29), ..plan(600) };
    assert_eq!(idle("1.45.0", &half).reaped_at_s, Some(29.0), "a heartbeat of 30 s is too slow for 29");
    let slow = IdlePlan { rate: 0.02, reap_after: Duration::from_secs(45), ..plan(600) };
    assert_eq!(idle("1.43.1", &slow).reaped_at_s, Some(45.0), "50 s between two tokens");
}

#[test]
fn a_warm_up_in_the_same_conversation_spends_the_throttle() {
    let warm = |tokens| IdlePlan { warm_up: tokens, ..plan(75) };
    for server in ["1.45.0", "1.58.2", "1.44.1+throttled"] {
        assert_eq!(idle(server, &plan(75)).first_refresh_s, Some(0.0), "{server}");
        let idle = idle(server, &warm(1));
        // Measured: the first refresh at about 29 s instead of at once.
        assert_eq!((idle.first_refresh_s, idle.writes.process), (Some(29.0), 2), "{server}");
        assert_eq!(idle.clients[0].delivered, 76, "{server}: the warm-up was seen too");
    }
    assert_eq!(idle("1.45.0", &warm(30)).first_refresh_s, Some(0.0), "after 30 s the throttle is free again");
    assert_eq!(idle("1.44.1+per-token", &warm(1)).first_refresh_s, Some(0.0), "nothing to spend");
    assert_eq!(idle("1.44.1", &warm(1)).first_refresh_s, None);
}

#[test]
fn an_eviction_would_be_seen() {
    let folder = Folder::new();
    folder.profile("servers", "1.44.1+evicts", "1.44.1", "[mutant]\nevict_busy = true");
    folder.profile("servers", "1.43.1+evicts", "1.43.1", "[mutant]\nevict_busy = true");
    folder.profile("servers", "1.36.1+evicts", "1.36.1", "[mutant]\nevict_busy = true");
    let catalogue = folder.catalogue();
    let evicted = |server| idle_on(&catalogue, server, &plan(FORTY_MINUTES_S)).evicted_at_s;
    assert_eq!(evicted("1.44.1+evicts"), Some(1200.0), "the sweep is every 600 s");
    assert_eq!(evicted("1.43.1+evicts"), None, "each token touches the clock");
    assert_eq!(evicted("1.36.1+evicts"), None, "there is no eviction before 1.37.1");
    assert_eq!(evicted("1.44.1"), None, "a turn that runs is spared");
}

fn script(tokens: u32, rate: u32) -> Script {
    let text = |text: String| Chunk { text: Some(text), reasoning: None };
    let chunks = std::iter::once(String::new()).chain((0..tokens).map(|n| format!("tok{n} "))).map(text);
    let gap = Duration::from_secs(1) / rate;
    Script {
        user: "go".into(),
        chunks: chunks.collect(),
        gap,
        finish: Finish::Message,
        feed: None,
        tail: Duration::ZERO,
        stalls: Vec::new(),
    }
}

async fn server(release: &str, script: Script) -> (Server, String) {
    let profile = Catalogue::embedded().unwrap().server(release).unwrap();
    let config = ServerConfig {
        keys: Vec::new(),
        script,
        mutation: "none".parse().unwrap(),
        seed: Seed(1),
        sinks: Vec::new(),
        keeps_notes: false,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(&profile, config, Clock::fixed());
    let conversation = server.create_conversation().await;
    (server, conversation)
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_nobody_runs_or_watches_is_evicted_and_one_that_is_watched_is_kept() {
    for (release, watched, evicted) in
        [("1.44.1", false, Some(1200)), ("1.44.1", true, None), ("1.36.1", false, None)]
    {
        let (server, conversation) = server(release, script(5, 1)).await;
        let dialer = skewlab::agent_server::server::Dialer::memory(&server);
        let path = format!("/sockets/events/{conversation}");
        let socket = fixtures::connect(&dialer, &path, None).await.unwrap();
        sleep(Duration::from_millis(1)).await;
        let socket = watched.then_some(socket);
        server.watch_idle(Duration::from_hours(9));
        let sweeping = server.clone();
        tokio::spawn(async move { sweeping.sweep().await });
        sleep(Duration::from_hours(2)).await;
        let seen = server.watched(&conversation).unwrap().evicted;
        assert_eq!(seen.map(|at| at.as_secs()), evicted, "{release}, watched: {watched}");
        drop(socket);
    }
}

/// The turns of a recording on an emulated server, and `idle_time` at those moments, in whole seconds.
async fn sampled(release: &str, turns: &[(f64, u32, u32)], at: &[f64]) -> (Vec<u64>, IdleClocks) {
    let (server, conversation) = server(release, script(1, 1)).await;
    let start = Instant::now();
    let moment = |s: f64| start + Duration::from_secs_f64(s);
    for (n, (from, tokens, rate)) in turns.iter().enumerate() {
        server.idle().await;
        sleep_until(moment(*from)).await;
        server.next_turn(script(*tokens, *rate));
        if n + 1 == turns.len() {
            server.watch_idle(Duration::from_hours(1));
        }
        assert!(server.say(&conversation, "go"));
        sleep(Duration::from_millis(1)).await;
    }
    let mut samples = Vec::new();
    for second in at {
        sleep_until(moment(*second)).await;
        samples.push(server.idle_time().as_secs());
    }
    let clocks = server.watched(&conversation).unwrap();
    (samples, clocks)
}

/// How far a real, busy server may be from the virtual clock.
const LATE_S: f64 = 2.0;

/// When the clock was written, as far as samples tell.
fn refreshes(at: &[f64], idle: &[u64]) -> Vec<f64> {
    let written = |n: &usize| idle[*n] < idle[*n - 1];
    #[expect(clippy::cast_precision_loss, reason = "seconds of a short stream")]
    (1..idle.len()).filter(written).map(|n| at[n] - idle[n] as f64).collect()
}

#[tokio::test(start_paused = true)]
async fn the_recorded_refreshes_are_those_of_the_emulation() {
    let recordings = fixtures::json("captures/idle_75s.json");
    let mut refreshed = Vec::new();
    for recording in recordings.as_array().unwrap() {
        let whole = |v: &Value| u32::try_from(v.as_u64().unwrap()).unwrap();
        let turn = |t: &Value| (t["at_s"].as_f64().unwrap(), whole(&t["tokens"]), whole(&t["rate"]));
        let turns: Vec<_> = recording["turns"].as_array().unwrap().iter().map(turn).collect();
        let samples = recording["idle"].as_array().unwrap();
        let at: Vec<f64> = samples.iter().map(|s| s[0].as_f64().unwrap()).collect();
        let real: Vec<u64> = samples.iter().map(|s| s[1].as_u64().unwrap()).collect();
        let (ours, _) = sampled(recording["server"].as_str().unwrap(), &turns, &at).await;
        let what = format!("{} {}", recording["server"], recording["run"]);
        let (ours_at, real_at) = (refreshes(&at, &ours), refreshes(&at, &real));
        assert_eq!(ours_at.len(), real_at.len(), "{what}: {ours_at:?} and {real_at:?}");
        for (ours, real) in ours_at.iter().zip(&real_at) {
            assert!((ours - real).abs() < LATE_S, "{what}: {ours_at:?} and {real_at:?}");
        }
        let peak = |idle: &[u64]| idle.iter().copied().max().unwrap();
        assert!(peak(&ours).abs_diff(peak(&real)) <= 2, "{what}: {} and {}", peak(&ours), peak(&real));
        // From the message to the first refresh.
        refreshed.push(real_at.first().map(|at| at - turns.last().unwrap().0));
    }
    // 1.44.1 never; 1.45.0 after a warm-up before its 30 s, because the warm-up spent the throttle; and fresh after 30 s.
    let [None, Some(warm), Some(fresh)] = refreshed[..] else { panic!("{refreshed:?}") };
    assert!(warm < 28.5 && (fresh - 30.0).abs() < 1.5, "{warm} and {fresh}");
}

#[tokio::test(start_paused = true)]
async fn the_recorded_clocks_move_with_each_token_or_stand_still() {
    for (release, moves) in [("1.43.1", true), ("1.44.1", false)] {
        let capture = fixtures::json(&format!("captures/idle_{release}.json"));
        let frames = capture["cap"]["events"].as_array().unwrap().iter();
        let deltas = frames.filter(|f| f["raw"].as_str().unwrap().contains("StreamingDeltaEvent"));
        let times: Vec<f64> = deltas.map(|f| f["t"].as_f64().unwrap()).collect();
        let (first, last) = (times[0], times[times.len() - 1]);
        // The last token and the reply are too close together to tell which one a sample saw.
        let streaming = |s: &&Value| (first + 2.0..last - 1.0).contains(&s["t"].as_f64().unwrap());
        let samples: Vec<&Value> = capture["idle"].as_array().unwrap().iter().filter(streaming).collect();
        assert!(samples.len() > 5, "{release}");
        let at: Vec<f64> = samples.iter().map(|s| s["t"].as_f64().unwrap() - first).collect();
        let tokens = u32::try_from(times.len()).unwrap() - 1;
        let (ours, clocks) = sampled(release, &[(0.0, tokens, 1)], &at).await;
        for (ours, sample) in ours.iter().zip(&samples) {
            #[expect(clippy::cast_precision_loss, reason = "seconds of a short stream")]
            let apart = (*ours as f64 - sample["idle_time"].as_f64().unwrap()).abs();
            assert!(apart <= LATE_S, "{release}: {ours} and {sample}");
        }
        let distinct: BTreeSet<&str> = samples.iter().map(|s| s["updated_at"].as_str().unwrap()).collect();
        assert_eq!(distinct.len(), if moves { samples.len() } else { 1 }, "{release}");
        let writes = clocks.updated_at.token_writes;
        assert_eq!(writes > u64::from(tokens) / 2, moves, "{release}: {writes}");
    }
}
