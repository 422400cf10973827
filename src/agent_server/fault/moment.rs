//! When a fault sets in.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// When a fault sets in. Times count from the moment at which the person's first message is sent, for every kind and in every
/// later turn too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// From the beginning, before anybody connects.
    Start,
    /// With the n-th chunk of the model, from 1, right after it was published.
    Token(u64),
    /// At that time; what the turn itself does comes with its first chunk from then on.
    Time(Duration),
    /// That long after something that happened.
    After(Mark, Duration),
}

/// Something that happens in every healthy turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The first delta was published.
    FirstDelta,
    /// The reply was published.
    Reply,
    /// The turn is over.
    Turn,
}

impl Mark {
    /// All of them, in the order in which they happen.
    pub const ALL: [Mark; 3] = [Mark::FirstDelta, Mark::Reply, Mark::Turn];

    /// The words in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Mark::FirstDelta => "first delta",
            Mark::Reply => "reply",
            Mark::Turn => "turn",
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Start => f.write_str("start"),
            Moment::Token(n) => write!(f, "token {n}"),
            Moment::Time(time) => write!(f, "{time:?}"),
            Moment::After(mark, time) => write!(f, "{} + {time:?}", mark.as_str()),
        }
    }
}

/// A moment that does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a moment is `start`, a chunk such as `token 40` (from 1), or a time such as `12s`, `1.4s` or `250ms`"
)]
pub struct BadMoment;

/// What `at` says: `start`, `token 40`, `12s`.
impl FromStr for Moment {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Moment, BadMoment> {
        if text == "start" {
            return Ok(Moment::Start);
        }
        if let Some(number) = text.strip_prefix("token ") {
            return match number.trim().parse() {
                Ok(n @ 1..) => Ok(Moment::Token(n)),
                _ => Err(BadMoment),
            };
        }
        duration(text).map(Moment::Time).ok_or(BadMoment)
    }
}

/// A time as people write it: `12s`, `1.4s`, `250ms`, `2m`, `1h`.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    // A day is longer than any cell.
    let time = number * seconds;
    (time <= 86_400.0).then(|| Duration::from_secs_f64(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_people_write_them() {
        let ms = |ms| Ok(Moment::Time(Duration::from_millis(ms)));
        assert_eq!("token 40".parse(), Ok(Moment::Token(40)));
        assert_eq!("start".parse(), Ok(Moment::Start));
        assert_eq!("12s".parse(), ms(12_000));
        assert_eq!("1.4s".parse(), ms(1_400));
        assert_eq!("250ms".parse(), ms(250));
        assert_eq!("40m".parse(), ms(2_400_000));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for bad in [
            "token",
            "token 0",
            "token -1",
            "token forty",
            "12",
            "s",
            "",
            "1d",
            "-1s",
            "99h",
            "1.2.3s",
            "eins",
        ] {
            assert_eq!(bad.parse::<Moment>(), Err(BadMoment), "{bad}");
        }
    }
}
