//! Small value types that carry their own meaning and formatting.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A released version, or an unreleased one built on it: `1.58.2`, `1.0.0-alpha.10`, `1.43.1+AB`.
///
/// The part after `+` names the stages of the proposed bus split that the build carries. It takes part in
/// equality and in names, and never in "at least this release" questions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Release(semver::Version);

impl Release {
    /// Whether this release is `other` or came after it; the stages after `+` are ignored.
    pub fn at_least(&self, other: &Release) -> bool {
        self.0.cmp_precedence(&other.0) != Ordering::Less
    }

    /// The stages of an unreleased build (`AB`, `step7`), empty for a release.
    pub fn stages(&self) -> &str {
        self.0.build.as_str()
    }

    /// The release that it is built on: itself, without stages.
    #[must_use]
    pub fn released(&self) -> Release {
        let mut plain = self.0.clone();
        plain.build = semver::BuildMetadata::EMPTY;
        Release(plain)
    }

    /// Whether the release lies in a range such as `>=1.22.1, <1.31.0`. Pre-releases count by precedence.
    pub fn within(&self, range: &semver::VersionReq) -> bool {
        let mut plain = self.released().0;
        // `VersionReq` refuses every pre-release unless the range names one; an era covers its alphas too.
        range.matches(&plain) || {
            let pre = !plain.pre.is_empty();
            plain.pre = semver::Prerelease::EMPTY;
            pre && range.matches(&plain) && range.comparators.iter().all(|c| c.pre.is_empty())
        }
    }
}

impl JsonSchema for Release {
    fn schema_name() -> Cow<'static, str> {
        "Release".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A released version, or an unreleased one built on it.",
            "type": "string",
            "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$",
            "examples": ["1.58.2", "1.0.0-alpha.10", "1.43.1+AB"],
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Release {
    type Err = semver::Error;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        semver::Version::parse(s).map(Release)
    }
}

impl TryFrom<String> for Release {
    type Error = semver::Error;
    fn try_from(s: String) -> Result<Self, Self::Error> {
        s.parse()
    }
}

impl From<Release> for String {
    fn from(r: Release) -> String {
        r.to_string()
    }
}

/// Frames and characters counted together, since either alone misleads: a class can lose all its text
/// while frames keep flowing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Frames; one that carries text and reasoning counts once in each class.
    pub frames: u64,
    /// Unicode scalar values of the text in them.
    pub chars: u64,
}

impl Tally {
    /// One frame of `text`.
    pub fn of(text: &str) -> Tally {
        Tally { frames: 1, chars: text.chars().count() as u64 }
    }

    /// Whether nothing was counted.
    pub fn is_zero(self) -> bool {
        self == Tally::default()
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.frames += other.frames;
        self.chars += other.chars;
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(iter: I) -> Tally {
        iter.fold(Tally::default(), |mut a, b| {
            a += b;
            a
        })
    }
}

/// Bytes as people read them, in the largest unit of which there is one: `512 B`, `214.3 KiB`, `8.0 MiB`. The tenth is cut,
/// not rounded, so that what is below a limit never reads as at it.
pub fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", tenths(1024)),
        _ => format!("{} MiB", tenths(1_048_576)),
    }
}

/// A length of time in a file: seconds, from nothing to a year.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, Default)]
#[serde(try_from = "f64", into = "f64")]
pub struct Seconds(f64);

/// Seconds of the longest year.
const YEAR_S: f64 = 366.0 * 24.0 * 3600.0;

/// A number that is no length of time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is no number of seconds between 0 and a year")]
pub struct NoSeconds(f64);

impl Seconds {
    /// That many seconds.
    pub fn new(seconds: f64) -> Result<Seconds, NoSeconds> {
        if (0.0..=YEAR_S).contains(&seconds) { Ok(Seconds(seconds)) } else { Err(NoSeconds(seconds)) }
    }

    /// Whole seconds, at most a year of them.
    pub fn from_secs(seconds: u16) -> Seconds {
        Seconds(f64::from(seconds))
    }

    /// The same as a duration.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(self.0)
    }

    /// Whether it is no time at all.
    pub fn is_zero(self) -> bool {
        self.duration().is_zero()
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": YEAR_S })
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

impl TryFrom<f64> for Seconds {
    type Error = NoSeconds;
    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        Seconds::new(seconds)
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> f64 {
        seconds.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(s: &str) -> Release {
        s.parse().unwrap()
    }

    #[test]
    fn stages_do_not_move_a_release_in_time() {
        let staged = release("1.43.1+AB");
        assert!(staged.at_least(&release("1.43.1")) && release("1.43.1").at_least(&staged));
        assert_ne!(staged, release("1.43.1"));
        assert_eq!(staged.stages(), "AB");
    }

    #[test]
    fn ranges_take_stages_and_alphas() {
        let range = semver::VersionReq::parse(">=1.0.0, <1.2.0").unwrap();
        assert!(release("1.1.9+ABC").within(&range));
        assert!(release("1.0.0-alpha.10").within(&range));
        assert!(!release("1.2.0").within(&range));
    }

    #[test]
    fn a_tally_counts_scalar_values() {
        assert_eq!(Tally::of("é😀"), Tally { frames: 1, chars: 2 });
    }

    #[test]
    fn bytes_are_read_in_the_largest_unit_and_never_rounded_up() {
        let read = [0, 1023, 1024, 219_443, 1_048_575, 1_048_576, 8 * 1_048_576].map(size);
        assert_eq!(read, ["0 B", "1023 B", "1.0 KiB", "214.2 KiB", "1023.9 KiB", "1.0 MiB", "8.0 MiB"]);
    }
}
