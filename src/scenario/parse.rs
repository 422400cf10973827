//! From the text of a file to a [`Scenario`], or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeTable;

use super::axis;
use super::budget::Allowance;
use super::diagnostic::Fault;
use super::fault;
use super::idle_policy;
use super::load::{Scenario, stem};
use super::names::Names;
use super::pattern::Glob;
use super::problem::Problem;
use super::reach;
use super::rule::Axes;
use super::section::{Faults, Section, hint};
use super::traits::{self, Refused, Under};
use super::words;
use super::workload::Workload;
use crate::agent_server::profile::ProfileError;
use crate::agent_server::server::SinkModel;
use crate::record::Subject;
use crate::wire::Mutation;

/// Copies of a client in one cell: enough for the fan-out that a release is asked for, and a cell still is a cell.
pub(super) const MAX_SUBSCRIBERS: u64 = 1_000;
pub(super) const MAX_LATENCY_S: f64 = 3_600.0;
pub(super) const MAX_REFUSALS: u64 = 1_000_000;

/// What a name in this file can refer to.
struct Terms<'a, N> {
    names: &'a N,
    workloads: Vec<String>,
    mutations: Vec<String>,
    faults: Vec<String>,
}

/// The file as a table. A broken file has one fault: whatever follows the first is guesswork.
pub(super) fn table(text: &str) -> Result<Spanned<DeTable<'_>>, Vec<Fault>> {
    DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        vec![Fault { span, problem: Problem::Syntax(error.message().to_owned()) }]
    })
}

pub(super) fn parse(path: &str, text: &str, names: &impl Names) -> Result<Scenario, Vec<Fault>> {
    let table = table(text)?;
    let mut faults = Faults::default();
    let scenario = read(path, text, table.get_ref(), names, &mut faults);
    match scenario {
        Some(scenario) if faults.is_empty() => Ok(scenario),
        _ => Err(faults.sorted()),
    }
}

fn read(
    path: &str,
    text: &str,
    table: &DeTable<'_>,
    names: &impl Names,
    faults: &mut Faults,
) -> Option<Scenario> {
    let mut file = Section::new("a scenario", 0..0, table);
    let question = question(&mut file, table, faults);
    let seen = seen(&mut file, faults);
    // A capsule is a scenario with a head of its own, which only those who replay it read.
    file.value("capsule");
    if !is_own(&mut file, faults) {
        return None;
    }
    let servers = file.list("servers", faults);
    let clients = file.list("clients", faults);
    for key in ["servers", "clients", "workloads", "workload"] {
        file.require(key, faults);
    }
    for server in servers.iter().flatten() {
        axis::check_server(server, names, faults);
    }
    let shipping = axis::servers(&values(servers.as_deref()), names).unwrap_or_default();
    for client in clients.iter().flatten() {
        axis::check_client(client, &shipping, names, faults);
    }
    let (defined, workloads) = workloads(&mut file, Workload::read, faults);
    let mutations = mutations(&mut file, faults);
    let must_not_receive = file.list("must_not_receive", faults).unwrap_or_default();
    let must_not_receive =
        must_not_receive.iter().filter_map(|word| words::find(word, words::CONSUMER, faults)).collect();
    let check = |server: &str, laid: &toml::Table| {
        names.check_traits(server, laid).map_err(|error| {
            let shown = error.to_string();
            let alone = match error {
                ProfileError::Laid { message, hint, .. } => Some((message, hint)),
                _ => None,
            };
            Refused { shown, alone }
        })
    };
    let under = Under {
        fixed: Some("ships"),
        parties: shipping.iter().map(|s| s.name.as_str()).collect(),
        check: &check,
    };
    let traits = traits::read(&mut file, text, &under, faults);
    let sink = sink(&mut file, faults);
    let idle_policy = idle_policy::read(&mut file, faults);
    let subscribers = file.count("subscribers", 1, MAX_SUBSCRIBERS, faults).unwrap_or(1);
    let subscribers = u32::try_from(subscribers).unwrap_or(1);

    let bent = fault::read(&mut file, subscribers, names, faults);
    let known = Terms {
        names,
        workloads: defined,
        mutations: written(&mutations),
        faults: bent.iter().map(|set| set.name.clone()).collect(),
    };
    let include = plain(&mut file, "include", &known, faults);
    let exclude = plain(&mut file, "exclude", &known, faults);
    let budgets = file.one_or_more_tables("budget", faults).into_iter().map(|mut section| {
        let axes = axes(&mut section, &known, faults);
        let allowance = Allowance::read(&mut section, &workloads, subscribers, names, faults);
        section.finish(faults);
        (axes, allowance)
    });
    let budget = budgets.collect();
    let expect = file.tables("expect", faults).into_iter().filter_map(|mut section| {
        let axes = axes(&mut section, &known, faults);
        let expected = words::expected(&mut section, Subject::AgentServer, faults);
        section.finish(faults);
        Some((axes, expected?))
    });
    let expect = expect.collect();
    let failures = words::failures(
        &mut file,
        Subject::AgentServer,
        |section, faults| axes(section, &known, faults),
        faults,
    );
    let scenario = Scenario {
        name: stem(path).to_owned(),
        question: question?,
        seen,
        path: path.to_owned(),
        servers: values(servers.as_deref()),
        clients: values(clients.as_deref()),
        workloads,
        mutations,
        faults: bent,
        must_not_receive,
        traits,
        sink,
        idle_policy,
        subscribers,
        budget,
        include,
        exclude,
        expect,
        known: failures,
    };
    if faults.is_empty() {
        reach::check(&scenario, names, &mut file, faults);
    }
    file.finish(faults);
    Some(scenario)
}

