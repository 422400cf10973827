//! Which fact says which trait of a Python client.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::claim::{Answer, Claims, is, words};
use crate::live::extract::Package;

/// Why nothing is said of reconnects.
const RECONNECT: &str = "not asked: recordings of the packages hold it (tests/fixtures/reconnect)";

/// Traits that no fact is asked for.
const NOT_ASKED: [(&str, &str); 21] = [
    ("family", "every package that can be extracted is a Python client"),
    ("guard", "not asked: the event model is the only check that a Python client has had"),
    ("reconnect.clean", RECONNECT),
    ("reconnect.abnormal", RECONNECT),
    ("reconnect.refused", RECONNECT),
    ("reconnect.fatal", RECONNECT),
    ("reconnect.first_s", RECONNECT),
    ("reconnect.factor", RECONNECT),
    ("reconnect.most_s", RECONNECT),
    ("reconnect.open_timeout_s", RECONNECT),
    ("reconnect.keepalive.every_s", RECONNECT),
    ("reconnect.keepalive.timeout_s", RECONNECT),
    ("reconnect.reconcile", RECONNECT),
    ("reconnect.rereads", RECONNECT),
    ("application.kind", "not asked: what is behind the callbacks is not in the package"),
    ("failure.run_failed.signal", "not asked: it takes a run that fails"),
    ("failure.run_failed.key", "not asked: it takes a run that fails"),
    ("failure.not_ready.signal", "not asked: it takes a server that never says that it is ready"),
    ("failure.reread.signal", "not asked: it takes a server whose events are refused, over REST too"),
    ("failure.reread.key", "not asked: it takes a server whose events are refused, over REST too"),
    ("failure.not_ready.key", "not asked: it takes a server that never says that it is ready"),
];

/// The lists that an application can ask for, beside `callbacks`.
const LISTS: [&str; 2] = ["token_callbacks", "delta_callbacks"];

#[derive(Deserialize)]
struct Delta {
    is_event: bool,
    fields: Vec<String>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the answers of one fact, each to a question of its own")]
struct Loop {
    path: String,
    auth: String,
    resend_mode: Option<String>,
    after_seq: Option<String>,
    ready: String,
    reads_binary: bool,
    reads_nan: bool,
    refuses_unknown_kinds: bool,
    refuses_extra_fields: bool,
    delta_is_heard: Vec<String>,
    logs: BTreeMap<String, Vec<(String, String)>>,
}

#[derive(Deserialize)]
struct Constructor {
    parameters: Vec<String>,
    takes_anything: bool,
}

/// The traits of a package's Python client.
pub(super) fn claims(package: &Package) -> Claims<'_> {
    let mut claims = Claims::of(package);
    claims.read("client.delta", ["streams", "shows"], |delta: Option<Delta>| {
        let has = |field: &str| delta.as_ref().is_some_and(|d| d.fields.iter().any(|f| f == field));
        let classes = [("content", "text"), ("reasoning_content", "reasoning")];
        let shown = classes.iter().filter(|(field, _)| has(field)).map(|(_, class)| *class);
        [is(delta.is_some()), Ok(words(shown))]
    });
    connect(&mut claims);
    decode(&mut claims);
    failure(&mut claims);
    listen(&mut claims);
    claims.not_asked(&NOT_ASKED);
    claims
}

fn connect(claims: &mut Claims) {
    let paths = ["connect.endpoint", "connect.auth", "connect.resend", "connect.ready"];
    claims.read("client.loop", paths, |seen: Loop| {
        let endpoint = match seen.path.as_str() {
            p if p.starts_with("/sockets/events/") => is("events"),
            p if p.starts_with("/sockets/session/") => is("session"),
            other => Err(format!("it connects to {other}, which is no socket that a trait knows")),
        };
        let resend = match (&seen.resend_mode, &seen.after_seq) {
            (None, None) => is("none"),
            (Some(mode), None) if mode == "all" => is("all"),
            (None, Some(seq)) if seq == "-1" => is("all"),
            (mode, seq) => Err(format!("it asks for resend_mode {mode:?} and after_seq {seq:?}")),
        };
        let known = |word: &str, words: &[&str], what: &str| {
            if words.contains(&word) {
                is(word)
            } else {
                Err(format!("{what} in a way that no trait knows: `{word}`"))
            }
        };
        [
            endpoint,
            known(&seen.auth, &["query", "query-encoded", "first-frame"], "it shows its key"),
            resend,
            known(&seen.ready, &["state-update", "open"], "it becomes ready"),
        ]
    });
    claims.read("client.max_frame_bytes", ["connect.max_frame_bytes"], |bytes: i64| [is(bytes)]);
    claims.read("client.ready_timeout_s", ["connect.ready_timeout_s"], |s: f64| [is(s)]);
}

