//! How much of a text was held back and came at once at the end.
//!
//! A proxy that lets one token through and keeps the rest is no stream, however early the first text came. What tells it from
//! everything else that is late: the text comes together, when the model is as good as done, and was made long before. A
//! reader that is slow for all of the stream gets it spread out; a model that thinks and then says all at once has just made it;
//! and what comes long after the end waited for something else than the end, such as a reader that stood still.

/// Text that reached the application, for the first time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    /// When it was made, microseconds from the first text of the model.
    pub(super) made_us: u64,
    /// When it came, on the same clock.
    pub(super) at_us: u64,
    /// Its characters.
    pub(super) chars: u64,
}

/// Of a stream of that length, the characters that came within one tenth of it, behind nine tenths of it and no more than a quarter
/// after its end, each more than a tenth after it was made: the most that any such stretch has.
pub(super) fn held(mut came: Vec<Came>, produced_us: u64) -> u64 {
    let (tenth, quarter) = (produced_us / 10, produced_us / 4);
    let end = produced_us - tenth..=produced_us.saturating_add(quarter);
    came.retain(|text| end.contains(&text.at_us) && text.at_us.saturating_sub(text.made_us) > tenth);
    came.sort_by_key(|text| text.at_us);
    let (mut first, mut within, mut most) = (0, 0, 0);
    for text in &came {
        within += text.chars;
        while text.at_us - came[first].at_us > tenth {
            within -= came[first].chars;
            first += 1;
        }
        most = most.max(within);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred pieces of one character, one each 10 ms, that come when `at` says, milliseconds.
    fn stream(at: impl Fn(u64) -> u64) -> u64 {
        let pieces = (0..=100).map(|n| n * 10);
        let came = pieces.map(|made| Came { made_us: made * 1000, at_us: at(made) * 1000, chars: 1 });
        held(came.collect(), 1_000_000)
    }

    #[test]
    fn what_comes_together_at_the_end_is_held() {
        // All but the first; those of the last tenth were not held for long.
        assert_eq!(stream(|made| if made == 0 { 0 } else { 1000 }), 89);
        // A proxy that lets go as soon as the last tenth begins.
        assert_eq!(stream(|made| if made < 10 { made } else { made.max(900) }), 79);
        // Some time after the end, and in two heaps that lie together.
        assert_eq!(stream(|made| if made < 500 { 1100 } else { 1200 }), 101);
        assert_eq!(stream(|made| if made < 500 { 1100 } else { 1201 }), 51);
        assert_eq!(stream(|_| 1250), 101);
    }

    #[test]
    fn what_is_late_for_another_reason_is_not() {
        // As it is made, in clusters of 100 ms, and behind a line that is late by the whole stream.
        assert_eq!(stream(|made| made), 0);
        assert_eq!(stream(|made| made.div_ceil(100) * 100), 0);
        assert_eq!(stream(|made| made + 1000), 11);
        // A reader that is half, and a tenth, as fast as the model.
        assert_eq!(stream(|made| made * 2), 6);
        assert_eq!(stream(|made| made * 10), 2);
        // One that stood still until the middle has seen the rest grow; one that did for long has waited for no end.
        assert_eq!(stream(|made| made.max(500)), 0);
        assert_eq!(stream(|_| 1251), 0);
        // A model that says all of it at the end has just made it.
        let burst: Vec<Came> =
            (0..100).map(|n| Came { made_us: 990_000 + n, at_us: 1_000_000, chars: 1 }).collect();
        assert_eq!(held(burst, 1_000_000), 0);
        assert_eq!(held(Vec::new(), 1_000_000), 0);
        assert_eq!(held(vec![Came { made_us: 0, at_us: 0, chars: 3 }], 0), 0);
    }
}
