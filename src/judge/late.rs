//! Text that came after the final message of its turn.

use super::align::{Alignment, Extra, Kind, Missing, align};
use super::evidence::{Evidence, count};
use crate::record::observation::Piece;
use crate::record::{Class, Finding, Observation, Reason, Verdict};
use crate::unit::Tally;

const AFTER_THE_REPLY: Reason = Reason::new("after_the_reply");

/// At most one finding, over all shown classes.
pub(super) fn late(evidence: &Evidence) -> Option<Finding> {
    let seen = evidence.seen;
    let shown = |piece: &&Piece| piece.class != Class::Empty && seen.shows.contains(&piece.class);
    let late: Tally = pieces(seen).filter(shown).map(|piece| Tally::of(&piece.text)).sum();
    if late.chars == 0 {
        return None;
    }
    let (chars, frames) = (count(late.chars, "character"), count(late.frames, "frame"));
    let note = format!("{chars} in {frames} came after the final message of their turn had come");
    Some(Finding { reason: Some(AFTER_THE_REPLY), ..evidence.finding(Verdict::Late, late, note) })
}

/// The alignment of a class, in which what is late is not out of order as well: it stands behind the rest because it came
/// after the final message, and in its own place nothing would be wrong.
pub(super) fn in_place(seen: &Observation, class: Class, produced: &[&str], found: Alignment) -> Alignment {
    if found.kind != Kind::Reordered || seen.late.is_empty() {
        return found;
    }
    let all = seen.delivered.iter().enumerate().filter(|(_, piece)| piece.class == class);
    let (late, in_time): (Vec<_>, Vec<_>) = all.partition(|(at, _)| seen.late.binary_search(at).is_ok());
    let late: u64 = late.iter().map(|(_, piece)| Tally::of(&piece.text).chars).sum();
    let in_time: Vec<&str> = in_time.iter().map(|(_, piece)| piece.text.as_str()).collect();
    let without = align(produced, &in_time);
    // The pieces are all there, so what is missing without the late ones is the late ones.
    if matches!(without.kind, Kind::Missing { .. }) && without.missing.chars == late {
        let (missing, extra) = (Missing::default(), Extra::default());
        return Alignment { kind: Kind::Equal, missing, extra, at_most: false };
    }
    found
}

fn pieces(seen: &Observation) -> impl Iterator<Item = &Piece> {
    seen.late.iter().filter_map(|at| seen.delivered.get(*at))
}
