//! The closed lists of words that `[[expect]]`, `[[known]]` and `must_not_receive` are written in.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use toml::Spanned;
use toml::de::DeValue;

use super::problem::Problem;
use super::rule::Axes;
use super::section::{Faults, Section, hint, wrong};
use crate::record::{Consumer, Expected, Hop, Known, Metric, Scope, Signal, Subject, Verdict};

/// A list of words, and what it is a list of.
pub(super) struct Words<T: 'static> {
    what: &'static str,
    pub(super) all: &'static [T],
    pub(super) word: fn(T) -> &'static str,
}

const VERDICT: &Words<Verdict> = &Words { what: "verdict", all: &Verdict::ALL, word: Verdict::as_str };
pub(super) const HOP: &Words<Hop> = &Words { what: "hop", all: &Hop::ALL, word: Hop::as_str };
pub(super) const FEED_HOP: &Words<Hop> =
    &Words { what: "hop of a session feed", all: &Hop::FEED, word: Hop::as_str };
const ANY_HOP: &Words<Hop> = &Words { what: "hop", all: &Hop::EVERY, word: Hop::as_str };
pub(super) const SUBJECT: &Words<Subject> =
    &Words { what: "subject", all: &Subject::ALL, word: Subject::as_str };
const SCOPE: &Words<Scope> = &Words {
    what: "scope",
    all: &[Scope::Total, Scope::Prefix, Scope::Tail, Scope::Gap, Scope::Class, Scope::Scattered],
    word: Scope::as_str,
};
const SIGNAL: &Words<Signal> =
    &Words { what: "signal", all: &[Signal::None, Signal::Log, Signal::Surfaced], word: Signal::as_str };
const METRIC: &Words<Metric> = &Words { what: "budget", all: &Metric::ALL, word: Metric::as_str };
pub(super) const CONSUMER: &Words<Consumer> = &Words {
    what: "consumer",
    all: &[Consumer::Webhook, Consumer::Telemetry, Consumer::Idle, Consumer::Store],
    word: Consumer::as_str,
};

/// The value that a word stands for, or a fault with the nearest words.
pub(super) fn find<T: Copy>(text: &Spanned<String>, words: &Words<T>, faults: &mut Faults) -> Option<T> {
    let found = words.all.iter().copied().find(|value| (words.word)(*value) == text.get_ref());
    if found.is_none() {
        let all: Vec<&str> = words.all.iter().map(|value| (words.word)(*value)).collect();
        let (what, word) = (words.what, text.get_ref().clone());
        faults.add(text.span(), Problem::UnknownWord { what, hint: hint(&word, &all), word });
    }
    found
}

fn optional<T: Copy>(
    section: &mut Section<'_>,
    key: &'static str,
    words: &Words<T>,
    faults: &mut Faults,
) -> Option<T> {
    let text = section.text(key, faults)?;
    find(&text, words, faults)
}

fn verdict(section: &mut Section<'_>, faults: &mut Faults) -> Option<Verdict> {
    section.require("verdict", faults).then(|| optional(section, "verdict", VERDICT, faults)).flatten()
}

fn hops(of: Subject) -> &'static Words<Hop> {
    match of {
        Subject::AgentServer => HOP,
        Subject::SessionFeed => FEED_HOP,
    }
}

/// The expectation of an `[[expect]]` table, without its patterns and figures.
pub(super) fn expected(section: &mut Section<'_>, of: Subject, faults: &mut Faults) -> Option<Expected> {
    let verdict = verdict(section, faults);
    let scope = optional(section, "scope", SCOPE, faults);
    let lost_at = optional(section, "lost_at", hops(of), faults);
    let signal = optional(section, "signal", SIGNAL, faults);
    let reason = section.words("reason", faults).map(Spanned::into_inner);
    // What a session feed costs is said in figures.
    let over = if of == Subject::AgentServer { over(section, faults) } else { None };
    let because = section.words("because", faults).map(Spanned::into_inner);
    Some(Expected { verdict: verdict?, scope, lost_at, signal, reason, over, figures: Vec::new(), because })
}

/// The budgets that are expected to be broken; an empty list says that none is.
fn over(section: &mut Section<'_>, faults: &mut Faults) -> Option<BTreeSet<Metric>> {
    let value = section.value("over")?;
    if value.get_ref().as_array().is_some_and(|items| items.is_empty()) {
        return Some(BTreeSet::new());
    }
    let words = section.one_or_more("over", faults);
    Some(words.iter().filter_map(|word| find(word, METRIC, faults)).collect())
}

/// The failure of a `[[known]]` table, without its patterns. Reason, link and end are required: a failure
/// that nobody has to look at again is an expectation.
fn known(section: &mut Section<'_>, of: Subject, faults: &mut Faults) -> Option<Known> {
    let verdict = verdict(section, faults);
    let lost_at = optional(section, "lost_at", hops(of), faults);
    let reason = section.required("reason", faults).map(Spanned::into_inner);
    let link = section.required("link", faults).map(Spanned::into_inner);
    let expires = section.require("expires", faults).then(|| date(section, "expires", faults)).flatten();
    Some(Known { verdict: verdict?, lost_at, code: None, reason: reason?, link: link?, expires: expires? })
}

/// The failure of an entry in a file of known failures, without its pattern. The cells may be of either subject, so every
/// hop is one.
pub(super) fn listed(section: &mut Section<'_>, faults: &mut Faults) -> Option<Known> {
    let verdict = verdict(section, faults);
    let lost_at = optional(section, "hop", ANY_HOP, faults);
    let code = section.words("reason", faults).map(Spanned::into_inner);
    let reason = section.required("why", faults).map(Spanned::into_inner);
    let link = section.required("link", faults).map(Spanned::into_inner);
    let expires = section.require("expires", faults).then(|| date(section, "expires", faults)).flatten();
    Some(Known { verdict: verdict?, lost_at, code, reason: reason?, link: link?, expires: expires? })
}

/// Every `[[known]]` of a file; `axes` reads the patterns, which are the subject's own.
pub(super) fn failures(
    file: &mut Section<'_>,
    subject: Subject,
    axes: impl Fn(&mut Section<'_>, &mut Faults) -> Axes,
    faults: &mut Faults,
) -> Vec<(Axes, Known)> {
    let mut failures = Vec::new();
    for mut section in file.tables("known", faults) {
        let axes = axes(&mut section, faults);
        let failure = known(&mut section, subject, faults);
        section.finish(faults);
        failures.extend(failure.map(|failure| (axes, failure)));
    }
    failures
}

fn date(section: &mut Section<'_>, key: &'static str, faults: &mut Faults) -> Option<NaiveDate> {
    let value = section.value(key)?;
    let date = match value.get_ref() {
        DeValue::Datetime(d) if d.time.is_none() && d.offset.is_none() => {
            d.date.and_then(|d| NaiveDate::from_ymd_opt(d.year.into(), d.month.into(), d.day.into()))
        }
        _ => None,
    };
    if date.is_none() {
        wrong(key, "a date without quotes, such as 2027-03-01", value, faults);
    }
    date
}
