//! From a cell to the text of the scenario that it is the only cell of.

use std::fmt::Write as _;

use serde::Serialize;
use toml::{Table, Value};

use super::fault;
use super::head::{Found, Head};
use super::sums;
use crate::agent_server::server::{Finish, SinkModel};
use crate::scenario::aside::Does;
use crate::scenario::{Cell, Workload};

/// The text of a capsule. `why` says how the cell was come by.
pub(super) fn written(cell: &Cell, head: &Head, why: &str) -> String {
    sums::sealed(&unsealed(cell, head, why))
}

/// The same without its sums.
pub(super) fn unsealed(cell: &Cell, head: &Head, why: &str) -> String {
    let mut out = String::new();
    let mut put = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    put(key("question", &question(cell, &head.found).into()));
    put(format!("# {}", why.replace('\n', " ")));
    put("# `skewlab replay` runs it byte for byte; `skewlab matrix` runs it too, changed or not.\n"
        .to_owned());
    put(key("servers", &list([&cell.server])));
    put(key("clients", &list([&cell.client])));
    if cell.subscribers != 1 {
        put(key("subscribers", &i64::from(cell.subscribers).into()));
    }
    put(key("workloads", &list([&cell.workload.name])));
    put(key("mutations", &list([&cell.mutation.to_string()])));
    put(key("faults", &list([&cell.fault])));
    if !cell.must_not_receive.is_empty() {
        put(key("must_not_receive", &list(cell.must_not_receive.iter().map(|c| c.as_str()))));
    }
    put(format!("\n{}", section(head)));
    put(workload(&cell.workload));
    for fault in cell.faults.iter() {
        put(table(&format!("[[fault.{}]]", bare(&cell.fault)), fault::written(fault)));
    }
    if !cell.traits.is_empty() {
        put(Traits { traits: &cell.traits }.text());
    }
    if cell.sink != SinkModel::default() {
        let refusals = i64::try_from(cell.sink.refuse_first).unwrap_or(i64::MAX);
        let keys = [("latency_s", cell.sink.latency.as_secs_f64().into()), ("refuse_first", refusals.into())];
        put(table("[webhook]", keys));
    }
    if let Some(policy) = &cell.idle_policy {
        let time = |time: std::time::Duration| time.as_secs_f64().into();
        put(table("[runtime]", [("reap_after_s", time(policy.reap_after)), ("poll_s", time(policy.poll))]));
    }
    // A cell that says nothing of its subject can be expected by nobody.
    if !head.found.verdict.is_rig_fault() {
        put(table("[[expect]]", expected(&head.found)));
    }
    out
}

fn question(cell: &Cell, found: &Found) -> String {
    let (server, client) = (&cell.server, &cell.client);
    let at = found.lost_at.map(|hop| format!(" at {hop}")).unwrap_or_default();
    let why = found.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("Why does {client} on server {server} end in {}{at}{why}?", found.verdict.as_str())
}

/// The keys of the `[[expect]]` that says what came of the cell.
pub(super) fn expected(found: &Found) -> Vec<(&'static str, Value)> {
    let mut keys: Vec<(&str, Value)> = vec![("verdict", found.verdict.as_str().into())];
    keys.extend(found.scope.map(|scope| ("scope", scope.as_str().into())));
    keys.extend(found.lost_at.map(|hop| ("lost_at", hop.as_str().into())));
    keys.extend(found.reason.as_ref().map(|reason| ("reason", reason.as_str().into())));
    keys.push(("signal", found.signal.as_str().into()));
    keys
}

fn workload(load: &Workload) -> String {
    let mut keys: Vec<(&str, Value)> = vec![("rate", load.rate.into()), ("user", load.user.clone().into())];
    if load.finish != Finish::default() {
        keys.push(("finish", load.finish.as_str().into()));
    }
    keys.extend(load.chunk_bytes.map(|n| ("chunk_bytes", i64::try_from(n.get()).unwrap_or(i64::MAX).into())));
    let mut text = table(&format!("[workload.{}]", bare(&load.name)), keys);
    text.push_str("tokens = [\n");
    for item in items(load) {
        let _ = writeln!(text, "    {},", Value::Table(item));
    }
    text + "]\n"
}

/// The items of `tokens`: equal neighbours once, and what happens between tokens in its place.
fn items(load: &Workload) -> Vec<Table> {
    let mut items: Vec<Table> = Vec::new();
    let mut repeated = 1_i64;
    for at in 0..=load.tokens.len() {
        for aside in load.asides.iter().filter(|aside| aside.before == at) {
            items.push(does(&aside.what));
        }
        let Some(token) = load.tokens.get(at) else { break };
        let interrupted = load.asides.iter().any(|aside| aside.before == at);
        if at > 0 && !interrupted && load.tokens[at - 1] == *token {
            repeated += 1;
            if let Some(item) = items.last_mut() {
                item.insert("repeat".to_owned(), repeated.into());
            }
            continue;
        }
        repeated = 1;
        let texts = [("text", &token.text), ("reasoning", &token.reasoning)].into_iter();
        let texts = texts.filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into())));
        items.push(texts.collect());
    }
    items
}

fn does(what: &Does) -> Table {
    let keys: Vec<(&str, Value)> = match what {
        Does::Stall(time) => vec![("stall_s", time.as_secs_f64().into())],
        Does::Tool { name, arguments } => {
            vec![("tool", name.clone().into()), ("arguments", arguments.clone().into())]
        }
        Does::Fail { status, message } => {
            let status = status.map(|status| ("status", i64::from(status).into()));
            std::iter::once(("error", message.clone().into())).chain(status).collect()
        }
    };
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The head as its table.
fn section(head: &Head) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        capsule: &'a Head,
    }
    // Plain data of strings and numbers always serialises; should it not, the reader says what is missing.
    toml::to_string_pretty(&File { capsule: head }).unwrap_or_default()
}

#[derive(Serialize)]
struct Traits<'a> {
    traits: &'a Table,
}

impl Traits<'_> {
    fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

fn table(name: &str, keys: impl IntoIterator<Item = (&'static str, Value)>) -> String {
    keys.into_iter().fold(format!("{name}\n"), |text, (name, value)| text + &key(name, &value) + "\n")
}

fn key(name: &str, value: &Value) -> String {
    format!("{name} = {value}")
}

fn list<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> Value {
    Value::Array(words.into_iter().map(|word| word.as_ref().into()).collect())
}

/// A name as a key: quoted where it has to be.
fn bare(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { Value::from(name).to_string() }
}
