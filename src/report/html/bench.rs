//! Cost against subscribers: of the emulated servers, of session feeds, of released servers.

use super::chart::{Fit, Plot, Series, draw, number};
use super::measured::Measured;
use super::wording::{Row, counted, micros};
use super::{Section, Tone};
use crate::record::bench::{Bench, Line, Model, Point, Quantiles, Ratio, RigReport};
use crate::record::feed_bench::FeedBench;
use crate::report::bench::{interval, ratio_row};

/// What the pictures of a fan-out bench show.
const LEGEND: &str = "Large marks are medians, small ones single blocks. The line is the fit a + b · subscribers; the band \
                      is the 95 % interval of its slope b, drawn from the fitted a. Counts are exact, times are of this machine.";

/// The section of `bench fanout`.
pub(super) fn fan_out(bench: &Bench, id: String, title: String) -> askama::Result<Section> {
    let s = &bench.settings;
    let pace = s.rate.map_or_else(|| "flat out".to_owned(), |rate| format!("{rate} a second"));
    let mut shown = Measured {
        lead: format!(
            "{} chunks of {} bytes, {pace}, {} of each subject at each number of subscribers, traits of server {}.",
            s.tokens,
            s.payload_bytes,
            counted(s.repeats.into(), "block"),
            s.server
        ),
        legend: LEGEND,
        ..Measured::default()
    };
    if !bench.rig.valid {
        let why = bench.rig.reason.as_deref().unwrap_or("it does not say why");
        shown.note(Tone::Bad, format!("No figure below may be quoted: {why}"));
    }
    if !bench.complete {
        shown.note(Tone::Warn, "Stopped early: not everything that was asked for was measured.");
    }
    for broken in bench.delivery.iter().filter(|d| !d.whole()) {
        let text = format!(
            "{} at {}: {} of {} frames came, {} missing, {} twice, {} out of order.",
            name(&broken.bus, &broken.encoding),
            counted(broken.subscribers.into(), "subscriber"),
            broken.received,
            broken.due,
            broken.missing,
            broken.duplicated,
            broken.reordered
        );
        shown.note(Tone::Bad, text);
    }
    let plots = [
        (
            "CPU per token",
            "µs",
            Plotted {
                of: |p| p.per_token.cpu_ns / 1e3,
                blocks: true,
                line: |m| (m.a_ns / 1e3, m.b_ns / 1e3, m.b_ci.map(|b| b / 1e3)),
            },
        ),
        (
            "Bytes on the wire per token",
            "bytes",
            Plotted { of: |p| p.per_token.wire_bytes, blocks: false, line: |m| of(m.bytes) },
        ),
        (
            "Allocations per token",
            "allocations",
            Plotted { of: |p| p.per_token.allocations, blocks: false, line: |m| of(m.allocations) },
        ),
    ];
    for (at, (what, unit, plotted)) in plots.into_iter().enumerate() {
        let plot = plot(bench, format!("{id}-chart{at}"), what, unit, &plotted);
        shown.charts.extend(draw(&plot)?);
    }
    points(&bench.points, &mut shown);
    models(&bench.models, &mut shown);
    ratios(&bench.ratios, "subscribers", &mut shown);
    delivery(bench, &mut shown);
    shown.rig = rig(&bench.rig);
    let headline = if bench.rig.valid {
        (Tone::Good, claims(&between(bench), "bus and encoding", "subscriber"))
    } else {
        (Tone::Bad, "The rig was not fit to measure: no figure may be quoted".to_owned())
    };
    shown.section(id, title, headline)
}

/// The ratios of two subjects of the bench: a bare writer that they were held against too is none.
fn between(bench: &Bench) -> Vec<&Ratio> {
    let subject = |own: &str| bench.models.iter().any(|m| name(&m.bus, &m.encoding) == own);
    bench.ratios.iter().filter(|r| subject(&r.of) && subject(&r.vs)).collect()
}

/// What may be said, in one sentence.
fn claims(ratios: &[&Ratio], of: &str, across: &str) -> String {
    let claimed: Vec<&Ratio> = ratios.iter().copied().filter(|r| r.claim).collect();
    let far = |r: &Ratio| (r.ratio.max(f64::MIN_POSITIVE).ln()).abs();
    let strongest = claimed.iter().max_by(|a, b| far(a).total_cmp(&far(b)));
    match strongest {
        None => format!(
            "No {of} is shown to be cheaper than another ({} compared)",
            counted(ratios.len() as u64, "pair")
        ),
        Some(r) => format!(
            "{} costs {:.2} times the CPU of {} at {}: the largest of {} that may be claimed",
            r.of,
            r.ratio,
            r.vs,
            counted(r.subscribers.into(), across),
            counted(claimed.len() as u64, "difference")
        ),
    }
}

