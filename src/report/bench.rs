//! A bench for a person: what a token costs, the line through it, what the subscribers saw, and whether to believe it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::style::paint;
use crate::record::bench::{Bench, Delivery, Model, Point, Quantiles, Ratio};

/// Writes the whole bench as text. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn bench_table(bench: &Bench, out: &mut dyn Write) -> io::Result<()> {
    let settings = &bench.settings;
    let pace = settings.rate.map_or_else(|| "flat out".to_owned(), |rate| format!("{rate} a second"));
    writeln!(
        out,
        "{} chunks of {} bytes, {pace}, {} blocks each, traits of {}\n",
        settings.tokens, settings.payload_bytes, settings.repeats, settings.server
    )?;
    section(out, "cost per token, on the server's thread", costs(&bench.points).as_ref())?;
    section(out, "side effects per token", side_effects(&bench.points).as_ref())?;
    section(out, "cost per token = a + b · subscribers", models(&bench.models).as_ref())?;
    section(
        out,
        "CPU against the first, interleaved (A/A: against a copy of itself)",
        ratios(&bench.ratios).as_ref(),
    )?;
    section(out, "what the subscribers saw", deliveries(&bench.delivery).as_ref())?;
    rig(bench, out)
}

/// The bench as JSON, one line a point, so that two of them can be compared with `diff`.
pub fn bench_json(bench: &Bench, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, bench)?;
    writeln!(out)
}

fn section(out: &mut dyn Write, title: &str, table: Option<&Table>) -> io::Result<()> {
    match table {
        Some(table) => writeln!(out, "{}\n{table}\n", paint(title, Style::new().bold())),
        None => Ok(()),
    }
}

/// A table of right-aligned figures behind the names in its first columns; nothing without rows.
fn table(head: &[&str], rows: Vec<Vec<String>>) -> Option<Table> {
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(head.iter().map(|h| Cell::new(h).set_alignment(CellAlignment::Right)));
    for row in rows {
        table.add_row(row.into_iter().map(|c| Cell::new(c).set_alignment(CellAlignment::Right)));
    }
    Some(table)
}

fn name(bus: &str, encoding: &str) -> String {
    format!("{bus}/{encoding}")
}