fn decode(claims: &mut Claims) {
    let paths = ["json.reader", "json.binary", "decode.style"];
    claims.read("client.loop", paths, |seen: Loop| {
        // JavaScript's parser refuses NaN; Python's takes it.
        let reader =
            if seen.reads_nan { is("python") } else { Err("it refuses NaN, which json.loads takes".into()) };
        let binary =
            if seen.reads_binary { is("utf8") } else { Err("it does not read binary frames".into()) };
        let style = match (seen.refuses_unknown_kinds, seen.refuses_extra_fields) {
            (true, true) => is("event-model"),
            (false, false) => is("open"),
            (kinds, fields) => {
                Err(format!("it refuses unknown kinds: {kinds}, and fields that are not known: {fields}"))
            }
        };
        [reader, binary, style]
    });
    let how = "asked and run: the bases of the delta's class, and whether the client's loop hands one on";
    let delta = stages(claims.package);
    let answers: [Answer; 2] = match delta {
        Ok((is_event, first)) => [is(is_event), is(first)],
        Err(why) => [Err(why.clone()), Err(why)],
    };
    claims.answer(["decode.delta_is_event", "decode.delta_first"], answers, how);
}

/// Whether the delta is an event, and whether it is looked at before the event model.
fn stages(package: &Package) -> Result<(bool, bool), String> {
    let (delta, _) = package.fact::<Option<Delta>>("client.delta")?;
    let (seen, _) = package.fact::<Loop>("client.loop")?;
    let is_event = delta.ok_or("the package has no class for a delta")?.is_event;
    // The event model cannot have handed on what is no event.
    Ok((is_event, !is_event && !seen.delta_is_heard.is_empty()))
}

fn failure(claims: &mut Claims) {
    let stages: [([&str; 2], &[&str]); 3] = [
        (["failure.json.signal", "failure.json.key"], &["no_json"]),
        (["failure.decode.signal", "failure.decode.key"], &["unknown_kind", "extra_field"]),
        (["failure.handler.signal", "failure.handler.key"], &["handler"]),
    ];
    for (paths, frames) in stages {
        claims.read("client.loop", paths, |seen: Loop| {
            let mut lines: Vec<&[_]> =
                frames.iter().filter_map(|f| Some(seen.logs.get(*f)?.as_slice())).collect();
            lines.dedup();
            match lines[..] {
                [[]] => [is("none"), is("")],
                [[(_, key)]] => [is("log"), is(key.as_str())],
                _ => std::array::from_fn(|_| Err(format!("{} log different lines", frames.join(" and ")))),
            }
        });
    }
}

fn listen(claims: &mut Claims) {
    let paths = ["listen.lists.token_callbacks", "listen.lists.delta_callbacks"];
    claims.read("client.constructor", paths, |made: Constructor| {
        LISTS.map(|list| {
            if made.parameters.iter().any(|p| p == list) {
                is("called")
            } else if made.takes_anything {
                is("swallowed")
            } else {
                Err("the constructor refuses it".to_owned())
            }
        })
    });
    claims.read("client.constructor", ["listen.default"], |made: Constructor| {
        let named = LISTS.iter().rev().find(|list| made.parameters.iter().any(|p| p == *list));
        [is(named.copied().unwrap_or("callbacks"))]
    });
    let first = stages(claims.package);
    claims.read("client.loop", ["listen.lists.callbacks"], |seen: Loop| {
        [match first {
            Ok((_, true)) => is("bypassed"),
            Ok(_) if seen.delta_is_heard.is_empty() => Err("a delta reaches no callback".to_owned()),
            Ok(_) => is("called"),
            Err(why) => Err(why),
        }]
    });
}

/// Traits that a profile may leave out, and what they are then.
pub(super) const DEFAULTS: [(&str, Value); 2] =
    [("decode.delta_is_event", Value::Boolean(true)), ("decode.delta_first", Value::Boolean(false))];