/// One figure of a bench: at each point, and as a line.
struct Plotted {
    of: fn(&Point) -> f64,
    blocks: bool,
    line: fn(&Model) -> (f64, f64, [f64; 2]),
}

fn of(line: Line) -> (f64, f64, [f64; 2]) {
    (line.a, line.b, line.b_ci)
}

fn plot(bench: &Bench, id: String, what: &str, unit: &'static str, plotted: &Plotted) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    let mut told = Vec::new();
    for point in &bench.points {
        let own = name(&point.bus, &point.encoding);
        let at = series.iter().position(|s| s.name == own).unwrap_or_else(|| {
            series.push(Series { name: own.clone(), ..Series::default() });
            series.len() - 1
        });
        let x = f64::from(point.subscribers);
        series[at].points.push((x, (plotted.of)(point)));
        if plotted.blocks {
            series[at].blocks.extend(point.cpu_ns_blocks.iter().map(|ns| (x, ns / 1e3)));
        }
    }
    for model in &bench.models {
        let own = name(&model.bus, &model.encoding);
        let (a, b, b_ci) = (plotted.line)(model);
        told.push(format!("{own}: {} + {} for each subscriber.", number(a), number(b)));
        for series in series.iter_mut().filter(|s| s.name == own) {
            series.line = Some(Fit { a, b, b_ci });
        }
    }
    let description = format!("{what} in {unit} against subscribers. {}", told.join(" "));
    Plot {
        id,
        title: format!("{what}, against subscribers"),
        description,
        across: "subscribers",
        up: unit,
        series,
    }
}

fn name(bus: &str, encoding: &str) -> String {
    format!("{bus}/{encoding}")
}

fn points(points: &[Point], shown: &mut Measured) {
    let rows = points.iter().map(|p| {
        let t = &p.per_token;
        let figures =
            [t.allocations, t.invocations, t.serialisations, t.bytes_encoded, t.frames, t.wire_bytes];
        let head = [name(&p.bus, &p.encoding), p.subscribers.to_string(), format!("{:.2}", t.cpu_ns / 1e3)];
        let ratio = t.wire_bytes_per_text_byte.map_or_else(|| "-".to_owned(), number);
        head.into_iter().chain(figures.map(number)).chain([ratio]).collect()
    });
    let head = [
        "subject",
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
    shown.table("Cost per token, on the server's thread", &head, rows);
    // They do not depend on who is subscribed: the largest number of subscribers stands for all.
    let largest = points.iter().map(|p| p.subscribers).max();
    let rows = points.iter().filter(|p| Some(p.subscribers) == largest).map(|p| {
        let t = &p.per_token;
        let w = &t.idle_writes;
        let figures = [
            t.webhook_posts,
            t.webhook_events,
            t.telemetry,
            w.process,
            w.updated_at,
            w.eviction,
            t.log_lines,
        ];
        std::iter::once(name(&p.bus, &p.encoding)).chain(figures.map(number)).collect()
    });
    let head = [
        "subject",
        "webhook posts",
        "webhook events",
        "telemetry",
        "process clock",
        "updated_at",
        "eviction",
        "log lines",
    ];
    shown.table("Side effects per token", &head, rows);
}

fn models(models: &[Model], shown: &mut Measured) {
    let rows = models.iter().map(|m| {
        let off = m.residuals.iter().map(|r| r.relative.abs()).fold(0.0, f64::max);
        vec![
            name(&m.bus, &m.encoding),
            format!("{:.2}", m.a_ns / 1e3),
            interval(m.a_ci.map(|v| v / 1e3)),
            format!("{:.2}", m.b_ns / 1e3),
            interval(m.b_ci.map(|v| v / 1e3)),
            format!("{:.0} %", off * 100.0),
            number(m.bytes.b),
            number(m.allocations.b),
        ]
    });
    let head =
        ["subject", "a µs", "95 % of a", "b µs", "95 % of b", "off the line", "bytes b", "allocations b"];
    shown.table("Cost per token = a + b · subscribers", &head, rows);
}

/// CPU of one subject over another's, with the control.
fn ratios(ratios: &[Ratio], across: &str, shown: &mut Measured) {
    let head = ["of", "against", across, "ratio", "95 %", "A/A control", "may be said"];
    shown.table("CPU of one over the other, interleaved", &head, ratios.iter().map(ratio_row));
}

fn delivery(bench: &Bench, shown: &mut Measured) {
    let quantiles = |q: &Quantiles| [q.p50_ns, q.p99_ns, q.max_ns].map(|ns| micros(ns / 1000)).join(" / ");
    let rows = bench.delivery.iter().map(|d| {
        vec![
            name(&d.bus, &d.encoding),
            d.subscribers.to_string(),
            format!("{:.4}", d.reach),
            quantiles(&d.first_delta),
            quantiles(&d.frame_gap),
            quantiles(&d.token_gap),
            quantiles(&d.delay),
        ]
    });
    let head = ["subject", "subscribers", "reach", "first delta", "frame gap", "token gap", "delay"];
    shown.table("What the subscribers saw (p50 / p99 / max)", &head, rows);
}

fn rig(rig: &RigReport) -> Vec<Row> {
    let row = |what: &str, value: String| (what.to_owned(), value);
    let share = |value: f64| format!("{:.0} %", value * 100.0);
    let maybe = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), share);
    let late = |q: &Quantiles| {
        let [p50, p99, max] = [q.p50_ns, q.p99_ns, q.max_ns].map(|ns| micros(ns / 1000));
        format!("p50 {p50}, p99 {p99}, max {max}")
    };
    let bytes =
        |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |b| format!("{b:.0} bytes"));
    let mut rows = vec![
        row("fit to measure", if rig.valid { "yes".to_owned() } else { "no".to_owned() }),
        row("cores", rig.cores.to_string()),
        row("generator", format!("{} of a core", share(rig.generator_cpu))),
        row("subscribers' thread", format!("{} of a core", share(rig.reader_cpu))),
        row("server waited for a core", maybe(rig.server_run_delay)),
        row("taken by the machine's host", maybe(rig.steal)),
        row("noise of the machine", maybe(rig.noise)),
    ];
    rows.extend(rig.generator_lag.as_ref().map(|lag| row("generator late by", late(lag))));
    rows.push(row("server's event loop late by", late(&rig.server_loop_lag)));
    rows.push(row("heap per connection, server", bytes(rig.server_bytes_per_connection)));
    rows.push(row("heap per connection, subscribers", bytes(rig.client_bytes_per_connection)));
    rows
}