/// Up to three significant digits after the point, none that say nothing.
fn figure(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn micros(ns: f64) -> String {
    format!("{:.2}", ns / 1000.0)
}

fn costs(points: &[Point]) -> Option<Table> {
    let row = |p: &Point| {
        let t = &p.per_token;
        let ratio = t.wire_bytes_per_text_byte.map_or_else(|| "-".to_owned(), figure);
        vec![
            name(&p.bus, &p.encoding),
            p.subscribers.to_string(),
            micros(t.cpu_ns),
            figure(t.allocations),
            figure(t.invocations),
            figure(t.serialisations),
            figure(t.bytes_encoded),
            figure(t.frames),
            figure(t.wire_bytes),
            ratio,
        ]
    };
    let head = [
        "server",
        "subscribers",
        "CPU µs",
        "allocations",
        "invocations",
        "serialisations",
        "bytes encoded",
        "frames",
        "wire bytes",
        "per text byte",
    ];
    table(&head, points.iter().map(row).collect())
}

fn side_effects(points: &[Point]) -> Option<Table> {
    // They do not depend on who is subscribed: the largest number of subscribers stands for all.
    let largest = points.iter().map(|p| p.subscribers).max()?;
    let row = |p: &Point| {
        let t = &p.per_token;
        vec![
            name(&p.bus, &p.encoding),
            figure(t.webhook_posts),
            figure(t.webhook_events),
            figure(t.telemetry),
            figure(t.idle_writes.process),
            figure(t.idle_writes.updated_at),
            figure(t.idle_writes.eviction),
            figure(t.log_lines),
        ]
    };
    let head = [
        "server",
        "webhook posts",
        "webhook events",
        "telemetry",
        "process clock",
        "updated_at",
        "eviction",
        "log lines",
    ];
    table(&head, points.iter().filter(|p| p.subscribers == largest).map(row).collect())
}

fn models(models: &[Model]) -> Option<Table> {
    // Fewer than five blocks are no basis for one.
    let interval = |ci: [f64; 2]| match ci {
        [low, high] if low.is_finite() && high.is_finite() => format!("{} … {}", micros(low), micros(high)),
        _ => "unknown".to_owned(),
    };
    let row = |m: &Model| {
        let worst = m.residuals.iter().map(|r| r.relative.abs()).fold(0.0, f64::max);
        vec![
            name(&m.bus, &m.encoding),
            micros(m.a_ns),
            interval(m.a_ci),
            micros(m.b_ns),
            interval(m.b_ci),
            format!("{:.0} %", worst * 100.0),
            figure(m.bytes.b),
            figure(m.allocations.b),
        ]
    };
    let head = ["server", "a µs", "95 %", "b µs", "95 %", "off the line", "bytes b", "allocations b"];
    table(&head, models.iter().map(row).collect())
}

fn ratios(ratios: &[Ratio]) -> Option<Table> {
    table(
        &["of", "against", "subscribers", "ratio", "95 %", "A/A", ""],
        ratios.iter().map(ratio_row).collect(),
    )
}

/// CPU of one subject over another's with interval and control, and what may be said: a row for every reader.
pub(super) fn ratio_row(r: &Ratio) -> Vec<String> {
    let claim = match (r.claim, r.ratio < 1.0) {
        (false, _) => "no claim",
        (true, true) => "cheaper",
        (true, false) => "dearer",
    };
    vec![
        r.of.clone(),
        r.vs.clone(),
        r.subscribers.to_string(),
        format!("{:.2}", r.ratio),
        interval(r.ci),
        interval(r.control_ci),
        claim.to_owned(),
    ]
}

/// An interval; `unknown` where there are too few blocks or there is no control.
pub(super) fn interval(ci: [f64; 2]) -> String {
    match ci {
        [low, high] if low.is_finite() && high.is_finite() => format!("{low:.2} … {high:.2}"),
        _ => "unknown".to_owned(),
    }
}

fn deliveries(deliveries: &[Delivery]) -> Option<Table> {
    let row = |d: &Delivery| {
        let of = |q: &Quantiles| format!("{} {} {}", time(q.p50_ns), time(q.p99_ns), time(q.max_ns));
        let mut reach = format!("{:.4}", d.reach);
        for (n, what) in [(d.missing, "missing"), (d.duplicated, "twice"), (d.reordered, "late")] {
            if n > 0 {
                reach = format!("{reach}, {n} {what}");
            }
        }
        vec![
            name(&d.bus, &d.encoding),
            d.subscribers.to_string(),
            reach,
            of(&d.first_delta),
            of(&d.frame_gap),
            of(&d.token_gap),
            of(&d.delay),
        ]
    };
    let head =
        ["server", "subscribers", "reach", "first delta", "frame gap", "token gap", "delay (p50 p99 max)"];
    table(&head, deliveries.iter().map(row).collect())
}

/// A time in the unit that a reader would choose.
fn time(ns: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let ns = ns as f64;
    match ns {
        n if n < 1e3 => format!("{n:.0}ns"),
        n if n < 1e6 => format!("{:.1}µs", n / 1e3),
        n if n < 1e9 => format!("{:.1}ms", n / 1e6),
        n => format!("{:.2}s", n / 1e9),
    }
}

fn rig(bench: &Bench, out: &mut dyn Write) -> io::Result<()> {
    let rig = &bench.rig;
    let (word, colour) =
        if rig.valid { ("valid", AnsiColor::Green) } else { ("INVALID", AnsiColor::Magenta) };
    write!(out, "rig {}", paint(word, colour.on_default()))?;
    match &rig.reason {
        Some(reason) => writeln!(out, ": {reason}")?,
        None => writeln!(out)?,
    }
    let share = |value: f64| format!("{:.0} %", value * 100.0);
    let maybe = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), share);
    writeln!(
        out,
        "  {} cores; generator {} of a core, subscribers {}; server waited {}; host took {}; noise {}",
        rig.cores,
        share(rig.generator_cpu),
        share(rig.reader_cpu),
        maybe(rig.server_run_delay),
        maybe(rig.steal),
        maybe(rig.noise)
    )?;
    let late =
        |q: &Quantiles| format!("p50 {}, p99 {}, max {}", time(q.p50_ns), time(q.p99_ns), time(q.max_ns));
    if let Some(lag) = &rig.generator_lag {
        writeln!(out, "  generator late by {}", late(lag))?;
    }
    writeln!(out, "  server's event loop late by {}", late(&rig.server_loop_lag))?;
    let bytes =
        |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |b| format!("{b:.0} bytes"));
    writeln!(
        out,
        "  heap per connection: server {}, subscribers {} (beside {} KiB for all of them)",
        bytes(rig.server_bytes_per_connection),
        bytes(rig.client_bytes_per_connection),
        rig.client_shared_bytes.unwrap_or_default() / 1024
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_times_are_as_long_as_they_say_something() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.25, "0.25"), (12.04, "12"), (165_000.4, "165000"), (0.1234, "0.123")]
        {
            assert_eq!(figure(value), text);
        }
        for (ns, text) in [(999, "999ns"), (1500, "1.5µs"), (2_000_000, "2.0ms"), (1_500_000_000, "1.50s")] {
            assert_eq!(time(ns), text);
        }
    }
}