/// Where what it asks about was seen.
fn seen(file: &mut Section<'_>, faults: &mut Faults) -> Option<String> {
    let seen = file.words("seen", faults)?;
    if !seen.get_ref().starts_with("https://") {
        let allowed = "a URL that begins with https://".to_owned();
        faults.add(seen.span(), Problem::OutOfRange { key: "seen".to_owned(), allowed });
    }
    Some(seen.into_inner())
}

/// Whether the file is about this reader's subject, as one without a `subject` is. Of any other file nothing else is said:
/// its keys are not ours.
fn is_own(file: &mut Section<'_>, faults: &mut Faults) -> bool {
    if file.value("subject").is_none() {
        return true;
    }
    let Some(text) = file.text("subject", faults) else { return false };
    match words::find(&text, words::SUBJECT, faults) {
        Some(Subject::AgentServer) => true,
        Some(Subject::SessionFeed) => {
            faults.add(text.span(), Problem::OtherSubject { subject: text.get_ref().clone() });
            false
        }
        None => false,
    }
}

/// The webhook sink of `[webhook]`; at once and willing, if it is absent.
fn sink(file: &mut Section<'_>, faults: &mut Faults) -> SinkModel {
    let Some(mut section) = file.one("webhook", faults) else { return SinkModel::default() };
    let latency = section.up_to("latency_s", MAX_LATENCY_S, faults).unwrap_or_default();
    let refuse_first = section.count("refuse_first", 0, MAX_REFUSALS, faults).unwrap_or_default();
    section.finish(faults);
    SinkModel { latency: Duration::from_secs_f64(latency), refuse_first, ..SinkModel::default() }
}

/// The question, which has to be the first thing in the file: a reader meets it before any detail.
pub(super) fn question(file: &mut Section<'_>, table: &DeTable<'_>, faults: &mut Faults) -> Option<String> {
    let first = table.keys().min_by_key(|k| k.span().start);
    let question = file.value("question").is_some().then(|| file.words("question", faults));
    match (&question, first) {
        (None, first) => faults.add(first.map_or(0..0, Spanned::span), Problem::NoQuestion),
        (_, Some(first)) if first.get_ref() != "question" => {
            faults.add(first.span(), Problem::QuestionNotFirst { first: first.get_ref().to_string() });
        }
        _ => {}
    }
    question.flatten().map(Spanned::into_inner)
}

