//! One thing that goes wrong, as a scenario writes it.

use std::time::Duration;

use toml::Value;

use crate::agent_server::fault::{Fault, Hold, Kind, Mark, Moment};

/// The keys of its `[[fault.NAME]]` table, in the order in which a person would write them.
pub(super) fn written(fault: &Fault) -> Vec<(&'static str, Value)> {
    let mut keys = vec![("kind", fault.kind.as_str().into())];
    keys.extend(kind(&fault.kind));
    match fault.moment {
        Moment::Start => {}
        Moment::Token(n) => keys.push(("at", format!("token {n}").into())),
        Moment::Time(at) => keys.push(("at", time(at))),
        Moment::After(mark, by) => keys.extend([("after", mark.as_str().into()), ("by", time(by))]),
    }
    if fault.kind.hops().first() != Some(&fault.hop) {
        keys.push(("hop", fault.hop.as_str().into()));
    }
    keys.extend(fault.subscriber.map(|n| ("subscriber", i64::from(n).into())));
    keys
}

fn kind(kind: &Kind) -> Vec<(&'static str, Value)> {
    let often = |times: u32| ("times", i64::from(times).into());
    // Nothing is written as nothing: it is what the reader takes for an absent key.
    let some = |key, n: u64| (n > 0).then(|| (key, whole(n)));
    match kind {
        Kind::Close { code, reason } => {
            vec![("code", i64::from(*code).into()), ("reason", reason.clone().into())]
        }
        Kind::Silence { lasts } | Kind::Stall { lasts } => {
            lasts.iter().map(|lasts| ("for", time(*lasts))).collect()
        }
        Kind::Slow { bytes_per_s } => vec![("bytes_per_s", whole(*bytes_per_s))],
        Kind::Buffer { hold } => vec![match hold {
            Hold::Bytes(bytes) => ("bytes", whole(*bytes as u64)),
            Hold::Time(lasts) => ("for", time(*lasts)),
            Hold::Turn => ("until", Mark::Turn.as_str().into()),
        }],
        Kind::Lifetime { every } => vec![("every", time(*every))],
        Kind::Handshake { lasts, times } => vec![("for", time(*lasts)), often(*times)],
        Kind::Refuse { status, times } => vec![("status", i64::from(*status).into()), often(*times)],
        Kind::Fragment { bytes } | Kind::Lossy { bytes } => vec![("bytes", whole(*bytes as u64))],
        Kind::Inject { frame } => vec![("frame", frame.clone().into())],
        Kind::Duplicate { times, every } => {
            let mut keys = vec![often(*times)];
            keys.extend(some("every", *every));
            keys
        }
        Kind::Reorder { every } => some("every", *every).into_iter().collect(),
        Kind::Delay { lane, by, times } => {
            let mut keys = vec![("lane", lane.as_str().into()), ("for", time(*by))];
            keys.extend(some("times", u64::from(*times)));
            keys
        }
        Kind::Final { append } => vec![("append", append.clone().into())],
        Kind::ReplayDeltas { count } => vec![("count", i64::from(*count).into())],
        Kind::Say { text, run } => vec![("text", text.clone().into()), ("run", (*run).into())],
        Kind::Tool { name } => vec![("name", name.clone().into())],
        Kind::ProviderError { message } => vec![("message", message.clone().into())],
        Kind::Block { lasts } => vec![("for", time(*lasts))],
        Kind::SlowSink { latency, lasts } => {
            let mut keys = vec![("latency", time(*latency))];
            keys.extend(lasts.map(|lasts| ("for", time(lasts))));
            keys
        }
        Kind::FailAppend { times } => vec![often(*times)],
        Kind::Restart { down } => vec![("down", time(*down))],
        Kind::Swap { server, down } => vec![("server", server.clone().into()), ("down", time(*down))],
        Kind::Abort | Kind::NoPong | Kind::Join | Kind::Late | Kind::Cancel | Kind::Retry => Vec::new(),
    }
}

fn whole(n: u64) -> Value {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

/// A time as people write it, exact.
fn time(time: Duration) -> Value {
    if time.subsec_nanos().is_multiple_of(1_000_000) {
        format!("{}ms", time.as_millis()).into()
    } else {
        format!("{}s", time.as_secs_f64()).into()
    }
}