/// The section of `bench feed`.
pub(super) fn feed(bench: &FeedBench, id: String, title: String) -> askama::Result<Section> {
    let s = &bench.settings;
    let packed = if s.packed { ", packed rows" } else { "" };
    let mut shown = Measured {
        lead: format!(
            "{} chunks a session of {} characters each, {} a second on the session's own clock, {} on {}{packed}, {} each in \
             a drawn order.",
            s.chunks,
            s.payload,
            s.rate,
            s.policy,
            s.store,
            counted(s.repeats.into(), "session")
        ),
        legend: "Large marks are medians, small ones single sessions; what joins them is no fit. CPU is of this machine.",
        ..Measured::default()
    };
    if !bench.complete {
        shown.note(Tone::Warn, "Stopped early: not every session that was asked for was measured.");
    }
    let mut series: Vec<Series> = Vec::new();
    for point in &bench.points {
        let at = series.iter().position(|s| s.name == point.variant).unwrap_or_else(|| {
            series.push(Series { name: point.variant.clone(), ..Series::default() });
            series.len() - 1
        });
        let x = f64::from(point.listeners);
        series[at].points.push((x, point.cpu_ns));
        series[at].blocks.extend(point.cpu_ns_blocks.iter().map(|ns| (x, *ns)));
    }
    let title_of_plot = "CPU per chunk, against listeners";
    let description = "CPU per chunk in nanoseconds against plain listeners, one line a variant.".to_owned();
    let plot = Plot {
        id: format!("{id}-chart"),
        title: title_of_plot.to_owned(),
        description,
        across: "listeners",
        up: "ns",
        series,
    };
    shown.charts.extend(draw(&plot)?);
    let rows = bench.points.iter().map(|p| {
        let c = &p.per_chunk;
        let figures =
            [c.dispatches, c.callbacks, c.bytes, c.fsyncs, c.allocations, p.held_bytes_per_chunk, p.cpu_ns];
        let names = [p.variant.clone(), p.listeners.to_string()];
        let ends = [number(p.disk_bytes_per_text_byte), format!("{:.2}", p.fastest_s)];
        names.into_iter().chain(figures.map(number)).chain(ends).collect()
    });
    let head = [
        "variant",
        "listeners",
        "dispatches",
        "callbacks",
        "bytes",
        "syncs",
        "allocations",
        "bytes held",
        "CPU ns",
        "disk / text",
        "session s",
    ];
    shown.table("A chunk costs (counts are exact, CPU is a median)", &head, rows);
    ratios(&bench.ratios, "listeners", &mut shown);
    let noise = bench.noise.map_or_else(|| "unknown".to_owned(), |noise| format!("{:.0} %", noise * 100.0));
    shown.rig = vec![("noise of the machine between sessions".to_owned(), noise)];
    shown.section(
        id,
        title,
        (Tone::Good, claims(&bench.ratios.iter().collect::<Vec<_>>(), "variant", "listener")),
    )
}