/// The names of all workload tables, and the workloads that the `workloads` key lists.
pub(super) fn workloads<T>(
    file: &mut Section<'_>,
    read: impl Fn(&str, Section<'_>, &mut Faults) -> Option<T>,
    faults: &mut Faults,
) -> (Vec<String>, Vec<Arc<T>>) {
    let (mut defined, mut places) = (Vec::new(), Vec::new());
    let mut sound: Vec<(String, Arc<T>)> = Vec::new();
    for (name, section) in file.named("workload", faults) {
        places.push(name.span());
        let name = name.into_inner();
        sound.extend(read(&name, section, faults).map(|workload| (name.clone(), Arc::new(workload))));
        defined.push(name);
    }
    let mut used = Vec::new();
    let mut seen = BTreeSet::new();
    for name in file.list("workloads", faults).unwrap_or_default() {
        let word = name.get_ref().clone();
        if !defined.contains(&word) {
            listed(&name, "workload of this file", &defined, faults);
        } else if seen.insert(word.clone()) {
            used.extend(sound.iter().find(|(name, _)| *name == word).map(|(_, workload)| workload.clone()));
        } else {
            faults.add(name.span(), Problem::Repeated { what: "workload", name: word });
        }
    }
    // Without a list, or with a name in it that is none, it is not known what was meant.
    if faults.is_empty() {
        unused("workload", defined.iter().zip(places).filter(|(name, _)| !seen.contains(*name)), faults);
    }
    (defined, used)
}

/// Reports definitions that the list of their kind does not name.
pub(super) fn unused<'a>(
    what: &'static str,
    definitions: impl Iterator<Item = (&'a String, Range<usize>)>,
    faults: &mut Faults,
) {
    for (name, span) in definitions {
        let hint = format!("list it in `{what}s`, or delete it");
        faults.add(span, Problem::Unused { what, name: name.clone(), hint });
    }
}

fn mutations(file: &mut Section<'_>, faults: &mut Faults) -> Vec<Mutation> {
    let Some(list) = file.list("mutations", faults) else { return vec![Mutation::default()] };
    let mut mutations = Vec::new();
    let mut ids = BTreeSet::new();
    for text in list {
        match text.get_ref().parse::<Mutation>() {
            // Two mutations that differ in blanks and commas only would share cell ids.
            Ok(m) if !ids.insert(m.to_string().replace(' ', ",")) => {
                faults.add(text.span(), Problem::Repeated { what: "mutation", name: m.to_string() });
            }
            Ok(m) => mutations.push(m),
            Err(e) => faults.add(text.span(), Problem::BadMutation { step: e.step }),
        }
    }
    mutations
}

fn plain<N: Names>(
    file: &mut Section<'_>,
    key: &'static str,
    known: &Terms<'_, N>,
    faults: &mut Faults,
) -> Vec<Axes> {
    let sections = file.tables(key, faults).into_iter();
    let read = sections.map(|mut section| {
        let axes = axes(&mut section, known, faults);
        section.finish(faults);
        axes
    });
    read.collect()
}

/// The patterns of one table. One that names nothing is a typing error, and is reported as one.
fn axes<N: Names>(section: &mut Section<'_>, known: &Terms<'_, N>, faults: &mut Faults) -> Axes {
    let mut globs = |key, faults: &mut Faults, check: &dyn Fn(&Spanned<String>, &mut Faults)| {
        globs(section, key, check, faults)
    };
    Axes {
        server: globs("server", faults, &|text, faults| {
            axis::check_server_pattern(text, known.names, faults);
        }),
        client: globs("client", faults, &|text, faults| {
            axis::check_client_pattern(text, known.names, faults);
        }),
        workload: globs("workload", faults, &|text, faults| {
            listed(text, "workload of this file", &known.workloads, faults);
        }),
        mutation: globs("mutation", faults, &|text, faults| {
            listed(text, "mutation of this scenario", &known.mutations, faults);
        }),
        fault: globs("fault", faults, &|text, faults| {
            listed(text, "fault of this scenario", &known.faults, faults);
        }),
        policy: Vec::new(),
    }
}

/// The patterns under one key, each handed to `check`.
pub(super) fn globs(
    section: &mut Section<'_>,
    key: &'static str,
    check: &dyn Fn(&Spanned<String>, &mut Faults),
    faults: &mut Faults,
) -> Vec<Glob> {
    let mut globs = Vec::new();
    for text in section.one_or_more(key, faults) {
        match Glob::new(text.get_ref()) {
            Ok(glob) => {
                check(&text, faults);
                globs.push(glob);
            }
            Err(e) => {
                let pattern = text.get_ref().clone();
                faults.add(text.span(), Problem::BadPattern { pattern, message: e.to_string() });
            }
        }
    }
    globs
}

/// Reports a name, or a pattern over names, that is none of those that there are.
pub(super) fn listed(text: &Spanned<String>, what: &'static str, all: &[String], faults: &mut Faults) {
    let word = text.get_ref().clone();
    let Ok(glob) = Glob::new(&word) else { return };
    if all.iter().any(|name| glob.matches(name)) {
        return;
    }
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    let problem = if glob.is_literal() {
        Problem::UnknownWord { what, hint: hint(&word, &words), word }
    } else {
        let hint = hint(&word.replace(['*', '?', '[', ']', '!'], ""), &words);
        Problem::MatchesNothing { what, pattern: word, hint }
    };
    faults.add(text.span(), problem);
}

fn written(mutations: &[Mutation]) -> Vec<String> {
    mutations.iter().map(ToString::to_string).collect()
}

pub(super) fn values(list: Option<&[Spanned<String>]>) -> Vec<String> {
    list.unwrap_or_default().iter().map(|s| s.get_ref().clone()).collect()
}
