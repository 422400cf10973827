//! Whether a final text is the streamed text: `matchStreamedSegments` and `findTextSegmentsInOrder`.

use super::super::js;

/// Which white space of the stream may be missing from the final text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slack {
    /// None (1.0.0).
    Exact,
    /// At the end (1.2.0).
    End,
    /// At either end (1.6.1).
    Both,
}

/// Where the streamed text ends in `target`, in bytes; `None` if it is not there.
pub(super) fn matched(target: &str, segments: &[String], slack: Slack) -> Option<usize> {
    let streamed = segments.concat();
    let candidates: &[&str] = match slack {
        Slack::Exact => &[&streamed],
        Slack::End => &[&streamed, js::trim_end(&streamed)],
        Slack::Both => &[&streamed, js::trim_end(&streamed), js::trim_start(&streamed), js::trim(&streamed)],
    };
    if let Some(found) = candidates.iter().find(|c| !c.is_empty() && target.starts_with(**c)) {
        return Some(found.len());
    }
    let mut end = 0;
    for (at, segment) in segments.iter().enumerate() {
        let last = at + 1 == segments.len() && slack != Slack::Exact;
        let segment = if last { js::trim_end(segment) } else { segment };
        end += target[end..].find(segment)? + segment.len();
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(target: &str, segments: &[&str], slack: Slack) -> Option<usize> {
        matched(target, &segments.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(), slack)
    }

    #[test]
    fn a_prefix_or_pieces_in_order_match() {
        assert_eq!(end("Hello world", &["Hel", "lo"], Slack::Exact), Some(5));
        assert_eq!(end("Hello big world", &["Hello", "world"], Slack::Exact), Some(15));
        assert_eq!(end("Hello world", &["world", "Hello"], Slack::Both), None);
        assert_eq!(end("Hello", &["lo"], Slack::Exact), Some(5));
    }

    #[test]
    fn each_era_forgives_more_white_space() {
        assert_eq!(end("Hi", &["Hi \n"], Slack::Exact), None);
        assert_eq!(end("Hi", &["Hi \n"], Slack::End), Some(2));
        assert_eq!(end("Hi", &["\nHi "], Slack::End), None);
        assert_eq!(end("Hi", &["\nHi "], Slack::Both), Some(2));
    }
}
