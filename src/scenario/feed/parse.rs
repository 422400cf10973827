//! From the text of a file to a [`FeedScenario`], or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;

use super::expand::consumer_names;
use super::figures::{self, Figured, Known as Letters};
use super::reach;
use super::scenario::FeedScenario;
use super::workload::FeedWorkload;
use crate::record::{Expected, Subject};
use crate::scenario::diagnostic::Fault as Mistake;
use crate::scenario::load::stem;
use crate::scenario::parse::{globs, listed, question, table, values, workloads};
use crate::scenario::pattern::Glob;
use crate::scenario::problem::Problem;
use crate::scenario::rule::Axes;
use crate::scenario::section::{Faults, Section, hint};
use crate::scenario::traits::{self, Refused, Under};
use crate::scenario::words;
use crate::session_feed::profile::VariantError;
use crate::session_feed::store::FlushPolicy;
use crate::session_feed::{Fault, Variants};

/// Plain listeners on one feed.
pub(in crate::scenario) const MAX_LISTENERS: u64 = 1_000;

/// What a name in this file can refer to.
struct Terms<'a> {
    variants: &'a [&'a str],
    workloads: Vec<String>,
    faults: Vec<String>,
    policies: Vec<String>,
}

pub(super) fn parse(path: &str, text: &str, variants: &Variants) -> Result<FeedScenario, Vec<Mistake>> {
    let table = table(text)?;
    let mut faults = Faults::default();
    match read(path, text, table.get_ref(), variants, &mut faults) {
        Some(scenario) if faults.is_empty() => Ok(scenario),
        _ => Err(faults.sorted()),
    }
}

fn read(
    path: &str,
    text: &str,
    table: &DeTable<'_>,
    all: &Variants,
    faults: &mut Faults,
) -> Option<FeedScenario> {
    let mut file = Section::new("a scenario of the session feed", 0..0, table);
    let question = question(&mut file, table, faults);
    file.value("subject");
    let variants = file.list("variants", faults);
    let consumers = file.list("consumers", faults);
    for key in ["variants", "consumers", "workloads", "workload"] {
        file.require(key, faults);
    }
    let names = all.names();
    for variant in variants.iter().flatten() {
        party(variant, "variant", &names, faults);
    }
    for consumer in consumers.iter().flatten() {
        party(consumer, "consumer", &consumer_names(), faults);
    }
    let (defined, workloads) = workloads(&mut file, FeedWorkload::read, faults);
    // How far a workload goes that does not read nobody knows.
    let readable = faults.is_empty();
    let found = forms(&mut file, "faults", "fault", &fault_form, faults);
    if readable {
        reached(&found, &workloads, faults);
    }
    let found: Vec<Fault> = match file.value("faults") {
        Some(_) => found.into_iter().map(Spanned::into_inner).collect(),
        None => vec![Fault::None],
    };
    let policies = forms(&mut file, "policies", "flush policy", &policy_form, faults);
    let policies: Vec<FlushPolicy> = policies.into_iter().map(Spanned::into_inner).collect();
    let packed = flag(&mut file, "packed", faults);
    let (log_listeners, live_listeners) = listeners(&mut file, faults);
    let check = |variant: &str, laid: &toml::Table| all.with(variant, laid).map(drop).map_err(refused);
    let under = Under { fixed: None, parties: meant(variants.as_deref(), &names), check: &check };
    let traits = traits::read(&mut file, text, &under, faults);

    let known = Terms {
        variants: &names,
        workloads: defined,
        faults: found.iter().map(ToString::to_string).collect(),
        policies: policies.iter().map(ToString::to_string).collect(),
    };
    let mut plain = |key: &'static str, faults: &mut Faults| -> Vec<Axes> {
        let sections = file.tables(key, faults).into_iter();
        let read = sections.map(|mut section| {
            let axes = axes(&mut section, &known, faults);
            section.finish(faults);
            axes
        });
        read.collect()
    };
    let (include, exclude) = (plain("include", faults), plain("exclude", faults));
    let expect = file.tables("expect", faults).into_iter().filter_map(|mut section| {
        let axes = axes(&mut section, &known, faults);
        let expected = words::expected(&mut section, Subject::SessionFeed, faults);
        let figures = figures::read(&mut section, faults);
        section.finish(faults);
        let letters = |workload, fault| Letters { workload, fault, log_listeners, live_listeners };
        tried(&figures, &axes, &workloads, &found, &letters, faults);
        Some((axes, (expected?, figures)))
    });
    let expect: Vec<(Axes, (Expected, Vec<Figured>))> = expect.collect();
    let failures = words::failures(
        &mut file,
        Subject::SessionFeed,
        |section, faults| axes(section, &known, faults),
        faults,
    );
    let scenario = FeedScenario {
        name: stem(path).to_owned(),
        question: question?,
        path: path.to_owned(),
        variants: values(variants.as_deref()),
        consumers: values(consumers.as_deref()),
        workloads,
        faults: found,
        policies,
        packed,
        traits,
        log_listeners,
        live_listeners,
        include,
        exclude,
        expect,
        known: failures,
    };
    if faults.is_empty() {
        reach::check(&scenario, all, &mut file, faults);
    }
    file.finish(faults);
    Some(scenario)
}

