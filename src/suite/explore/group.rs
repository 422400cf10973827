//! Cells that ended alike.

use std::collections::BTreeMap;

use super::specimen::Specimen;
use crate::record::explore::Size;
use crate::record::{CellResult, Hop, Reason, Signal, Verdict};

/// What makes two findings the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) verdict: Verdict,
    pub(super) lost_at: Option<Hop>,
    pub(super) reason: Option<Reason>,
    /// The client's profile, with a callback list or without.
    pub(super) client: String,
}

impl Key {
    pub(super) fn of(cell: &CellResult) -> Key {
        let (verdict, lost_at, reason) = (cell.verdict, cell.lost_at, cell.reason.clone());
        Key { verdict, lost_at, reason, client: cell.client.clone() }
    }

    /// A name that a file can have: `silent_loss-decoded-unknown_kind-python-1.55.1`.
    pub(super) fn slug(&self) -> String {
        let hop = self.lost_at.map(Hop::as_str);
        let reason = self.reason.as_ref().map(Reason::as_str);
        let parts = [Some(self.verdict.as_str()), hop, reason, Some(self.client.as_str())];
        let name = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
        name.chars().map(|c| if plain(c) { c } else { '-' }).collect()
    }
}

/// The cells of one key.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub(super) cells: u64,
    /// The loudest of them.
    pub(super) signal: Signal,
    /// The first, and its number.
    pub(super) number: u64,
    pub(super) first: Specimen,
    /// What the judge says of it.
    pub(super) note: String,
}

/// Cells by what makes them the same.
pub(super) type Groups = BTreeMap<Key, Members>;

/// Puts a cell among those that ended like it. Cells come in the order of their numbers.
pub(super) fn put(groups: &mut Groups, number: u64, specimen: &Specimen, cell: &CellResult) {
    let first = || Members {
        cells: 0,
        signal: Signal::default(),
        number,
        first: specimen.clone(),
        note: cell.findings.first().map(|finding| finding.note.clone()).unwrap_or_default(),
    };
    let members = groups.entry(Key::of(cell)).or_insert_with(first);
    members.cells += 1;
    members.signal = members.signal.max(cell.signal);
}

/// At most that many groups: of every kind of end the first, then of every kind the second, and so on.
pub(super) fn one_of_each_first<'a>(
    groups: &[(&'a Key, &'a Members)],
    most: usize,
) -> Vec<(&'a Key, &'a Members)> {
    let mut seen: BTreeMap<(Verdict, Option<Hop>, Option<&Reason>), usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, (&Key, &Members))> = Vec::new();
    for (key, members) in groups {
        let rank = seen.entry((key.verdict, key.lost_at, key.reason.as_ref())).or_default();
        ranked.push((*rank, (*key, *members)));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, group)| group).take(most).collect()
}

/// How much there is of a specimen.
pub(super) fn size(specimen: &Specimen) -> Size {
    Size {
        tokens: specimen.tokens.len() as u64,
        faults: specimen.faults.len() as u64,
        clients: u64::from(specimen.subscribers),
        steps: specimen.steps.len() as u64,
        traits: specimen.traits.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::suite::explore::dice::Dice;
    use crate::suite::explore::draw::healthy;

    #[test]
    fn a_group_has_a_name_that_a_file_can_have() {
        let key = Key {
            verdict: Verdict::SilentLoss,
            lost_at: Some(Hop::Delivered),
            reason: Some(Reason::new("wrong list")),
            client: "python-1.43.1+ABC/token_callbacks".to_owned(),
        };
        assert_eq!(key.slug(), "silent_loss-delivered-wrong-list-python-1.43.1+ABC-token_callbacks");
    }

    #[test]
    fn of_every_kind_of_end_one_is_kept_before_a_second() {
        let pair = ("1.58.2".to_owned(), "a".to_owned());
        let first = healthy(pair, &mut Dice::new(Seed(1)));
        let members = Members { cells: 1, signal: Signal::None, number: 0, first, note: String::new() };
        let key =
            |verdict, client: &str| Key { verdict, lost_at: None, reason: None, client: client.to_owned() };
        let keys = [
            key(Verdict::SilentLoss, "a"),
            key(Verdict::SilentLoss, "b"),
            key(Verdict::Late, "a"),
            key(Verdict::Late, "b"),
        ];
        let groups: Vec<(&Key, &Members)> = keys.iter().map(|key| (key, &members)).collect();
        let order = |most| -> Vec<&Key> {
            one_of_each_first(&groups, most).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(order(9), [&keys[0], &keys[2], &keys[1], &keys[3]]);
        assert_eq!(order(2), [&keys[0], &keys[2]]);
    }
}
