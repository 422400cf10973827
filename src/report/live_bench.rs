//! What released servers cost, and what their clocks showed, for a person and for a program.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;

use super::style::paint;
use crate::record::live_bench::{LiveBench, LiveIdleReport, LiveRig, NotCompared};

/// Either of the two results as JSON.
pub fn live_bench_json(result: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, result)?;
    writeln!(out)
}

/// Writes the whole bench as text. Colours are ANSI.
pub fn live_bench_table(bench: &LiveBench, out: &mut dyn Write) -> io::Result<()> {
    let settings = &bench.settings;
    writeln!(
        out,
        "{} tokens at {} a second less a turn of {}, {} blocks each, servers and subscribers in a drawn order\n",
        settings.tokens, settings.rate, settings.base_tokens, settings.repeats
    )?;
    for server in &bench.servers {
        let pins: Vec<String> =
            server.pins.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let held = server.resident_bytes.map_or_else(String::new, |b| format!("; {} MiB", b / (1024 * 1024)));
        writeln!(out, "{}: {} on {}{held}", server.server, server.ran, pins.join(", "))?;
    }
    heading(out, "\nCPU of the server's process per token, idle share taken off")?;
    let rows = bench.points.iter().map(|p| {
        let range = format!("{:.2} … {:.2}", p.range_ms[0], p.range_ms[1]);
        vec![
            p.server.clone(),
            p.subscribers.to_string(),
            format!("{:.2}", p.cpu_ms_per_token),
            range,
            p.blocks.to_string(),
        ]
    });
    table(out, &["server", "subscribers", "ms", "least … most", "blocks"], rows)?;
    for block in bench.blocks.iter().filter(|b| b.fault.is_some()) {
        let why = block.fault.as_deref().unwrap_or_default();
        let not = paint("does not count", AnsiColor::Red.on_default());
        writeln!(out, "a block of {} at {} {not}: {why}", block.server, block.subscribers)?;
    }
    heading(out, "\nms per token = a + b · subscribers")?;
    let rows = bench.lines.iter().map(|l| {
        vec![l.server.clone(), format!("{:.2}", l.a_ms), format!("{:.4}", l.b_ms), interval(l.b_ci, 4)]
    });
    table(out, &["server", "a", "b", "95 % of b"], rows)?;
    if !bench.ratios.is_empty() {
        heading(out, "\nCPU per token of one over the other, interleaved, on the same versions underneath")?;
        let rows = bench.ratios.iter().map(|r| {
            let ratio = format!("{:.2}", r.ratio);
            vec![r.of.clone(), r.vs.clone(), r.subscribers.to_string(), ratio, interval(r.ci, 2)]
        });
        table(out, &["of", "against", "subscribers", "ratio", "95 %"], rows)?;
    }
    for pair in &bench.not_compared {
        no_ratio(pair, out)?;
    }
    writeln!(
        out,
        "\nThe sockets ask for no compression; a client that does costs the server more with each frame.\nCompare releases \
         only within one run like this one, where they took turns, and only on the same versions of \
         what they stand on."
    )?;
    rig(&bench.rig, out)
}

fn no_ratio(pair: &NotCompared, out: &mut dyn Write) -> io::Result<()> {
    let differ: Vec<String> =
        pair.differ.iter().map(|[name, of, vs]| format!("{name} {of} and {vs}")).collect();
    writeln!(
        out,
        "\nno ratio of {} and {}: they do not stand on the same versions ({})",
        pair.of,
        pair.vs,
        differ.join(", ")
    )
}

fn rig(rig: &LiveRig, out: &mut dyn Write) -> io::Result<()> {
    let (word, colour) =
        if rig.valid { ("valid", AnsiColor::Green) } else { ("INVALID", AnsiColor::Magenta) };
    let reason = rig.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    writeln!(out, "rig {}{reason}", paint(word, colour.on_default()))?;
    let percent = |share: Option<f64>| {
        share.map_or_else(|| "unknown".to_owned(), |share| format!("{:.0} %", share * 100.0))
    };
    let late = rig.model_lag_p99_ms.map_or_else(|| "unknown".to_owned(), |lag| format!("{lag:.1} ms"));
    writeln!(
        out,
        "  {} cores; subscribers' thread {} of one; model late by {late} at p99; host took {}; noise {}",
        rig.cores,
        percent(Some(rig.reader_cpu)),
        percent(rig.steal),
        percent(rig.noise)
    )
}

/// Writes a line a server: what its clocks showed, and what the emulation says.
pub fn live_idle_table(report: &LiveIdleReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{} s of text at {} tokens/s, looked at about every {} s while it streamed\n",
        report.duration_s, report.rate, report.poll_s
    )?;
    let rows = report.servers.iter().map(|s| {
        vec![
            s.server.clone(),
            format!("{} s", s.peak_idle_s),
            format!("{:.1} s", s.emulated_peak_idle_s),
            format!("{} in {}", s.distinct_updated_at, s.polls),
            format!("{:.2}", s.emulated_updated_at_per_token),
        ]
    });
    let head = [
        "server",
        "peak idle_time",
        "emulated peak",
        "values of updated_at, looks",
        "emulated writes a token",
    ];
    table(out, &head, rows)?;
    for server in &report.servers {
        for what in &server.contradictions {
            let word = paint("contradicts", AnsiColor::Red.on_default());
            writeln!(out, "{} {word} the profile {}: {what}", server.server, server.profile)?;
        }
    }
    Ok(())
}

fn heading(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "{}", paint(title, Style::new().bold()))
}

fn table(out: &mut dyn Write, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    table.set_header(head.iter().map(|h| right((*h).to_owned())));
    for row in rows {
        table.add_row(row.into_iter().map(right));
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// An interval, or that there is none.
fn interval(ci: [f64; 2], digits: usize) -> String {
    match ci {
        [low, high] if low.is_finite() && high.is_finite() => format!("{low:.digits$} … {high:.digits$}"),
        _ => "unknown: too few blocks".to_owned(),
    }
}