/// Works every figure out once for every workload and fault that it can be about, so that what does not work is said
/// before anything runs.
fn tried<'a>(
    figures: &[Figured],
    axes: &Axes,
    workloads: &'a [Arc<FeedWorkload>],
    found: &[Fault],
    letters: &dyn Fn(&'a FeedWorkload, Fault) -> Letters<'a>,
    faults: &mut Faults,
) {
    for figured in figures {
        let places = workloads.iter().flat_map(|load| found.iter().map(move |fault| (load, *fault)));
        let mut places = places.filter(|(load, fault)| axes.reaches(&load.name, &fault.to_string()));
        // The next place would most likely say the same.
        if let Some((span, problem)) =
            places.find_map(|(load, fault)| figured.limit(letters(load, fault)).err())
        {
            faults.add(span, problem);
        }
    }
}

/// Reports a party of a file that does not exist, or a glob that matches none.
fn party(text: &Spanned<String>, what: &'static str, all: &[&str], faults: &mut Faults) {
    let pattern = text.get_ref().clone();
    match Glob::new(&pattern) {
        Ok(glob) if all.iter().any(|name| glob.matches(name)) => {}
        Ok(glob) if glob.is_literal() => {
            let hint = hint(&pattern, all);
            faults.add(text.span(), Problem::UnknownWord { what, word: pattern, hint });
        }
        Ok(_) => faults.add(text.span(), Problem::NoMatch { what, pattern }),
        Err(e) => faults.add(text.span(), Problem::BadPattern { pattern, message: e.to_string() }),
    }
}

/// The names that an axis means.
fn meant<'a>(listed: Option<&[Spanned<String>]>, all: &[&'a str]) -> Vec<&'a str> {
    let globs: Vec<Glob> =
        listed.unwrap_or_default().iter().filter_map(|text| Glob::new(text.get_ref()).ok()).collect();
    all.iter().copied().filter(|name| globs.iter().any(|glob| glob.matches(name))).collect()
}

/// The values of a list in which each has a form of its own, and stands once.
fn forms<T: Clone>(
    file: &mut Section<'_>,
    key: &'static str,
    what: &'static str,
    read: &dyn Fn(&str) -> Result<T, String>,
    faults: &mut Faults,
) -> Vec<Spanned<T>> {
    let (mut values, mut seen) = (Vec::new(), BTreeSet::new());
    for text in file.list(key, faults).unwrap_or_default() {
        let word = text.get_ref().clone();
        match read(&word) {
            Ok(_) if !seen.insert(word.clone()) => {
                faults.add(text.span(), Problem::Repeated { what, name: word });
            }
            Ok(value) => values.push(Spanned::new(text.span(), value)),
            Err(hint) => faults.add(text.span(), Problem::BadForm { what, word, hint }),
        }
    }
    values
}

