//! The subscribers' side of a bench against the emulated server, over loopback.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::server::net::Listening;
use skewlab::agent_server::server::{Chunk, Clock, Finish, Script, Server, ServerConfig};
use skewlab::record::client_bench::Counts;
use skewlab::seed::Seed;
use skewlab::swarm::{Block, Closed, Conduct, ConnectReport, GroupReport, Pace, Refused, SocketSpec, Swarm};
use skewlab::wire::numbered;

use crate::fixtures::KEY;
use crate::runs::Folder;

const AUTH: &str = r#"{"type":"auth","session_api_key":"k-test"}"#;
const HI: &str = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#;
const LONG: Duration = Duration::from_secs(30);

/// What the server streams in every turn.
#[derive(Clone, Copy)]
struct Load {
    tokens: u64,
    bytes: usize,
    gap: Duration,
}

const LOAD: Load = Load { tokens: 500, bytes: 24, gap: Duration::ZERO };

/// An emulated server on a thread of its own; it goes with the test's process.
struct Served {
    addr: SocketAddr,
    conversation: String,
}

impl Served {
    /// A release with traits of the test's own on top.
    fn start(release: &str, traits: &str, load: Load) -> Served {
        let folder = Folder::new();
        folder.profile("servers", "under-test", release, traits);
        let profile = folder.catalogue().server("under-test").unwrap();
        let text = |n| Chunk { text: Some(numbered::text(n, load.bytes)), reasoning: None };
        let chunks = (0..load.tokens).map(text).collect();
        let script = Script {
            user: "hi".into(),
            chunks,
            gap: load.gap,
            finish: Finish::Message,
            feed: None,
            tail: Duration::ZERO,
            stalls: Vec::new(),
        };
        let config = ServerConfig {
            keys: vec![KEY.into()],
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
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::new(&profile, config, Clock::wall());
                let conversation = server.create_conversation().await;
                let listening = Listening::bind(&server, "127.0.0.1:0".parse().unwrap()).await.unwrap();
                tell.send((listening.addr().unwrap(), conversation)).unwrap();
                listening.run().await;
            });
        });
        let (addr, conversation) = told.recv().unwrap();
        Served { addr, conversation }
    }

    fn spec(&self, socket: &str) -> SocketSpec {
        SocketSpec {
            addr: self.addr,
            path_and_query: format!("/sockets/{socket}/{}", self.conversation),
            auth_frame: Some(AUTH.to_owned()),
            group: 0,
            conduct: Conduct::Healthy,
        }
    }
}

fn ready(swarm: &mut Swarm, specs: Vec<SocketSpec>) {
    let sockets = specs.len() as u64;
    let report = swarm.connect(specs, Pace::default()).unwrap();
    assert_eq!((report.ready, report.refused.len()), (sockets, 0), "{report:?}");
}

/// One turn as a block; waits for that many durable ends in all.
fn turn(swarm: &mut Swarm, load: Load, replies: u64) -> bool {
    let block = Block { start: Instant::now(), gap: load.gap, first: 0, batch: 1 };
    swarm.begin(0, block).unwrap();
    assert!(swarm.say(0, HI).unwrap());
    swarm.wait_for_replies(0, replies, LONG)
}

fn only(swarm: Swarm) -> GroupReport {
    swarm.stop().unwrap().groups.remove(0)
}

/// What sockets get of a healthy server.
fn all(sockets: u64, turns: u64, load: Load) -> Counts {
    Counts { deltas: sockets * turns * load.tokens, replies: sockets * turns, ..Counts::default() }
}

#[test]
fn a_healthy_server_loses_nothing_on_either_socket_in_any_era() {
    for (release, sockets) in [("1.58.2", &["events", "session"][..]), ("1.30.0", &["events"])] {
        for socket in sockets {
            let served = Served::start(release, "", LOAD);
            let mut swarm = Swarm::spawn(1).unwrap();
            ready(&mut swarm, vec![served.spec(socket); 20]);
            for n in 1..=3 {
                assert!(turn(&mut swarm, LOAD, 20 * n), "{release} {socket}: turn {n} has no end");
            }
            let report = only(swarm);
            assert_eq!(report.counts, all(20, 3, LOAD), "{release} {socket}");
            assert_eq!((report.open, report.unread, report.unreadable), (20, 0, 0));
            assert!(report.closed.is_empty());
            let delays = report.times.delay.quantiles();
            assert_eq!((delays.count, report.times.first_delta.count()), (20 * 3 * 500, 60));
            assert_eq!(report.times.frame_gap.count(), 20 * 3 * 499);
            assert_eq!(report.blocks.len(), 3);
            for block in &report.blocks {
                assert_eq!((block.counts, block.without_end), (all(20, 1, LOAD), 0));
            }
        }
    }
}

