//! What a chunk costs a session feed, for a person and for a program.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::style::paint;
use crate::record::feed_bench::FeedBench;

/// The bench as JSON.
pub fn feed_bench_json(bench: &FeedBench, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, bench)?;
    writeln!(out)
}

/// The bench as text. Colours are ANSI.
pub fn feed_bench_table(bench: &FeedBench, out: &mut dyn Write) -> io::Result<()> {
    let s = &bench.settings;
    let packed = if s.packed { ", packed rows" } else { "" };
    writeln!(
        out,
        "{} chunks a session, {} characters a delta, {} chunks a second on the session's own clock, {} on {}{packed}, {} \
         sessions each in a drawn order\n",
        s.chunks, s.payload, s.rate, s.policy, s.store, s.repeats
    )?;
    heading(out, "a chunk costs (counts are exact, CPU is the thread's, a median)")?;
    let rows = bench.points.iter().map(|p| {
        let c = &p.per_chunk;
        vec![
            p.variant.clone(),
            p.listeners.to_string(),
            format!("{:.3}", c.dispatches),
            format!("{:.3}", c.callbacks),
            format!("{:.1}", c.bytes),
            format!("{:.5}", c.fsyncs),
            format!("{:.2}", c.allocations),
            format!("{:.0}", p.held_bytes_per_chunk),
            format!("{:.0}", p.cpu_ns),
            format!("{:.1}", p.disk_bytes_per_text_byte),
            format!("{:.2}", p.fastest_s),
        ]
    });
    let heads = [
        "variant",
        "listeners",
        "dispatches",
        "callbacks",
        "bytes",
        "syncs",
        "allocations",
        "held",
        "CPU ns",
        "disk/text",
        "session s",
    ];
    table(out, &heads, rows)?;
    if !bench.ratios.is_empty() {
        heading(out, "\nCPU a chunk over that of the first variant, interleaved")?;
        let rows = bench.ratios.iter().map(|r| {
            let claim = if r.claim { "yes" } else { "no claim" };
            vec![
                r.of.clone(),
                r.subscribers.to_string(),
                format!("{:.3}", r.ratio),
                between(r.ci),
                between(r.control_ci),
                claim.to_owned(),
            ]
        });
        table(out, &["of", "listeners", "ratio", "95 %", "A/A control", "differs"], rows)?;
    }
    if let Some(noise) = bench.noise {
        writeln!(out, "\nnoise of the machine between sessions: {:.0} %", noise * 100.0)?;
    }
    if !bench.complete {
        writeln!(out, "stopped early: not every session that was asked for was measured")?;
    }
    writeln!(
        out,
        "Listeners are on the feed that consumers follow; a mirror has one listener more, as it had. They hear and forget."
    )
}

fn between([low, high]: [f64; 2]) -> String {
    format!("{low:.3} … {high:.3}")
}

fn heading(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", paint(text, Style::new().bold()))
}

fn table(out: &mut dyn Write, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(heads);
    for row in rows {
        let cells = row.into_iter().enumerate().map(|(at, text)| {
            let to = if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(to)
        });
        table.add_row(cells);
    }
    writeln!(out, "{table}")
}
