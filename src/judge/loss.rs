//! Text that was produced and did not arrive while it streamed.

use super::align::{Kind, align};
use super::evidence::{ClassText, Evidence, count};
use crate::record::observation::Piece;
use crate::record::{Figure, Finding, Hop, Reason, Scope};
use crate::unit::Tally;

/// A step of which no script could be made.
const SCRIPT_NOT_DERIVED: Reason = Reason::new("script_not_derived");

/// A class that lost text.
struct Lost<'e, 'a> {
    text: &'e ClassText<'a>,
    amount: Tally,
}

impl Lost<'_, '_> {
    fn wholly(&self) -> bool {
        self.amount.chars == self.text.produced
    }
}

/// At most one finding, over all shown classes.
pub(super) fn loss(evidence: &Evidence) -> Option<Finding> {
    let shown: Vec<&ClassText> = evidence.shown().filter(|text| text.produced > 0).collect();
    let lost: Vec<Lost> = shown.iter().filter_map(|text| lost(text)).collect();
    if lost.is_empty() {
        return None;
    }
    let amount: Tally = lost.iter().map(|class| class.amount).sum();
    let produced: u64 = shown.iter().map(|text| text.produced).sum();
    let (seen, scope) = (evidence.seen, scope(evidence, &shown, &lost));
    let (signal, verdict) = (evidence.told(), Evidence::loss(evidence.told()));
    let at = heaviest(&shown);

    let arrived: u64 = shown.iter().map(|text| arrived(text, &lost)).sum();
    let bound = if shown.iter().any(|text| text.alignment.at_most) { "about " } else { "" };
    let arrived = format!("{bound}{arrived} of {}", count(produced, "character"));
    let mut note = vec![match (scope, lost.first()) {
        (Some(Scope::Class), Some(class)) => format!("{arrived} arrived, no {}", class.text.class.as_str()),
        _ => format!("{arrived} arrived"),
    }];
    note.extend(at.map(|(hop, reason)| format!("most stopped at `{hop}` because `{reason}`")));
    // The reply alone also ends a run, for who reads it.
    note.extend(evidence.cut().filter(|_| !seen.durables.reply).map(str::to_owned));
    note.push(evidence.noticed(signal, evidence.lost_frames()));
    let (lost_at, reason) = at.map(|(hop, reason)| (hop, reason.clone())).unzip();
    Some(Finding { scope, lost_at, reason, signal, ..evidence.finding(verdict, amount, note.join("; ")) })
}

/// Characters of a class that came: where some were altered as well, what the ledger says of the rest.
fn arrived(text: &ClassText, lost: &[Lost]) -> u64 {
    let missing = match text.alignment.kind {
        Kind::Altered => {
            lost.iter().find(|class| class.text.class == text.class).map(|class| class.amount.chars)
        }
        _ => Some(text.alignment.missing.chars),
    };
    text.produced.saturating_sub(missing.unwrap_or(0))
}

/// A client that never got its first frame is no healthy one, even when there was no text to lose.
pub(super) fn unattended(evidence: &Evidence) -> Option<Finding> {
    let reason = evidence.seen.unattended.clone()?;
    let verdict = Evidence::loss(evidence.seen.signal);
    let noticed = evidence.noticed(evidence.seen.signal, 0);
    let note = format!("the client never got a frame, because `{reason}`; {noticed}");
    let finding = evidence.finding(verdict, Tally::default(), note);
    Some(Finding {
        scope: Some(Scope::Total),
        lost_at: Some(Hop::Dispatched),
        reason: Some(reason),
        ..finding
    })
}

/// Who takes a stored log for the model's scripts and could not make some of them has not been delivered the session, whether
/// or not there was text in them.
pub(super) fn underived(evidence: &Evidence) -> Option<Finding> {
    let count_of = |figure| evidence.seen.figures.get(&figure).copied().unwrap_or(0);
    let failed = count_of(Figure::ScriptsFailed);
    if failed == 0 {
        return None;
    }
    let verdict = Evidence::loss(evidence.seen.signal);
    let all = failed + count_of(Figure::ScriptsDerived);
    let noticed = evidence.noticed(evidence.seen.signal, 0);
    let note = format!("{failed} of {} could not be derived; {noticed}", count(all, "script"));
    let scope = (failed == all).then_some(Scope::Total);
    let finding = evidence.finding(verdict, Tally::default(), note);
    Some(Finding { scope, lost_at: evidence.last_hop(), reason: Some(SCRIPT_NOT_DERIVED), ..finding })
}

