//! Which exact counts of one cell differ.

use std::collections::BTreeMap;

use crate::record::Figure;
use crate::record::baseline::{Account, Counts, FramesAndChars};
use crate::record::comparison::{Count, CountChange, Counted};

/// What of a foreign server was seen from outside.
const SEEN_OUTSIDE: [&str; 7] = [
    "webhook posts",
    "webhook events",
    "webhook deltas",
    "webhook failed posts",
    "webhook dropped events",
    "stored deltas",
    "client log lines",
];

/// Whether a figure of the session feed is spent, and not text on its way.
fn is_cost(figure: Figure) -> bool {
    matches!(
        figure,
        Figure::Dispatches
            | Figure::InternalDispatches
            | Figure::ChunkDispatches
            | Figure::FrameDispatches
            | Figure::Callbacks
            | Figure::ChunkCallbacks
            | Figure::Filtered
            | Figure::LookupHits
            | Figure::LookupMisses
            | Figure::ForwardedBytes
            | Figure::SchemaSites
            | Figure::DurableBytes
            | Figure::Batches
            | Figure::Fsyncs
            | Figure::Rows
            | Figure::PackedRows
    )
}

/// Every count that differs. A text count gates when both sides have it, a cost when it went up; nothing does where
/// `gates` is false.
pub(super) fn differing(id: &str, base: &Counts, head: &Counts, gates: bool) -> Vec<CountChange> {
    if base == head {
        return Vec::new();
    }
    let mut found = Found { id, gates, changes: Vec::new() };
    found.frames(
        "left",
        &named(&base.left, |hop| hop.as_str()),
        &named(&head.left, |hop| hop.as_str()),
        None,
    );
    let owned = |of: &BTreeMap<String, FramesAndChars>| of.clone();
    found.frames("dropped at", &owned(&base.dropped), &owned(&head.dropped), Some(0));
    found.frames("added at", &owned(&base.added), &owned(&head.added), Some(0));
    let delivered = |of: &Counts| named(&of.delivered, |class| class.as_str());
    found.frames("delivered", &delivered(base), &delivered(head), Some(0));
    for (name, [a, b]) in both(&base.durables, &head.durables) {
        found.note(
            format!("durable events, {name}"),
            Counted::Text,
            Some(a.unwrap_or(0)),
            Some(b.unwrap_or(0)),
        );
    }
    for (name, [a, b]) in both(&base.effects, &head.effects) {
        // What nobody could see in a released server is not zero.
        let seen = |of: &Counts, count: Option<u64>| {
            if of.foreign && !SEEN_OUTSIDE.contains(&name.as_str()) { None } else { Some(count.unwrap_or(0)) }
        };
        let counted = if name == "deltas published" { Counted::Text } else { Counted::Cost };
        found.note(name.clone(), counted, seen(base, a), seen(head, b));
    }
    for (figure, [a, b]) in both(&base.figures, &head.figures) {
        let counted = if is_cost(*figure) { Counted::Cost } else { Counted::Text };
        found.note(figure.words().to_owned(), counted, a, b);
    }
    // A file that was kept before these were compared says nothing of them; the comparison says that.
    if let (Some(base), Some(head)) = (&base.account, &head.account) {
        found.account(base, head);
    }
    found.changes
}

fn named<K: Ord>(
    of: &BTreeMap<K, FramesAndChars>,
    word: impl Fn(&K) -> &'static str,
) -> BTreeMap<String, FramesAndChars> {
    of.iter().map(|(key, pair)| (word(key).to_owned(), *pair)).collect()
}

/// The keys of both, each with its two values.
fn both<'a, K: Ord, V: Copy>(
    base: &'a BTreeMap<K, V>,
    head: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, [Option<V>; 2])> {
    let mut keys: Vec<&K> = base.keys().chain(head.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter().map(|key| (key, [base.get(key).copied(), head.get(key).copied()]))
}

struct Found<'a> {
    id: &'a str,
    gates: bool,
    changes: Vec<CountChange>,
}

impl Found<'_> {
    /// Frames and characters by name; `absent` is what a name that is not there stands for.
    fn frames(
        &mut self,
        what: &str,
        base: &BTreeMap<String, FramesAndChars>,
        head: &BTreeMap<String, FramesAndChars>,
        absent: Option<u64>,
    ) {
        for (name, [a, b]) in both(base, head) {
            for (n, unit) in ["frames", "characters"].into_iter().enumerate() {
                let of = |pair: Option<FramesAndChars>| pair.map(|pair| pair[n]).or(absent);
                self.note(format!("{what} {name}, {unit}"), Counted::Text, of(a), of(b));
            }
        }
    }

    fn account(&mut self, base: &Account, head: &Account) {
        let produced = |of: &Account| BTreeMap::from([("by the model".to_owned(), of.produced)]);
        self.frames("produced", &produced(base), &produced(head), Some(0));
        let due = |of: &Account| BTreeMap::from([("to the application".to_owned(), of.due)]);
        self.frames("due", &due(base), &due(head), Some(0));
        let entered = |of: &Account| named(&of.entered, |hop| hop.as_str());
        self.frames("came to", &entered(base), &entered(head), None);
        let found = |of: &Account| named(&of.found, |verdict| verdict.as_str());
        self.frames("found", &found(base), &found(head), Some(0));
        for (key, [a, b]) in both(&base.log, &head.log) {
            let zero = |lines: Option<u64>| Some(lines.unwrap_or(0));
            self.note(format!("client log, {key}, lines"), Counted::Cost, zero(a), zero(b));
        }
        self.note("what surfaced".to_owned(), Counted::Text, Some(base.surfaced), Some(head.surfaced));
        for (n, name) in ["steps", "silent steps"].into_iter().enumerate() {
            let of = |account: &Account| account.oracle.map(|oracle| oracle[n]);
            self.note(format!("by the consumer's own count, {name}"), Counted::Text, of(base), of(head));
        }
        self.note(
            "number of the first frame that was lost".to_owned(),
            Counted::Text,
            base.first_frame,
            head.first_frame,
        );
    }

    fn note(&mut self, count: String, counted: Counted, base: Option<u64>, head: Option<u64>) {
        if base == head {
            return;
        }
        let gates = match (base, head, counted) {
            (Some(_), Some(_), Counted::Text) => true,
            (Some(base), Some(head), Counted::Cost) => head > base,
            // What one side could not see.
            _ => false,
        };
        let [base, head] = [base, head].map(|count| count.map(Count::Whole));
        let gates = gates && self.gates;
        self.changes.push(CountChange { id: self.id.to_owned(), count, counted, base, head, gates });
    }
}
