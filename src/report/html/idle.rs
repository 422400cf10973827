//! What a long stream does to the idle clocks, as bars of time and as figures.

use std::collections::BTreeSet;

use super::measured::Measured;
use super::timeline::{Life, timeline};
use super::wording::counted;
use super::{Section, Tone};
use crate::record::idle::{IdleReport, ServerIdle};
use crate::report::idle::{fate, per_token, time};

/// The section of `idle`.
pub(super) fn section(report: &IdleReport, id: String, title: String) -> askama::Result<Section> {
    let s = &report.settings;
    let warm = match s.warm_up {
        0 => String::new(),
        n => format!(", after a warm-up of {n} in the same conversation"),
    };
    let mut shown = Measured {
        lead: format!(
            "{} of text at {} tokens a second ({} tokens) to {}{warm}. Nothing is killed in earnest, so that the peak says how \
             far the clock would have gone; the runtime reaps at {} without a write. Virtual clock.",
            time(s.duration_s),
            s.rate,
            s.tokens,
            counted(s.clients.len() as u64, "client"),
            time(s.reap_after_s)
        ),
        ..Measured::default()
    };
    fates(report, &mut shown);
    let lives: Vec<Life> = report
        .servers
        .iter()
        .map(|server| Life {
            name: named(server),
            streamed: server.streamed_s,
            first_refresh: server.first_refresh_s,
            reaped: server.reaped_at_s,
            evicted: server.evicted_at_s,
        })
        .collect();
    let about = "Seconds from the message on, while text streams".to_owned();
    shown.timelines.extend(timeline(format!("{id}-time"), about, &lives, time));
    let rows = report.servers.iter().map(|server| {
        let w = &server.writes_per_token;
        vec![
            named(server),
            per_token(Some(w.process)),
            per_token(Some(w.updated_at)),
            per_token(w.eviction),
            time(server.peak_idle_s),
            server.first_refresh_s.map_or_else(|| "never".to_owned(), time),
            fate("reaped", server.reaped_at_s),
            fate("evicted", server.evicted_at_s),
        ]
    });
    let head = [
        "server",
        "process clock, writes a token",
        "updated_at",
        "eviction clock",
        "peak idle time",
        "first refresh",
        "runtime",
        "conversation",
    ];
    shown.table("The clocks", &head, rows);
    let lost = report.servers.iter().filter(|s| s.reaped_at_s.is_some() || s.evicted_at_s.is_some()).count();
    let all = counted(report.servers.len() as u64, "server");
    let headline = match lost {
        0 => (Tone::Good, format!("None of {all} is reaped or evicted while text streams")),
        n => (Tone::Bad, format!("{n} of {all} would be reaped or evicted while text streams")),
    };
    shown.section(id, title, headline)
}

/// Who is given up and what to do about it, and whose stream was another one than was asked for.
fn fates(report: &IdleReport, shown: &mut Measured) {
    let list = |at: fn(&ServerIdle) -> Option<f64>| {
        report.servers.iter().filter(|s| at(s).is_some()).map(named).collect::<Vec<_>>().join(", ")
    };
    let first = |at: fn(&ServerIdle) -> Option<f64>| report.servers.iter().find(|s| at(s).is_some());
    if let Some(server) = first(|s| s.reaped_at_s) {
        let text = format!(
            "Reaped while text streams: {}. No token writes the process clock there. Let tokens or the producer write it, or \
             let the runtime look at something else; `skewlab explain {}` says what that server does and how it is known.",
            list(|s| s.reaped_at_s),
            server.profile
        );
        shown.note(Tone::Bad, text);
    }
    if first(|s| s.evicted_at_s).is_some() {
        let evicted = list(|s| s.evicted_at_s);
        shown.note(Tone::Bad, format!("Conversation evicted by the sweep while text streams: {evicted}."));
    }
    let mut said = BTreeSet::new();
    for server in &report.servers {
        let due = u64::from(report.settings.warm_up) + u64::from(server.tokens);
        for share in server.clients.iter().filter(|c| c.delivered != due) {
            let text =
                format!("{}: {} got {} of {due} tokens.", server.server, share.client, share.delivered);
            if said.insert(text.clone()) {
                shown.note(Tone::Warn, text);
            }
        }
    }
}

fn named(server: &ServerIdle) -> String {
    if server.what_if { format!("{} (what if)", server.server) } else { server.server.clone() }
}