/// Reports a fault at a chunk that no workload of the scenario comes to.
fn reached(found: &[Spanned<Fault>], workloads: &[Arc<FeedWorkload>], faults: &mut Faults) {
    let Some(longest) = workloads.iter().max_by_key(|load| load.chunks()) else { return };
    let (load, chunks) = (&longest.name, longest.chunks());
    for fault in found.iter().filter(|fault| fault.get_ref().chunk().is_some_and(|k| k > chunks)) {
        let word = fault.get_ref().to_string();
        let hint = format!("`{load}` is the longest and streams {chunks} chunks");
        faults.add(fault.span(), Problem::Unreached { word, hint });
    }
}

/// A fault, or the nearest form, or all of them.
fn fault_form(word: &str) -> Result<Fault, String> {
    word.parse::<Fault>().map_err(|_| {
        let stem = word.split(['@', ':']).next().unwrap_or_default();
        let near = |form: &&&str| form.split(['@', ':']).next() == Some(stem);
        match Fault::FORMS.iter().find(near) {
            Some(form) if form.contains(['@', ':']) => {
                format!("write `{form}`, with a whole number from 1 in place of the letter")
            }
            Some(form) => format!("write `{form}`"),
            None => hint(stem, &Fault::FORMS),
        }
    })
}

/// A flush policy, or what there is.
fn policy_form(word: &str) -> Result<FlushPolicy, String> {
    let all = ["turn-end", "checkpoints", "every-event", "window-200ms"];
    word.parse().map_err(|_| format!("{}; a window takes any milliseconds from 1", hint(word, &all)))
}

fn flag(file: &mut Section<'_>, key: &'static str, faults: &mut Faults) -> bool {
    let Some(value) = file.value(key) else { return false };
    let flag = value.get_ref().as_bool();
    if flag.is_none() {
        crate::scenario::section::wrong(key, "true or false", value, faults);
    }
    flag.unwrap_or_default()
}

/// How many plain listeners sit on either feed: those of the log, those of the live feed.
fn listeners(file: &mut Section<'_>, faults: &mut Faults) -> (u32, u32) {
    let Some(mut section) = file.one("listeners", faults) else { return (0, 0) };
    let mut count = |key| {
        let n = section.count(key, 0, MAX_LISTENERS, faults).unwrap_or_default();
        u32::try_from(n).unwrap_or_default()
    };
    let both = (count("log"), count("live"));
    section.finish(faults);
    both
}

/// The patterns of one table. A literal that names nothing is a typing error, and is reported as one.
fn axes(section: &mut Section<'_>, known: &Terms<'_>, faults: &mut Faults) -> Axes {
    Axes {
        server: globs(section, "variant", &|text, f| party(text, "variant", known.variants, f), faults),
        client: globs(section, "consumer", &|text, f| party(text, "consumer", &consumer_names(), f), faults),
        workload: globs(
            section,
            "workload",
            &|text, f| listed(text, "workload of this file", &known.workloads, f),
            faults,
        ),
        mutation: globs(
            section,
            "fault",
            &|text, f| listed(text, "fault of this scenario", &known.faults, f),
            faults,
        ),
        fault: Vec::new(),
        policy: globs(
            section,
            "policy",
            &|text, f| listed(text, "flush policy of this scenario", &known.policies, f),
            faults,
        ),
    }
}

/// A trait that a variant does not take. The TOML reader says what it knows, and the nearest of that is named.
fn refused(error: VariantError) -> Refused {
    let shown = error.to_string();
    let VariantError::Faulty { message, .. } = error else { return Refused { shown, alone: None } };
    let first = message.lines().next().unwrap_or_default().to_owned();
    let mut words = first.split('`').skip(1).step_by(2);
    let hint = words.next().map(|word| hint(word, &words.collect::<Vec<_>>())).unwrap_or_default();
    Refused { shown, alone: Some((first, hint)) }
}
