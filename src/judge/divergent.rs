//! Two sources of one text that disagree.
//!
//! A harness that keeps the same text twice (chunks and the message made of them, a live feed and the log) has a second
//! authority, and nothing compares the two while it runs. Source: the deepseek-harness, where a hand rename changed messages
//! and not the deltas that they cite, and no test noticed.

use std::collections::BTreeSet;

use super::align::align;
use super::evidence::{Evidence, count};
use crate::record::{Finding, Reason, Source, Verdict};
use crate::unit::Tally;

const SOURCES_DIFFER: Reason = Reason::new("sources_differ");

/// One finding for every pair of sources that do not say the same.
pub(super) fn sources(evidence: &Evidence) -> Vec<Finding> {
    let pairs = evidence.seen.sources.iter().filter(|[one, other]| one.text != other.text);
    pairs.map(|[one, other]| differ(evidence, one, other)).collect()
}

fn differ(evidence: &Evidence, one: &Source, other: &Source) -> Finding {
    if (one.chunks && other.chunks) || (one.events && other.events) {
        return feeds_differ(evidence, one, other);
    }
    let alignment = align(&[&one.text], &[&other.text]);
    // A replaced character is both missing and extra, and is one that differs.
    let chars = alignment.missing.chars.max(alignment.extra.chars);
    let bound = if alignment.at_most { "at most " } else { "" };
    let place = one.text.chars().zip(other.text.chars()).take_while(|(a, b)| a == b).count();
    let note = format!(
        "`{}` and `{}` are one text and differ in {bound}{}, first at character {}",
        one.name,
        other.name,
        count(chars, "character"),
        place + 1
    );
    let finding = evidence.finding(Verdict::Divergent, Tally { frames: 0, chars }, note);
    Finding { reason: Some(SOURCES_DIFFER), ..finding }
}

/// Two feeds of one stream, a line a chunk or an event. A chunk without text counts as much as any other.
fn feeds_differ(evidence: &Evidence, one: &Source, other: &Source) -> Finding {
    let [first, second] = [one, other].map(|source| source.text.lines().collect::<BTreeSet<_>>());
    let alone: Vec<&str> = one.text.lines().filter(|line| !second.contains(line)).collect();
    let alone_too: Vec<&str> = other.text.lines().filter(|line| !first.contains(line)).collect();
    let chunks = (alone.len() + alone_too.len()) as u64;
    let number = |line: &&str| line.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    let place = alone.iter().chain(&alone_too).filter_map(number).min();
    // The same chunks in another order.
    let what = if one.events { "event" } else { "chunk" };
    let place = place.map_or("in their order".to_owned(), |n| format!("first at {what} {n}"));
    let (names, differ) = ([&one.name, &other.name], count(chunks, what));
    let note = format!(
        "`{}` and `{}` carry one stream and differ in {differ}, {place}; {} only on `{}`, {} only on `{}`",
        names[0],
        names[1],
        alone.len(),
        names[0],
        alone_too.len(),
        names[1]
    );
    let finding = evidence.finding(Verdict::Divergent, Tally { frames: chunks, chars: 0 }, note);
    Finding { reason: Some(SOURCES_DIFFER), ..finding }
}
