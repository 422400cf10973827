//! What goes wrong, and when.

use std::time::Duration;

use crate::agent_server::fault::{Fault, Hold, Kind, Lane, Mark, Moment};
use crate::suite::explore::dice::Dice;
use crate::suite::explore::specimen::Specimen;

/// Close codes that endpoints and proxies send.
const CODES: [u16; 9] = [1000, 1001, 1008, 1009, 1011, 1012, 1013, 4001, 4004];

/// HTTP statuses of an upgrade that is refused.
const STATUSES: [u16; 5] = [401, 403, 429, 500, 503];

/// Frames that no release sends.
const FRAMES: [&str; 6] = [
    "{}",
    "[]",
    "null",
    "not json",
    "{\"kind\":\"EventOfTomorrow\",\"id\":\"1\",\"timestamp\":\"2026-11-30T07:45:00\",\"source\":\"agent\"}",
    "{\"type\":\"tomorrow\"}",
];

/// One fault, at a moment at which it can come.
pub(super) fn fault(drawn: &Specimen, servers: &[String], dice: &mut Dice) -> Fault {
    let word = dice.pick::<&str>(&Kind::WORDS);
    let kind = kind(word, servers, dice);
    let moment = moment(&kind, drawn, dice);
    let hop = *dice.pick(kind.hops());
    let alone = kind.per_subscriber() && drawn.subscribers > 1 && dice.chance(50);
    let subscriber = alone.then(|| dice.times(drawn.subscribers));
    Fault { name: String::new(), kind, moment, hop, subscriber }
}

fn kind(word: &str, servers: &[String], dice: &mut Dice) -> Kind {
    let bytes = |dice: &mut Dice| usize::try_from(*dice.pick(&[1_u64, 3, 7, 100, 1_400])).unwrap_or(1);
    let lasts = |dice: &mut Dice| dice.chance(70).then(|| dice.millis(1, 90_000));
    let every = |least, dice: &mut Dice| if dice.chance(50) { dice.within(least, 9) } else { 0 };
    match word {
        "close" => Kind::Close { code: *dice.pick(&CODES), reason: String::new() },
        "silence" => Kind::Silence { lasts: lasts(dice) },
        "stall" => Kind::Stall { lasts: lasts(dice) },
        "slow" => Kind::Slow { bytes_per_s: *dice.pick(&[100, 2_000, 50_000]) },
        "buffer" => Kind::Buffer {
            hold: match dice.below(3) {
                0 => Hold::Bytes(*dice.pick(&[512, 4_096, 65_536])),
                1 => Hold::Time(dice.millis(10, 5_000)),
                _ => Hold::Turn,
            },
        },
        "lifetime" => Kind::Lifetime { every: dice.millis(200, 60_000) },
        "handshake" => Kind::Handshake { lasts: dice.millis(100, 60_000), times: dice.times(3) },
        "refuse" => Kind::Refuse { status: *dice.pick(&STATUSES), times: dice.times(3) },
        "fragment" => Kind::Fragment { bytes: bytes(dice) },
        "no_pong" => Kind::NoPong,
        "join" => Kind::Join,
        "inject" => Kind::Inject { frame: (*dice.pick(&FRAMES)).to_owned() },
        "duplicate" => Kind::Duplicate { times: dice.times(2), every: every(1, dice) },
        "reorder" => Kind::Reorder { every: every(2, dice) },
        "late" => Kind::Late,
        "delay" => Kind::Delay {
            lane: *dice.pick(&Lane::ALL),
            by: dice.millis(1, 3_000),
            times: if dice.chance(50) { dice.times(5) } else { 0 },
        },
        "lossy" => Kind::Lossy { bytes: bytes(dice) },
        "final" => Kind::Final { append: (*dice.pick(&["", " ", "!", " and more"])).to_owned() },
        "replay_deltas" => Kind::ReplayDeltas { count: dice.times(50) },
        "say" => Kind::Say { text: "and then?".to_owned(), run: dice.chance(70) },
        "tool" => Kind::Tool { name: "look".to_owned() },
        "provider_error" => Kind::ProviderError { message: "overloaded".to_owned() },
        "cancel" => Kind::Cancel,
        "retry" => Kind::Retry,
        "block" => Kind::Block { lasts: dice.millis(100, 60_000) },
        "fail_append" => Kind::FailAppend { times: dice.times(5) },
        "restart" => Kind::Restart { down: dice.millis(0, 20_000) },
        "swap" => Kind::Swap { server: dice.pick(servers).clone(), down: dice.millis(0, 20_000) },
        "slow_sink" => Kind::SlowSink { latency: dice.millis(100, 60_000), lasts: lasts(dice) },
        // `abort`. Another kind that is not listed would never be tried: a test draws each.
        _ => Kind::Abort,
    }
}

/// A moment that a scenario may write for that kind.
fn moment(kind: &Kind, drawn: &Specimen, dice: &mut Dice) -> Moment {
    let token = |dice: &mut Dice| Moment::Token(dice.within(1, drawn.tokens.len() as u64));
    match kind {
        Kind::Lossy { .. } | Kind::ReplayDeltas { .. } | Kind::Final { .. } => Moment::Start,
        kind if kind.in_turn() => token(dice),
        kind if from_the_start(kind) && dice.chance(25) => Moment::Start,
        _ => match dice.below(10) {
            0..6 => token(dice),
            6 | 7 => {
                let length = Duration::from_secs(drawn.tokens.len() as u64) / drawn.rate.max(1);
                let most = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
                Moment::Time(dice.millis(1, most.saturating_add(500)))
            }
            _ => Moment::After(*dice.pick(&Mark::ALL), dice.millis(0, 3_000)),
        },
    }
}

/// Whether it can be so before anybody connects.
fn from_the_start(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Stall { .. }
            | Kind::Slow { .. }
            | Kind::Buffer { .. }
            | Kind::Lifetime { .. }
            | Kind::Handshake { .. }
            | Kind::Refuse { .. }
            | Kind::Fragment { .. }
            | Kind::NoPong
            | Kind::FailAppend { .. }
            | Kind::SlowSink { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn every_kind_is_drawn_as_what_it_is() {
        let mut dice = Dice::new(Seed(1));
        for word in Kind::WORDS {
            assert_eq!(kind(word, &["1.58.2".to_owned()], &mut dice).as_str(), word);
        }
    }
}
