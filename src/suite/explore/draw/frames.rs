//! What is bent in the frames of deltas.

use crate::suite::explore::dice::Dice;

/// The fields of a delta, and some that no delta has.
const FIELDS: [&str; 9] =
    ["id", "timestamp", "source", "content", "reasoning_content", "kind", "parent_id", "item_id", "seq"];

/// Values that a field may turn into.
const VALUES: [&str; 14] = [
    "null",
    "7",
    "0.5",
    "true",
    "\"\"",
    "x",
    "agent",
    "user",
    "hook",
    "StreamingDelta",
    "MessageEvent",
    "[\"a\"]",
    "{}",
    "2026-11-30T07:45:00",
];

/// Whole frames.
const FRAMES: [&str; 5] = ["!null", "!{}", "![]", "!not json{", "!7"];

/// One to three steps, or one that replaces the whole frame.
pub(super) fn steps(dice: &mut Dice) -> Vec<String> {
    if dice.chance(6) {
        return vec![(*dice.pick(&FRAMES)).to_owned()];
    }
    (0..dice.within(1, 3)).map(|_| step(dice)).collect()
}

fn step(dice: &mut Dice) -> String {
    let field = *dice.pick(&FIELDS);
    match dice.below(4) {
        0 => format!("-{field}"),
        1 => format!("+{field}={}", dice.pick(&VALUES)),
        2 => format!("{field}={}", dice.pick(&VALUES)),
        _ => format!("{field}->{}", dice.pick(&["text", "delta", "content", "order", "type"])),
    }
}
