//! What the page's script shows of a cell when it is asked for: JSON in an element that is never run.
//!
//! Cells of a run share most of what is to be said of them, hop by hop as much as word by word. So everything but names
//! and headlines lies once in a pool, and a cell has numbers of places in it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::advice::seed_flag;
use super::frame::first_frame;
use super::visible::visible_value;
use super::wording::{self, outcome, spaced};
use crate::record::{CellResult, Finding, HopFlow, Reason, Run, Spread, Verdict};
use crate::report::style::mark;
use crate::report::waiting::waiting;
use crate::report::words;
use crate::unit::Tally;

/// The cells of all runs of a report.
#[derive(Debug, Default)]
pub(super) struct Data {
    pool: Vec<Value>,
    places: HashMap<String, usize>,
    cells: Vec<Value>,
    verdicts: Map<String, Value>,
    commands: Vec<Value>,
}

impl Data {
    /// How many cells there are: the number of the next one.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Adds the cells of a run, with the beginning of the command that makes each of them again, by scenario.
    pub(super) fn add(&mut self, run: &Run, title: &str, commands: &[(String, Option<String>)]) {
        let commands: Map<String, Value> =
            commands.iter().map(|(scenario, command)| (scenario.clone(), json!(command))).collect();
        self.commands.push(json!({"title": title, "reproduce": commands, "seed": seed_flag(run)}));
        for (at, cell) in run.cells.iter().enumerate() {
            let micros = run.timing.cell_micros.get(at).copied();
            let times = run.timing.cell_times.get(at).and_then(Option::as_ref);
            let times = times.map(|times| json!({"delay": spread(&times.delay), "gap": spread(&times.gap)}));
            let cell = self.cell(cell, micros, times);
            self.cells.push(cell);
        }
    }

    /// The JSON, fit to stand in a `script` element: no text in it can end that or begin another.
    pub(super) fn json(self) -> serde_json::Result<String> {
        let all = json!({
            "pool": self.pool, "verdicts": self.verdicts, "runs": self.commands, "cells": self.cells,
        });
        let text = serde_json::to_string(&visible_value(all))?;
        // All of them can only stand in strings.
        Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
    }

    /// The place of a value in the pool; none for one that is empty.
    fn pooled(&mut self, value: Value) -> Option<usize> {
        match &value {
            Value::Array(items) if items.is_empty() => return None,
            Value::Object(fields) if fields.is_empty() => return None,
            Value::Null => return None,
            _ => {}
        }
        let next = self.pool.len();
        let place = *self.places.entry(value.to_string()).or_insert(next);
        if place == next {
            self.pool.push(value);
        }
        Some(place)
    }

    fn verdict(&mut self, verdict: Verdict) -> &'static str {
        let word = verdict.as_str();
        if !self.verdicts.contains_key(word) {
            let explained = words::explain(verdict);
            let (class, words) = (wording::class(verdict), spaced(word));
            let known = json!({
                "mark": mark(verdict), "class": class, "words": words,
                "meaning": explained.meaning, "next": explained.next,
            });
            self.verdicts.insert(word.to_owned(), known);
        }
        word
    }

    fn cell(&mut self, cell: &CellResult, micros: Option<u64>, times: Option<Value>) -> Value {
        let verdict = self.verdict(cell.verdict);
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                fields.insert(key.to_owned(), value);
            }
        };
        put("id", json!(cell.id));
        put("run", json!(self.commands.len() - 1));
        put("scenario", json!(cell.scenario));
        put("server", json!(cell.server_release));
        put("clients", json!(cell.client_asked));
        put("verdict", json!(verdict));
        put("outcome", json!(outcome(cell.outcome)));
        put("expected", json!(self.verdict(cell.expected)));
        put("note", json!(cell.outcome_note));
        put("unproven", json!((!cell.proven).then_some(true)));
        put("hash", json!(cell.hash.get(..16).unwrap_or(&cell.hash)));
        put("due", tally(cell.due));
        put("delivered", tally(cell.delivered));
        put("micros", json!(micros));
        put("subscribers", json!(cell.subscribers));
        let findings: Vec<Value> = cell.findings.iter().map(|found| self.finding(found)).collect();
        let classes: Map<String, Value> = cell
            .classes
            .iter()
            .filter(|(_, flows)| {
                flows.iter().any(|f| !f.entered.is_zero() || !f.dropped.is_empty() || f.unseen)
            })
            .map(|(class, flows)| (class.as_str().to_owned(), hops(flows)))
            .collect();
        // One class alone is what all of them are together.
        let classes = if classes.len() > 1 { Value::Object(classes) } else { Value::Null };
        let log: Vec<Value> = cell.log.iter().map(|(key, lines)| json!([key, lines])).collect();
        let parties = json!([
            ["server", cell.server_release, cell.server],
            ["client", cell.client_release, cell.client],
            ["workload", cell.workload, null],
            ["what goes wrong", cell.mutation, null],
        ]);
        for (key, value) in [
            ("parties", parties),
            ("findings", Value::Array(findings)),
            ("hops", hops(&cell.hops)),
            ("classes", classes),
            ("durables", json!(wording::durables(cell))),
            ("surfaced", json!(cell.surfaced)),
            ("log", Value::Array(log)),
            ("waiting", json!(waiting(cell))),
            ("effects", json!(wording::effects(&cell.side_effects))),
            ("budgets", json!(wording::budgets(cell))),
            ("figures", json!(wording::figures(cell))),
            ("oracle", json!(wording::oracle(cell))),
            ("times", times.unwrap_or_default()),
            ("frame", cell.first_frame.as_ref().map(first_frame).unwrap_or_default()),
        ] {
            if let Some(place) = self.pooled(value) {
                fields.insert(key.to_owned(), json!(place));
            }
        }
        Value::Object(fields)
    }

    fn finding(&mut self, finding: &Finding) -> Value {
        let verdict = self.verdict(finding.verdict);
        let scope = finding.scope.map(crate::record::Scope::as_str);
        let hop = finding.lost_at.map(crate::record::Hop::as_str);
        let reason = finding.reason.as_ref().map(Reason::as_str);
        json!([verdict, scope, hop, reason, finding.signal.as_str(), tally(finding.amount), finding.note])
    }
}

fn tally(tally: Tally) -> Value {
    json!([tally.frames, tally.chars])
}

/// `[hop, in, out, dropped, added, unseen]`, without what is empty at the end.
fn hops(flows: &[HopFlow]) -> Value {
    let by_reason = |of: &std::collections::BTreeMap<Reason, Tally>| -> Vec<Value> {
        of.iter().map(|(r, t)| json!([r.as_str(), t.frames, t.chars, r.by_design()])).collect()
    };
    let flow = |flow: &HopFlow| {
        let (dropped, added) = (by_reason(&flow.dropped), by_reason(&flow.added));
        let mut row = vec![json!(flow.hop.as_str()), tally(flow.entered), tally(flow.left)];
        if flow.unseen || !dropped.is_empty() || !added.is_empty() {
            row.extend([json!(dropped), json!(added), json!(flow.unseen)]);
        }
        Value::Array(row)
    };
    flows.iter().map(flow).collect()
}

fn spread(spread: &Spread) -> Value {
    let Spread { count, min_us, p50_us, p90_us, p99_us, max_us, buckets } = spread;
    json!([count, min_us, p50_us, p90_us, p99_us, max_us, buckets])
}
