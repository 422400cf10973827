//! What a long stream does to the idle clocks, for a person and for a program.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::style::paint;
use crate::record::idle::{IdleReport, IdleSettings, ServerIdle};

/// The report as JSON.
pub fn idle_json(report: &IdleReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Writes a line a server. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn idle_table(report: &IdleReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", asked(&report.settings))?;
    let mut table = Table::new();
    table.load_style(NOTHING);
    let heads = ["process", "updated_at", "eviction"].map(|clock| format!("writes a token\n{clock}"));
    let heads = heads.iter().map(String::as_str).chain(["peak idle\nprocess", "first\nrefresh"]);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    table.set_header(
        std::iter::once(Cell::new("server"))
            .chain(heads.map(right))
            .chain([Cell::new("runtime"), Cell::new("conversation")]),
    );
    for server in &report.servers {
        let numbers = [
            per_token(Some(server.writes_per_token.process)),
            per_token(Some(server.writes_per_token.updated_at)),
            per_token(server.writes_per_token.eviction),
            time(server.peak_idle_s),
            server.first_refresh_s.map_or_else(|| "never".to_owned(), time),
        ];
        let name =
            if server.what_if { format!("{} (what if)", server.server) } else { server.server.clone() };
        let fates = [fate("REAPED", server.reaped_at_s), fate("EVICTED", server.evicted_at_s)];
        let cells = numbers.iter().map(|n| right(n));
        table.add_row(std::iter::once(Cell::new(name)).chain(cells).chain(fates.map(Cell::new)));
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", coloured(line.trim_end()))?;
    }
    writeln!(out)?;
    for server in &report.servers {
        missed(server, report.settings.warm_up, out)?;
    }
    writeln!(
        out,
        "runtime: reaped when /server_info shows {} without a write; conversation: evicted by the sweep.\n\
         Nothing is killed in earnest, so the peak says how far the clock would have gone. Virtual clock.",
        time(report.settings.reap_after_s)
    )
}

fn asked(settings: &IdleSettings) -> String {
    let warm = match settings.warm_up {
        0 => String::new(),
        n => format!(", after a warm-up of {n} in the same conversation"),
    };
    format!(
        "{} of text at {} tokens/s ({} tokens) to {} clients{warm}",
        time(settings.duration_s),
        settings.rate,
        settings.tokens,
        settings.clients.len()
    )
}

/// A client that did not get every token makes the stream another one than was asked for.
fn missed(server: &ServerIdle, warm_up: u32, out: &mut dyn Write) -> io::Result<()> {
    let due = u64::from(server.tokens) + u64::from(warm_up);
    let mut said: Vec<&str> = Vec::new();
    for share in server.clients.iter().filter(|c| c.delivered != due) {
        if !said.contains(&share.client.as_str()) {
            said.push(&share.client);
            writeln!(out, "{}: {} got {} of {due} tokens", server.server, share.client, share.delivered)?;
        }
    }
    Ok(())
}

/// Writes to one clock per token; a clock that the server does not have is a dash.
pub(super) fn per_token(writes: Option<f64>) -> String {
    match writes {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(writes) if writes < 0.001 => "<0.001".to_owned(),
        Some(writes) => format!("{writes:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// What became of a server by this limit.
pub(super) fn fate(word: &str, at: Option<f64>) -> String {
    at.map_or_else(|| "kept".to_owned(), |at| format!("{word} at {}", time(at)))
}

/// `20m`, `1m 15s`, `29s`.
pub(super) fn time(seconds: f64) -> String {
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    humantime::format_duration(Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(0)))
        .to_string()
}

fn coloured(line: &str) -> String {
    let red: Style = AnsiColor::Red.on_default();
    let word = |w: &str| if matches!(w, "REAPED" | "EVICTED") { paint(w, red) } else { w.to_owned() };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
