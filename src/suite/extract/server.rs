//! Which fact says which trait of a server.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::claim::{Answer, Claims, is, words};
use crate::live::extract::Package;

/// Traits that no fact is asked for.
const NOT_ASKED: [(&str, &str); 2] = [
    ("ships.python", "the client of the same packages is extracted beside it, and named as the release is"),
    ("delta.empty", "not asked: litellm withholds empty pieces, and it is no part of the packages"),
];

/// Subscriber classes by their names in the package, and the words of a profile for them.
const SUBSCRIBERS: [(&str, &str); 5] = [
    ("_WebSocketSubscriber", "websocket"),
    ("_EventSubscriber", "idle"),
    ("AutoTitleSubscriber", "auto_title"),
    ("TelemetrySubscriber", "telemetry"),
    ("WebhookSubscriber", "webhook"),
];

/// The base class of everything durable.
const EVENT: &str = "Event";

#[derive(Deserialize)]
struct Delta {
    kind: String,
    is_event: bool,
    fields: Vec<String>,
    is_made: bool,
}

#[derive(Deserialize)]
struct Bus {
    carries: Vec<String>,
    cap: usize,
}

#[derive(Deserialize)]
struct Filter {
    plain_gets_deltas: bool,
    switches: BTreeMap<String, bool>,
}

#[derive(Deserialize)]
struct Subscriber {
    name: String,
    module: String,
    carries: Vec<String>,
    set: Vec<String>,
}

#[derive(Deserialize)]
struct Frames {
    parent_id: String,
    extended_content: bool,
    dumps_for_two_sockets: Option<u32>,
    nulls: Option<String>,
}

#[derive(Deserialize)]
struct Clock {
    writes_and_touches: Vec<(u32, u32)>,
}

#[derive(Deserialize)]
struct Eviction {
    exists: bool,
    after_s: Option<f64>,
}

#[derive(Deserialize)]
struct Webhook {
    event_buffer_size: i64,
    flush_delay: f64,
    num_retries: i64,
    retry_delay: f64,
    max_queue_size: i64,
    max_batch_bytes: i64,
    max_queue_bytes: i64,
}

#[derive(Deserialize)]
struct Posts {
    in_flight: u32,
    after_the_first: u32,
}

#[derive(Deserialize)]
struct Close {
    unauthenticated: i64,
    unknown_conversation: i64,
    try_again_later: Option<i64>,
}

#[derive(Deserialize)]
struct Session {
    max_frame_bytes: i64,
    max_pending_bytes: i64,
    replay_page: i64,
}

/// The traits of a package's server.
pub(super) fn claims(package: &Package) -> Claims<'_> {
    let mut claims = Claims::of(package);
    delta(&mut claims);
    bus(&mut claims);
    clocks(&mut claims);
    consumers(&mut claims);
    sockets(&mut claims);
    session(&mut claims);
    claims.not_asked(&NOT_ASKED);
    claims
}

fn delta(claims: &mut Claims) {
    let paths = ["delta.class", "delta.kind", "delta.fields"];
    claims.read("server.delta", paths, |delta: Option<Delta>| match delta {
        None => {
            let gone = || Err("the package has no class for a delta".to_owned());
            [is("withdrawn"), gone(), gone()]
        }
        Some(delta) => {
            let class = match (delta.is_made, delta.is_event) {
                (false, _) => "withdrawn",
                (true, true) => "event",
                (true, false) => "standalone",
            };
            [is(class), is(delta.kind), Ok(words(delta.fields.iter().map(String::as_str)))]
        }
    });
}