#[test]
fn one_percent_withheld_is_noticed_without_being_told_the_total() {
    for mutant in ["drop_every = 100", "forget_every = 100"] {
        let served = Served::start("1.58.2", &format!("[mutant]\n{mutant}"), LOAD);
        let mut swarm = Swarm::spawn(1).unwrap();
        ready(&mut swarm, vec![served.spec("events"); 10]);
        assert!(turn(&mut swarm, LOAD, 10));
        let report = only(swarm);
        assert!(report.counts.lost());
        // The fifth of them is the last chunk of all: no later number shows that it is missing.
        assert_eq!(report.counts.missing, 10 * 5, "{mutant}: {:?}", report.counts);
        assert_eq!((report.counts.deltas, report.counts.short_replies), (10 * 495, 10));
        assert_eq!(report.counts.short_chars, 10 * 5 * 24);
    }
}

#[test]
fn the_session_socket_has_the_same_faults_and_its_order_shows_them_too() {
    let met = |mutant: &str| {
        let served = Served::start("1.58.2", &format!("[mutant]\n{mutant}"), LOAD);
        let mut swarm = Swarm::spawn(1).unwrap();
        ready(&mut swarm, vec![served.spec("session"); 4]);
        assert!(turn(&mut swarm, LOAD, 4));
        only(swarm).counts
    };
    for mutant in ["drop_every = 100", "forget_every = 100"] {
        let short = met(mutant);
        // The last chunk of all leaves a hole in the numbers of the reply, and none in the order.
        assert_eq!((short.missing, short.order_missing, short.short_replies), (20, 16, 4), "{mutant}");
    }
    let twice = met("repeat_every = 50");
    assert_eq!((twice.lost(), twice.wrong(), twice.duplicated, twice.order_repeated), (false, true, 40, 40));
    let altered = met("alter_every = 500");
    assert_eq!((altered.altered, altered.missing, altered.order_missing), (4, 4, 0));
    let healthy = met("drop_every = 0");
    assert!(!healthy.lost() && !healthy.wrong(), "{healthy:?}");
}

#[test]
fn every_other_fault_of_a_server_has_its_own_count() {
    let met = |mutant: &str| {
        let served = Served::start("1.58.2", &format!("[mutant]\n{mutant}"), LOAD);
        let mut swarm = Swarm::spawn(1).unwrap();
        ready(&mut swarm, vec![served.spec("events"); 4]);
        let ended = turn(&mut swarm, LOAD, 4);
        (ended, only(swarm).counts)
    };
    let (ended, twice) = met("repeat_every = 50");
    assert!(ended && !twice.lost());
    assert_eq!((twice.duplicated, twice.extra_chars), (4 * 10, 4 * 10 * 24));
    let (ended, altered) = met("alter_every = 500");
    assert!(ended);
    // A text that is altered has lost its number.
    assert_eq!((altered.altered, altered.missing, altered.short_chars), (4, 4, 0));
}

#[test]
fn a_reply_without_its_end_is_seen() {
    let served = Served::start("1.58.2", "[mutant]\ndrop_durable_every = 1", LOAD);
    let mut swarm = Swarm::spawn(1).unwrap();
    ready(&mut swarm, vec![served.spec("events"); 3]);
    swarm.begin(0, Block { start: Instant::now(), gap: Duration::ZERO, first: 0, batch: 1 }).unwrap();
    swarm.say(0, HI).unwrap();
    let until = Instant::now() + LONG;
    while swarm.progress(0).deltas < 1500 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    let report = only(swarm);
    assert_eq!(report.counts.deltas, 1500);
    assert_eq!((report.blocks[0].without_delta, report.blocks[0].without_end), (0, 3));
}

