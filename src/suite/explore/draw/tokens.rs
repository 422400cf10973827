//! What the model streams.

use crate::agent_server::server::Chunk;
use crate::suite::explore::dice::Dice;
use crate::suite::explore::specimen::Token;

/// The longest stream.
const TOKENS: u64 = 100;

/// Texts that some client or other has been seen to treat on its own: white space, characters of several bytes, what looks
/// like markup, and repeats, which cannot be told from each other.
const TEXTS: [&str; 14] = [
    "ha",
    " ",
    "\n\n",
    "   ",
    " é",
    "漢字",
    "😀",
    "👩‍👩‍👧",
    "<think>",
    "</think>",
    "<function=x>",
    "\"{",
    "\u{2028}",
    "e\u{301}",
];

/// One to a hundred tokens, short streams as often as long ones.
pub(super) fn tokens(dice: &mut Dice) -> Vec<Token> {
    let most = *dice.pick(&[4, 12, 40, TOKENS]);
    let count = dice.within(1, most);
    (0..count).map(|n| token(n, dice)).collect()
}

fn token(n: u64, dice: &mut Dice) -> Token {
    let text = match dice.below(20) {
        0..10 => Some(format!("tok{n} ")),
        10..16 => Some((*dice.pick(&TEXTS)).to_owned()),
        16 => Some(String::new()),
        _ => None,
    };
    let reasoning = (text.is_none() || dice.chance(4)).then(|| format!("why{n} "));
    let stall = dice.chance(2).then(|| dice.millis(100, 40_000));
    Token { chunk: Chunk { text, reasoning }, stall }
}