fn bus(claims: &mut Claims) {
    claims.read("server.fan_out", ["bus.fan_out"], |way: String| [is(way)]);
    claims.read("server.buses", ["bus.max_subscribers"], |buses: Vec<Bus>| {
        let durable = buses.iter().find(|b| b.carries.iter().any(|c| c == EVENT));
        [durable.map(|b| size(b.cap)).ok_or_else(|| "no bus carries events".to_owned())]
    });
    claims.read("server.frames", ["bus.encoding"], |frames: Frames| {
        [match frames.dumps_for_two_sockets {
            Some(1) => is("once"),
            Some(2) => is("per-subscriber"),
            other => Err(format!("an event was dumped {} times for two sockets", other.unwrap_or(0))),
        }]
    });
    match path(claims.package) {
        Ok((kind, deltas_to)) => {
            let how = "run and asked: what a PubSub gives to a subscriber with and without each switch, what each bus \
                       carries, and which subscribers set a switch";
            claims.answer(["bus.kind", "bus.deltas_to"], [is(kind), deltas_to], how);
        }
        Err(why) => claims.answer(["bus.kind", "bus.deltas_to"], [Err(why.clone()), Err(why)], ""),
    }
}

/// The path of a delta and who asks for it.
fn path(package: &Package) -> Result<(&'static str, Answer), String> {
    let (delta, _) = package.fact::<Option<Delta>>("server.delta")?;
    let (buses, _) = package.fact::<Vec<Bus>>("server.buses")?;
    let (filter, _) = package.fact::<Filter>("server.filter")?;
    let (subscribers, _) = package.fact::<Vec<Subscriber>>("server.subscribers")?;
    let delta = delta.ok_or("the package has no class for a delta")?;
    let has = |carries: &[String], class: &str| carries.iter().any(|c| c == class);
    let own = buses.iter().any(|b| has(&b.carries, &delta.kind) && !has(&b.carries, EVENT));
    if own && !delta.is_event {
        let asks = |s: &&Subscriber| has(&s.carries, &delta.kind) && !has(&s.carries, EVENT);
        let asking: Vec<&Subscriber> = subscribers.iter().filter(asks).collect();
        let none =
            || Err("there is a bus for deltas, and no subscriber class says that it is for it".to_owned());
        return Ok(("split", if asking.is_empty() { none() } else { named(&asking) }));
    }
    if filter.plain_gets_deltas {
        return Ok((if delta.is_event { "shared" } else { "widened" }, Ok(words([]))));
    }
    let lets: Vec<&String> =
        filter.switches.iter().filter(|(_, through)| **through).map(|(name, _)| name).collect();
    if lets.is_empty() {
        return Err("a bus withholds deltas, and no switch of a subscriber lets one through".to_owned());
    }
    let asking: Vec<&Subscriber> =
        subscribers.iter().filter(|s| s.set.iter().any(|f| lets.contains(&f))).collect();
    Ok(("opt-in", named(&asking)))
}

/// Subscriber classes in the words of a profile.
fn named(subscribers: &[&Subscriber]) -> Answer {
    let word = |s: &&Subscriber| {
        let known = SUBSCRIBERS.iter().find(|(name, _)| *name == s.name);
        known
            .map(|(_, word)| *word)
            .ok_or_else(|| format!("`{}` gets deltas, and no trait has a word for it", s.name))
    };
    Ok(words(subscribers.iter().map(word).collect::<Result<Vec<&str>, String>>()?))
}

fn clocks(claims: &mut Claims) {
    claims.read("server.eviction", ["idle.eviction", "idle.evict_after_s"], |eviction: Eviction| {
        let after = eviction.after_s.map(Value::from);
        [
            is(eviction.exists),
            after.ok_or_else(|| "there is no such setting, or it has no default".to_owned()),
        ]
    });
    claims.read("server.heartbeat_s", ["idle.heartbeat_s", "idle.token_writes"], |seconds: f64| {
        // What beats at each token would have failed the run, and what does not beat writes nothing.
        [is(seconds), is(false)]
    });
    claims.read("server.clock", ["idle.delta_throttle_s"], |clock: Clock| {
        let writes: Vec<u32> = clock.writes_and_touches.iter().map(|(writes, _)| *writes).collect();
        [match writes[..] {
            [state, first, second] if first == state + 1 && second == first + 1 => is(0.0),
            [_, _, _] => Err(format!("the clock was written {writes:?} times after a state and two deltas")),
            _ => Err("there is no delta to write a clock for".to_owned()),
        }]
    });
}