/// What of a class is missing and should not be.
///
/// Beside missing text alone this looks at altered text too: a token sent twice must not hide that another
/// one was dropped. There the ledger has to confirm it, since the alignment cannot tell lost from changed.
fn lost<'e, 'a>(text: &'e ClassText<'a>) -> Option<Lost<'e, 'a>> {
    let dropped = text.lost();
    let chars = match text.alignment.kind {
        Kind::Missing { .. } => {
            let not_lost = text.withheld().chars + text.shrunk().chars;
            text.alignment.missing.chars.saturating_sub(not_lost)
        }
        Kind::Altered => text.alignment.missing.chars.min(text.lost_whole().chars),
        Kind::Equal | Kind::Duplicated | Kind::Reordered => 0,
    };
    (chars > 0).then_some(Lost { text, amount: Tally { frames: dropped.frames, chars } })
}

/// Which part is missing; `None` when altered text leaves no answer.
fn scope(evidence: &Evidence, shown: &[&ClassText], lost: &[Lost]) -> Option<Scope> {
    if lost.iter().all(Lost::wholly) {
        // What else may be wrong with the other class, it is not this text that is missing there.
        return Some(if lost.len() == shown.len() { Scope::Total } else { Scope::Class });
    }
    if let Some(scope) = numbered(evidence) {
        return Some(scope);
    }
    // Classes may come in another order than the model made them (a view keeps them apart); then each class
    // is placed for itself.
    if let Kind::Missing { scope } = interleaved(evidence) {
        return Some(scope);
    }
    let mut scopes = lost.iter().map(|class| match class.text.alignment.kind {
        Kind::Missing { scope } => Some(scope),
        _ => None,
    });
    let first = scopes.next()??;
    scopes.try_fold(first, |all, scope| Some(if scope? == all { all } else { Scope::Scattered }))
}

/// Where the pieces stood that are known to be lost by more than their text: of equal words it cannot be seen in the text
/// which of them is missing.
fn numbered(evidence: &Evidence) -> Option<Scope> {
    let seen = evidence.seen;
    let shown = |(_, piece): &(usize, &Piece)| seen.shows.contains(&piece.class) && !piece.text.is_empty();
    let places: Vec<usize> = seen.produced.iter().enumerate().filter(shown).map(|(at, _)| at).collect();
    let is_lost = |at: &usize| seen.lost_pieces.binary_search(at).is_ok();
    let lost: Vec<usize> = (0..places.len()).filter(|place| is_lost(&places[*place])).collect();
    let (begin, end) = (*lost.first()?, *lost.last()?);
    Some(match (end - begin + 1 == lost.len(), begin == 0, end + 1 == places.len()) {
        (false, ..) => Scope::Scattered,
        (_, true, true) => Scope::Total,
        (_, true, _) => Scope::Prefix,
        (_, _, true) => Scope::Tail,
        _ => Scope::Gap,
    })
}

/// Text and reasoning as one sequence, as far as they are shown.
fn interleaved(evidence: &Evidence) -> Kind {
    fn texts<'a>(evidence: &Evidence, pieces: &'a [Piece]) -> Vec<&'a str> {
        let shown = |piece: &&Piece| evidence.seen.shows.contains(&piece.class);
        pieces.iter().filter(shown).map(|piece| piece.text.as_str()).collect()
    }
    let (produced, delivered) = (&evidence.seen.produced, &evidence.seen.delivered);
    align(&texts(evidence, produced), &texts(evidence, delivered)).kind
}

/// The hop and reason that stopped the most characters; of equals the earlier hop.
fn heaviest<'a>(shown: &[&ClassText<'a>]) -> Option<(Hop, &'a Reason)> {
    let mut sums: std::collections::BTreeMap<(Hop, &Reason), u64> = std::collections::BTreeMap::new();
    for (hop, reason, tally) in shown.iter().flat_map(|text| text.net_drops()) {
        if !reason.by_design() && *reason != Reason::TEXT_ALTERED && tally.chars > 0 {
            *sums.entry((hop, reason)).or_default() += tally.chars;
        }
    }
    // `max_by_key` takes the last of equals.
    sums.into_iter().rev().max_by_key(|(_, chars)| *chars).map(|(at, _)| at)
}
