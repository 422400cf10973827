//! A reply that the person orders in the message itself, handy by hand: `[[n=500 rate=100 reasoning=7]]`.

use std::time::Duration;

use super::error::nearest;
use super::reply::{Part, Reply};

const KEYS: [&str; 5] = ["n", "rate", "reasoning", "first", "tail"];

/// As many tokens as one order may ask for.
const MAX_TOKENS: u32 = 100_000;

/// The reply that the last directive in `text` orders: `reasoning` chunks `think0 …`, then `n` chunks `tok0 …`, `rate`
/// a second; `first` and `tail` as in `2s`. What is not ordered is as in `usual`. `None` without a directive: only
/// what consists of `key=value` alone is one. The error names the word that is wrong.
pub(super) fn ordered(text: &str, usual: &Reply) -> Option<Result<Reply, String>> {
    let (_, after) = text.rsplit_once("[[")?;
    let (inside, _) = after.split_once("]]")?;
    let words: Option<Vec<(&str, &str)>> = inside.split_whitespace().map(|w| w.split_once('=')).collect();
    let words = words.filter(|w| !w.is_empty())?;
    Some(order(&words, usual))
}

fn order(words: &[(&str, &str)], usual: &Reply) -> Result<Reply, String> {
    let mut reply = Reply { parts: Vec::new(), ..usual.clone() };
    let (mut tokens, mut thoughts) = (20, 0);
    for &(key, value) in words {
        let wrong = |expected: &str| format!("`{key}={value}`: expected {expected}");
        let count = || match value.parse() {
            Ok(n) if n <= MAX_TOKENS => Ok(n),
            _ => Err(wrong("a count up to 100000")),
        };
        let time = || -> Result<Duration, String> {
            humantime::parse_duration(value).map_err(|_| wrong("a time, as in 500ms or 2s"))
        };
        match key {
            "n" => tokens = count()?,
            "reasoning" => thoughts = count()?,
            "rate" => reply.rate = value.parse().map_err(|_| wrong("tokens a second"))?,
            "first" => reply.first = time()?,
            "tail" => reply.tail = time()?,
            _ => {
                let hint = nearest(key, KEYS.into_iter());
                return Err(format!("`{key}={value}`: no such key{hint}; expected {}", KEYS.join(", ")));
            }
        }
    }
    reply.parts.extend((0..thoughts).map(|n| Part::reasoning(format!("think{n} "))));
    reply.parts.extend((0..tokens).map(|n| Part::text(format!("tok{n} "))));
    reply.check().map_err(|fault| fault.to_string())?;
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_orders_tokens_and_leaves_the_rest_as_usual() {
        let usual = Reply { tail: Duration::from_secs(3), ..Reply::short("hi") };
        let reply = ordered("go [[n=2 rate=100 reasoning=1]] now", &usual).unwrap().unwrap();
        let parts = vec![Part::reasoning("think0 "), Part::text("tok0 "), Part::text("tok1 ")];
        assert_eq!(reply, Reply { parts, rate: 100.0, ..usual.clone() });
        assert!(ordered("a [[link]] and [[]]", &usual).is_none() && ordered("n=3", &usual).is_none());
    }

    #[test]
    fn a_wrong_directive_is_named() {
        let wrong = |text: &str| ordered(text, &Reply::default()).unwrap().unwrap_err();
        assert_eq!(wrong("[[n=x]]"), "`n=x`: expected a count up to 100000");
        assert!(wrong("[[reasonin=7]]").contains("did you mean `reasoning`?"), "{}", wrong("[[reasonin=7]]"));
        assert!(wrong("[[rate=0]]").starts_with("0 parts a second"), "{}", wrong("[[rate=0]]"));
        assert!(wrong("[[n=100001]]").contains("100000") && wrong("[[first=2]]").contains("500ms"));
    }
}
