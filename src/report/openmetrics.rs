//! A run as `OpenMetrics` text, for a textfile collector or a push gateway. All families are gauges: a run is a state, and
//! the next one replaces it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::escape::line;
use crate::record::{CellResult, HopFlow, Run};

/// One family: its samples by label set, so that none is written twice.
struct Family {
    name: &'static str,
    /// The unit, where the name ends with one.
    unit: Option<&'static str>,
    help: &'static str,
    samples: BTreeMap<String, Value>,
}

#[derive(Clone, Copy)]
enum Value {
    Count(u64),
    Seconds(f64),
}

impl Family {
    fn new(name: &'static str, unit: Option<&'static str>, help: &'static str) -> Family {
        Family { name, unit, help, samples: BTreeMap::new() }
    }

    fn set(&mut self, labels: &[(&str, &str)], value: Value) {
        self.samples.insert(written(labels), value);
    }

    fn add(&mut self, labels: &[(&str, &str)], more: u64) {
        let sample = self.samples.entry(written(labels)).or_insert(Value::Count(0));
        if let Value::Count(count) = sample {
            *count = count.saturating_add(more);
        }
    }

    /// Nothing of a family without samples: it was not measured.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Family { name, unit, help, samples } = self;
        if samples.is_empty() {
            return Ok(());
        }
        writeln!(out, "# TYPE {name} gauge")?;
        if let Some(unit) = unit {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        writeln!(out, "# HELP {name} {help}")?;
        for (labels, value) in samples {
            match value {
                Value::Count(count) => writeln!(out, "{name}{{{labels}}} {count}")?,
                Value::Seconds(seconds) => writeln!(out, "{name}{{{labels}}} {seconds}")?,
            }
        }
        Ok(())
    }
}

/// Labels as they stand between the braces.
fn written(labels: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in labels {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing into a string does not fail.
        let _ = write!(text, "{comma}{name}=\"");
        // A line end has an escape of its own here; everything else that acts on a screen is shown.
        let shown: Vec<Cow<'_, str>> = value.split('\n').map(line).collect();
        for c in shown.join("\n").chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                _ => text.push(c),
            }
        }
        text.push('"');
    }
    text
}

/// Writes the gauges of all runs, and the mark of the end.
pub fn openmetrics(runs: &[&Run], out: &mut dyn Write) -> io::Result<()> {
    let mut of_runs = [
        Family::new("skewlab_run_seconds", Some("seconds"), "Wall time of all cells of a run."),
        Family::new(
            "skewlab_stale_known_entries",
            None,
            "Entries of the file of known failures that pick no cell and have to go, by run.",
        ),
        Family::new("skewlab_cells", None, "Cells by scenario, verdict and outcome."),
        Family::new("skewlab_unproven_cells", None, "Cells whose parties hold no certificate, by scenario."),
        Family::new(
            "skewlab_hop_characters",
            Some("characters"),
            "Characters that came to a hop, left it, stopped there or were added there, all cells of a scenario.",
        ),
        Family::new(
            "skewlab_dropped_characters",
            Some("characters"),
            "Characters that stopped, by hop and reason, all cells of a scenario.",
        ),
    ];
    let mut of_cells = [
        Family::new(
            "skewlab_cell_characters",
            Some("characters"),
            "Characters of a cell: streamed by the model, due to the application, and delivered to it.",
        ),
        Family::new("skewlab_webhook_posts", None, "Posts that the webhook sink accepted, by cell."),
        Family::new("skewlab_webhook_events", None, "Events in those posts, by cell."),
        Family::new("skewlab_webhook_deltas", None, "Token deltas among those events, by cell."),
        Family::new("skewlab_telemetry_deltas", None, "Token deltas that telemetry counted, by cell."),
        Family::new("skewlab_idle_writes", None, "Writes to an idle clock, by cell and clock."),
    ];
    for run in runs {
        let [seconds, stale, cells, unproven, hops, dropped] = &mut of_runs;
        let digest = run.digest.get(..16).unwrap_or(&run.digest);
        let labels = [("run", digest), ("clock", run.clock.as_str()), ("skewlab", run.skewlab.as_str())];
        if run.timing.seconds.is_finite() {
            seconds.set(&labels, Value::Seconds(run.timing.seconds));
        }
        stale.set(&labels, Value::Count(run.stale.len() as u64));
        for cell in &run.cells {
            let scenario = ("scenario", cell.scenario.as_str());
            let outcome = ("outcome", cell.outcome.as_str());
            cells.add(&[scenario, ("verdict", cell.verdict.as_str()), outcome], 1);
            unproven.add(&[scenario], u64::from(!cell.proven));
            // A hop that nobody could look into has no figures.
            for flow in cell.hops.iter().filter(|flow| !flow.unseen) {
                of_hop(scenario, flow, hops, dropped);
            }
            of_cell(cell, &mut of_cells);
        }
    }
    of_runs.iter().chain(&of_cells).try_for_each(|family| family.write(out))?;
    writeln!(out, "# EOF")
}

fn of_hop(scenario: (&str, &str), flow: &HopFlow, hops: &mut Family, dropped: &mut Family) {
    let hop = ("hop", flow.hop.as_str());
    let sum = |tallies: &BTreeMap<_, crate::unit::Tally>| tallies.values().map(|t| t.chars).sum::<u64>();
    let stages = [
        ("in", flow.entered.chars),
        ("out", flow.left.chars),
        ("dropped", sum(&flow.dropped)),
        ("added", sum(&flow.added)),
    ];
    for (stage, chars) in stages {
        hops.add(&[scenario, hop, ("stage", stage)], chars);
    }
    for (reason, tally) in &flow.dropped {
        dropped.add(&[scenario, hop, ("reason", reason.as_str())], tally.chars);
    }
}

fn of_cell(cell: &CellResult, families: &mut [Family; 6]) {
    let [characters, posts, events, deltas, telemetry, idle] = families;
    let id = ("cell", cell.id.as_str());
    let stages = [("produced", cell.produced), ("due", cell.due), ("delivered", cell.delivered)];
    for (stage, tally) in stages {
        characters.set(&[id, ("stage", stage)], Value::Count(tally.chars));
    }
    let effects = &cell.side_effects;
    posts.set(&[id], Value::Count(effects.webhook.posts));
    events.set(&[id], Value::Count(effects.webhook.events));
    deltas.set(&[id], Value::Count(effects.webhook.deltas));
    // Of a released server only the webhook was seen.
    if effects.foreign {
        return;
    }
    telemetry.set(&[id], Value::Count(effects.telemetry.deltas));
    let clocks = &effects.idle_writes;
    let clocks =
        [("process", clocks.process), ("updated_at", clocks.updated_at), ("eviction", clocks.eviction)];
    for (clock, writes) in clocks {
        idle.set(&[id, ("clock", clock)], Value::Count(writes));
    }
}
