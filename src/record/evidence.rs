//! What a report shows of a cell beside its counts: the first frame that cost text, and how the text came in time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::{Hop, Reason};

/// The first frame of a cell that carried text which its client did not show, beside the frame that it would have shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstFrame {
    /// Which frame with a delta it is on its socket, from 1.
    pub number: u64,
    /// The hop that lost its text.
    pub hop: Hop,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The same chunk as the client's own era sends it, or as it was before a mutation; absent where nothing else differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FrameText>,
    /// The frame as it was sent; absent where none was, because the text was lost before it reached the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FrameText>,
}

/// A frame as text. It is data of somebody else's: escape it wherever it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameText {
    /// Who would send it: `server 1.58.2`, `mutation none`.
    pub from: String,
    /// The text, at most [`FrameText::MOST`] bytes of it.
    pub text: String,
    /// Bytes that were left away at its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl FrameText {
    /// Bytes of a frame that are kept.
    pub const MOST: usize = 2048;

    /// The text, cut between two characters where it is longer than [`FrameText::MOST`].
    pub fn of(from: impl Into<String>, text: &str) -> FrameText {
        let kept = text.floor_char_boundary(FrameText::MOST);
        FrameText { from: from.into(), text: text[..kept].to_owned(), cut_bytes: (text.len() - kept) as u64 }
    }
}

/// How the text of a cell came in time, by the clock of the cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// From the model to the application, each piece of text that reached it.
    pub delay: Spread,
    /// Between two pieces that reached the application.
    pub gap: Spread,
    /// From the first text that the model made to the first that reached the application, microseconds, of the classes that
    /// the application shows; absent where none did, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_us: Option<u64>,
    /// From the first to the last of that text as the model made it, microseconds; zero in older files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub produced_us: u64,
    /// Characters of that text that were held back and came together at the end: within a tenth of that time, behind nine
    /// tenths of it and no more than a quarter after it, each more than a tenth after it was made. Zero in older files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_chars: u64,
}

/// What waited for one subscriber: in the server, on that of its connections on which most did, or in the client between its
/// socket and its application.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Frames that waited at the same time, at most. Of the legacy socket they are publish tasks behind a slow peer.
    pub peak_frames: u64,
    /// Their bytes, at most.
    pub peak_bytes: u64,
    /// Frames that still waited when the connection ended.
    pub at_close_frames: u64,
    /// Their bytes.
    pub at_close_bytes: u64,
    /// The bytes at which the server gives the connection up; absent where it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// The frames at which a client stops reading; absent where it never does, and of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_frames: Option<u64>,
    /// Code and reason of the close that the server sent: `1013 slow_consumer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<String>,
}

impl Queue {
    /// So much waits now.
    pub fn waits(&mut self, frames: u64, bytes: u64) {
        self.peak_frames = self.peak_frames.max(frames);
        self.peak_bytes = self.peak_bytes.max(bytes);
    }

    /// So much waited when the connection ended.
    pub fn ended(&mut self, frames: u64, bytes: u64) {
        (self.at_close_frames, self.at_close_bytes) = (frames, bytes);
    }

    /// Whether nothing waited and nothing limits it.
    pub fn is_empty(&self) -> bool {
        *self == Queue::default()
    }
}

/// A runtime outside that ended the server because it looked idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reaped {
    /// When, from the person's message on, milliseconds.
    pub at_ms: u64,
    /// What `/server_info` said as `idle_time`, seconds.
    pub idle_s: u64,
    /// Whether a turn was running.
    pub running: bool,
}

/// A distribution of times, microseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Times in it; everything else is zero without one.
    pub count: u64,
    /// The smallest.
    pub min_us: u64,
    /// Half of them are at most this.
    pub p50_us: u64,
    /// Nine of ten are.
    pub p90_us: u64,
    /// 99 of 100 are.
    pub p99_us: u64,
    /// The largest.
    pub max_us: u64,
    /// How many fall between a power of two and the next: its exponent, and the count; those that have some, ascending.
    /// Zero microseconds count to exponent 0, as one microsecond does.
    pub buckets: Vec<(u8, u64)>,
}

impl Spread {
    /// The distribution of these times, which are put into order.
    pub fn of(times: &mut [u64]) -> Spread {
        times.sort_unstable();
        let (Some(&min_us), Some(&max_us)) = (times.first(), times.last()) else { return Spread::default() };
        // The smallest time that at least this share does not exceed.
        let at = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        let mut buckets: Vec<(u8, u64)> = Vec::new();
        for time in times.iter() {
            let exponent = u8::try_from(time.max(&1).ilog2()).unwrap_or(u8::MAX);
            match buckets.last_mut() {
                Some((last, count)) if *last == exponent => *count += 1,
                _ => buckets.push((exponent, 1)),
            }
        }
        let (p50_us, p90_us, p99_us) = (at(50), at(90), at(99));
        Spread { count: times.len() as u64, min_us, p50_us, p90_us, p99_us, max_us, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_frame_is_cut_between_two_characters_and_says_how_much_is_gone() {
        let text = "é".repeat(FrameText::MOST);
        let cut = FrameText::of("server 1.58.2", &format!("x{text}"));
        assert_eq!((cut.text.len(), cut.cut_bytes), (FrameText::MOST - 1, FrameText::MOST as u64 + 2));
        let whole = FrameText::of("mutation none", "{}");
        assert_eq!((whole.text.as_str(), whole.cut_bytes), ("{}", 0));
    }

    #[test]
    fn quantiles_are_times_that_occurred() {
        let mut times: Vec<u64> = (1..=100).rev().collect();
        let spread = Spread::of(&mut times);
        assert_eq!((spread.count, spread.min_us, spread.max_us), (100, 1, 100));
        assert_eq!((spread.p50_us, spread.p90_us, spread.p99_us), (50, 90, 99));
        assert_eq!(spread.buckets, [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 37)]);
        assert_eq!(Spread::of(&mut []), Spread::default());
        let zero = Spread::of(&mut [0, 0]);
        assert_eq!((zero.p99_us, zero.buckets), (0, vec![(0, 2)]));
    }
}