fn consumers(claims: &mut Claims) {
    claims.read("server.subscribers", ["telemetry.present"], |all: Vec<Subscriber>| {
        [is(all.iter().any(|s| s.name == "TelemetrySubscriber"))]
    });
    let paths = [
        "webhook.event_buffer_size",
        "webhook.flush_delay_s",
        "webhook.num_retries",
        "webhook.retry_delay_s",
        "webhook.max_queue_size",
        "webhook.max_batch_bytes",
        "webhook.max_queue_bytes",
    ];
    claims.read("server.webhook", paths, |w: Webhook| {
        [
            is(w.event_buffer_size),
            is(w.flush_delay),
            is(w.num_retries),
            is(w.retry_delay),
            is(w.max_queue_size),
            is(w.max_batch_bytes),
            is(w.max_queue_bytes),
        ]
    });
    let paths = ["webhook.one_in_flight", "webhook.rechecks_after_post"];
    claims.read("server.webhook_posts", paths, |posts: Posts| {
        match (posts.in_flight, posts.after_the_first) {
            (1, after) => [is(true), is(after > 1)],
            (2, _) => [is(false), is(false)],
            (n, _) => std::array::from_fn(|_| Err(format!("{n} posts were in flight with two full buffers"))),
        }
    });
}

fn sockets(claims: &mut Claims) {
    let paths = ["wire.nulls", "wire.parent_id", "wire.observation_extended_content"];
    claims.read("server.frames", paths, |frames: Frames| {
        let nulls = frames.nulls.map(Value::from);
        let nulls =
            nulls.ok_or_else(|| "no delta was written, so no field without a value was seen".to_owned());
        [nulls, is(frames.parent_id), is(frames.extended_content)]
    });
    claims.read("server.auth_timeout_s", ["socket.auth_timeout_s"], |s: f64| [is(s)]);
    claims.read("server.auth_frame", ["socket.auth_frame"], |frame: String| [is(frame)]);
    claims.read("server.snapshot_timeout_s", ["socket.snapshot_timeout_s"], |s: f64| [is(s)]);
    claims.read("server.max_inbound_bytes", ["socket.max_inbound_bytes"], |bytes: i64| [is(bytes)]);
    let paths =
        ["socket.close.unauthenticated", "socket.close.unknown_conversation", "socket.close.try_again_later"];
    claims.read("server.close", paths, |close: Close| {
        let full = close.try_again_later.map(Value::from).ok_or_else(|| "no bus is ever full".to_owned());
        [is(close.unauthenticated), is(close.unknown_conversation), full]
    });
}

fn session(claims: &mut Claims) {
    let how = "asked: the routes of the application, and whether a bus carries what only the session socket subscribes to";
    let endpoint = endpoint(claims.package);
    claims.answer(["session.endpoint"], [endpoint], how);
    let paths = ["session.replay_page", "session.max_frame_bytes", "session.max_pending_bytes"];
    claims.read("server.session", paths, |session: Option<Session>| match session {
        Some(s) => [is(s.replay_page), is(s.max_frame_bytes), is(s.max_pending_bytes)],
        None => std::array::from_fn(|_| Err("there is no session socket".to_owned())),
    });
}

fn endpoint(package: &Package) -> Answer {
    let (routes, _) = package.fact::<Vec<String>>("server.routes")?;
    if !routes.iter().any(|r| r.starts_with("WEBSOCKET ") && r.contains("/sockets/session/")) {
        return is("absent");
    }
    let (buses, _) = package.fact::<Vec<Bus>>("server.buses")?;
    let (subscribers, _) = package.fact::<Vec<Subscriber>>("server.subscribers")?;
    let of_session = |bus: &Bus| {
        let mut session = subscribers.iter().filter(|s| s.module == "session_socket");
        !bus.carries.iter().any(|c| c == EVENT) && session.any(|s| s.carries == bus.carries)
    };
    is(if buses.iter().any(of_session) { "full" } else { "durable" })
}

fn size(n: usize) -> Value {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}
