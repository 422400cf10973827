//! Many subscribers at one server.

use super::measured::Measured;
use super::wording::{counted, micros};
use super::{Section, Tone};
use crate::judge::ExitCode;
use crate::judge::client_bench::exit_code;
use crate::record::bench::Quantiles;
use crate::record::client_bench::ClientBench;
use crate::report::client_bench::noticed;

/// The section of `bench client`. The address of the server is not in it.
pub(super) fn section(bench: &ClientBench, id: String, title: String) -> askama::Result<Section> {
    let mut shown = Measured {
        lead: format!(
            "{} of {} were ready and read for {:.1} s, {}.",
            bench.ready,
            counted(bench.sockets, "socket"),
            bench.seconds,
            bench.reading.as_str()
        ),
        ..Measured::default()
    };
    if !bench.complete {
        shown.note(Tone::Warn, "Interrupted: this is what was measured until then.");
    }
    let away = [("not ready", &bench.refused), ("closed", &bench.closed)];
    let rows = away.into_iter().flat_map(|(what, by)| {
        by.iter().map(move |(why, n)| vec![what.to_owned(), n.to_string(), why.clone()])
    });
    shown.table("Sockets that were not there to the end", &["what", "sockets", "reason"], rows);
    let wrong = bench.counts.map(|counts| noticed(&counts, bench.ends_missing())).unwrap_or_default();
    let rows = wrong.into_iter().map(|(n, what, how)| vec![what.to_owned(), n.to_string(), how.to_owned()]);
    shown.table("What was not as it should be", &["what", "how many", "noticed by"], rows);
    let figure = |value: Option<f64>, digits: usize| value.map(|value| format!("{value:.digits$}"));
    let time = |q: &Quantiles| [q.p50_ns, q.p99_ns, q.max_ns].map(|ns| micros(ns / 1000)).join(" / ");
    let rows = [
        ("bytes", Some(bench.bytes.to_string())),
        ("messages", bench.messages.map(|n| n.to_string())),
        ("messages that are no JSON object", bench.unreadable.map(|n| n.to_string())),
        ("deltas", bench.counts.map(|counts| counts.deltas.to_string())),
        ("durable ends", bench.counts.map(|counts| counts.replies.to_string())),
        ("durable ends that were due", bench.replies_due.map(|n| n.to_string())),
        ("sockets with bytes that were not read to their end", Some(bench.unread.to_string())),
        (
            "between two deltas of a reply (p50 / p99 / max)",
            bench.frame_gap.as_ref().filter(|gap| gap.count > 0).map(time),
        ),
    ];
    let rows = rows.into_iter().filter_map(|(what, value)| Some(vec![what.to_owned(), value?]));
    shown.table("What came", &["what", "how much"], rows);
    let share = bench.cpu_share.map(|share| format!("{:.0} % of a core", share * 100.0));
    let rig = [
        ("reading took", share),
        ("CPU a message", figure(bench.cpu_us_per_message, 2).map(|us| format!("{us} µs"))),
        ("CPU a KiB", figure(bench.cpu_us_per_kib, 2).map(|us| format!("{us} µs"))),
        ("allocations a message", figure(bench.allocations_per_message, 4)),
        ("heap a socket", figure(bench.heap_bytes_per_socket, 0).map(|b| format!("{b} bytes"))),
        ("heap that all share", Some(format!("{} bytes", bench.heap_bytes_shared))),
        ("resident", bench.rss_bytes.map(|bytes| format!("{bytes} bytes"))),
    ];
    shown.rig = rig.into_iter().filter_map(|(what, value)| Some((what.to_owned(), value?))).collect();
    let headline = match exit_code(bench) {
        ExitCode::AllAsExpected => (Tone::Good, "Nothing is missing".to_owned()),
        ExitCode::NothingRan => (Tone::Warn, "Nothing streamed".to_owned()),
        ExitCode::Unexpected => (Tone::Bad, "Text did not arrive as it should".to_owned()),
        _ => {
            (Tone::Bad, "Not every socket was there to the end, so this says less than it claims".to_owned())
        }
    };
    shown.section(id, title, headline)
}