#[test]
fn a_peer_that_stalls_or_dies_holds_up_nobody() {
    // Far more than the buffers of a connection hold.
    let load = Load { tokens: 300, bytes: 40_000, gap: Duration::ZERO };
    let served = Served::start("1.58.2", "", load);
    let mut swarm = Swarm::spawn(1).unwrap();
    let like = |conduct| SocketSpec { conduct, ..served.spec("events") };
    let mut specs = vec![like(Conduct::Healthy); 5];
    specs.extend([Conduct::Stalled, Conduct::Slow(100_000), Conduct::DiesAfter(50)].map(like));
    ready(&mut swarm, specs);
    assert!(turn(&mut swarm, load, 5), "the healthy five: {:?}", swarm.report().unwrap().groups[0].counts);
    let report = only(swarm);
    assert_eq!(report.closed[&Closed::Died], 1);
    assert_eq!(report.unread, 2, "the stalled one and the slow one");
    assert_eq!(report.counts.replies, 5);
    assert_eq!((report.counts.missing, report.counts.short_replies), (0, 0));
    let others = report.counts.deltas - 5 * 300;
    assert!((50..300).contains(&others), "{others} deltas at the slow and the dead one");
}

#[test]
fn why_a_socket_did_not_get_ready_is_told() {
    let served = Served::start("1.58.2", "", LOAD);
    let good = served.spec("events");
    let told = |spec: SocketSpec| -> ConnectReport {
        let mut swarm = Swarm::spawn(1).unwrap();
        let pace = Pace { patience: Duration::from_millis(300), ..Pace::default() };
        swarm.connect(vec![spec; 3], pace).unwrap()
    };
    let only = |report: &ConnectReport| {
        assert_eq!(report.ready, 0, "{report:?}");
        let (why, count) = report.refused.first_key_value().unwrap();
        assert_eq!(*count, 3, "{report:?}");
        why.clone()
    };
    assert_eq!(told(good.clone()).ready, 3);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(only(&told(SocketSpec { addr: nobody, ..good.clone() })), Refused::Nobody);
    let path = "/sockets/events/not-a-uuid".to_owned();
    assert_eq!(only(&told(SocketSpec { path_and_query: path, ..good.clone() })), Refused::Status(403));
    let auth_frame = Some(AUTH.replace("k-test", "wrong"));
    let closed = Refused::Closed(Closed::ByServer(Some(4001)));
    assert_eq!(only(&told(SocketSpec { auth_frame, ..good.clone() })), closed);
    let silent = SocketSpec { auth_frame: None, ..good.clone() };
    let Refused::TimedOut { stage, .. } = only(&told(silent)) else { panic!() };
    assert_eq!(stage, "the first frame");
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = mute.local_addr().unwrap();
    let Refused::TimedOut { stage, .. } = only(&told(SocketSpec { addr, ..good.clone() })) else { panic!() };
    assert_eq!(stage, "the answer to the upgrade");
    let mut swarm = Swarm::spawn(1).unwrap();
    let wrong = swarm.connect(vec![SocketSpec { group: 1, ..good }], Pace::default());
    assert!(wrong.unwrap_err().to_string().contains("no group 1"));
}

#[test]
fn the_cap_of_a_server_is_told_by_its_code() {
    let served = Served::start("1.58.2", "", LOAD);
    let mut swarm = Swarm::spawn(1).unwrap();
    let report = swarm.connect(vec![served.spec("events"); 60], Pace::default()).unwrap();
    let capped = Refused::Closed(Closed::ByServer(Some(1013)));
    assert_eq!((report.ready, report.refused.get(&capped)), (49, Some(&11)), "{report:?}");
    let catalogue = Catalogue::embedded().unwrap();
    assert_eq!(catalogue.server("1.58.2").unwrap().traits.bus.max_subscribers, 50);
    let served = Served::start("1.58.2", "[bus]\nmax_subscribers = 0", LOAD);
    let mut swarm = Swarm::spawn(1).unwrap();
    ready(&mut swarm, vec![served.spec("events"); 300]);
}
