//! Which budgets two cells were judged by. They are no part of a cell's hash: a run stays comparable when they change. But a
//! verdict that is better because a budget went is no better cell.

use crate::record::Comparison;
use crate::record::baseline::{Allowed, BaselineCell};

/// How the budgets of HEAD are not those of BASE.
pub(super) struct Rejudged {
    /// In words.
    pub(super) words: String,
    /// Whether HEAD allows what BASE did not.
    pub(super) weaker: bool,
}

/// The difference; nothing where there is none, or where a side does not say what it was judged by.
pub(super) fn rejudged(base: &BaselineCell, head: &BaselineCell) -> Option<Rejudged> {
    let (base, head) = (base.judged_by.as_ref()?, head.judged_by.as_ref()?);
    let (mut said, mut weaker) = (Vec::new(), false);
    for (key, [before, after]) in by_key(base, head) {
        let (budget, is) = key;
        match (before.as_slice(), after.as_slice()) {
            (before, after) if same(before, after) => {}
            ([], after) => said.push(format!("{} is new", limits(budget, is, after))),
            (before, []) => {
                weaker = true;
                said.push(format!("{} is gone", limits(budget, is, before)));
            }
            (before, after) => {
                weaker |= looser(is, before, after);
                let now: Vec<String> = after.iter().map(|limit| format!("{} {limit}", is.as_str())).collect();
                said.push(format!("{} is {} now", limits(budget, is, before), now.join(" and ")));
            }
        }
    }
    (!said.is_empty()).then(|| Rejudged { words: said.join("; "), weaker })
}

type Key<'a> = (&'a str, Comparison);

/// The limits of both sides by what they limit, in the order in which they stand there.
fn by_key<'a>(base: &'a [Allowed], head: &'a [Allowed]) -> Vec<(Key<'a>, [Vec<f64>; 2])> {
    let mut all: Vec<(Key<'a>, [Vec<f64>; 2])> = Vec::new();
    for (side, allowed) in base.iter().map(|a| (0, a)).chain(head.iter().map(|a| (1, a))) {
        let key = (allowed.budget.as_str(), allowed.is);
        let at = all.iter().position(|(there, _)| *there == key).unwrap_or_else(|| {
            all.push((key, [Vec::new(), Vec::new()]));
            all.len() - 1
        });
        all[at].1[side].push(allowed.limit);
    }
    all
}

fn same(base: &[f64], head: &[f64]) -> bool {
    base.len() == head.len() && base.iter().zip(head).all(|(a, b)| Comparison::Exactly.holds(*a, *b))
}

/// Whether something is allowed by these limits that was not: the strictest of each side counts.
fn looser(is: Comparison, base: &[f64], head: &[f64]) -> bool {
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match is {
        Comparison::AtMost | Comparison::Below => least(head) > least(base),
        Comparison::AtLeast | Comparison::Above => most(head) < most(base),
        Comparison::Exactly => true,
    }
}

fn limits(budget: &str, is: Comparison, limits: &[f64]) -> String {
    let limits: Vec<String> =
        limits.iter().map(|limit| format!("{budget} {} {limit}", is.as_str())).collect();
    limits.join(" and ")
}
