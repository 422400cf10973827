//! What `bench client` found, for a person and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::record::bench::Quantiles;
use crate::swarm::Counts;

/// Schema name and version of its JSON.
pub const CLIENT_BENCH_SCHEMA: &str = "skewlab.bench-client/1";

/// One run of many sockets against one server. A figure that was not measured is absent, never zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientBench {
    /// [`CLIENT_BENCH_SCHEMA`].
    pub schema: &'static str,
    /// Version of skewlab.
    pub skewlab: &'static str,
    /// The server's address; neither the path nor a key.
    pub server: String,
    /// `full`, or `raw` where bytes were counted and nothing else.
    pub reading: &'static str,
    /// Whether it ran for as long as was asked.
    pub complete: bool,
    /// Sockets that were asked for.
    pub sockets: u64,
    /// That got their first frame.
    pub ready: u64,
    /// That did not, by reason.
    pub refused: BTreeMap<String, u64>,
    /// That had been ready and closed, by reason.
    pub closed: BTreeMap<String, u64>,
    /// Open sockets with bytes that nobody read, or half a frame, at the end.
    pub unread: u64,
    /// Seconds that were measured; opening the connections is not in them.
    pub seconds: f64,
    /// Bytes read in them.
    pub bytes: u64,
    /// Messages read in them; absent in `raw`, like all that follows from reading frames.
    pub messages: Option<u64>,
    /// CPU of the reading thread, µs per message.
    pub cpu_us_per_message: Option<f64>,
    /// CPU of the reading thread, µs per KiB; absent when nothing came.
    pub cpu_us_per_kib: Option<f64>,
    /// Share of a core that the reading thread used; absent when no socket got ready.
    pub cpu_share: Option<f64>,
    /// Heap allocations of the reading thread per message.
    pub allocations_per_message: Option<f64>,
    /// Heap bytes per socket.
    pub heap_bytes_per_socket: Option<f64>,
    /// Heap bytes that all sockets share: read buffer and distributions.
    pub heap_bytes_shared: u64,
    /// Resident memory of the process, bytes.
    pub rss_bytes: Option<u64>,
    /// Messages that are no JSON object.
    pub unreadable: Option<u64>,
    /// What was got and what was missed since the sockets were ready.
    pub counts: Option<Counts>,
    /// Durable ends that were due to all sockets together, where this run started the turns.
    pub replies_due: Option<u64>,
    /// Between two delta frames of one reply at one socket.
    pub frame_gap: Option<Quantiles>,
}

impl ClientBench {
    /// Whether text was missing.
    pub fn lost(&self) -> bool {
        self.ends_missing() > 0 || self.counts.is_some_and(|counts| counts.lost())
    }

    /// Whether text came twice, in another order, or as another text.
    pub fn wrong(&self) -> bool {
        self.counts.is_some_and(|counts| counts.wrong())
    }

    fn ends_missing(&self) -> u64 {
        let came = self.counts.map_or(0, |counts| counts.replies);
        self.replies_due.unwrap_or_default().saturating_sub(came)
    }

    /// Whether a socket did not get ready or did not stay open.
    pub fn failed(&self) -> bool {
        !self.refused.is_empty() || !self.closed.is_empty()
    }
}

/// Writes it for a person.
pub fn client_bench_table(bench: &ClientBench, out: &mut dyn Write) -> io::Result<()> {
    let ClientBench { sockets, ready, seconds, bytes, .. } = bench;
    writeln!(
        out,
        "{}  {ready} of {sockets} sockets, {seconds:.1} s, reading {}",
        bench.server, bench.reading
    )?;
    for (why, count) in &bench.refused {
        writeln!(out, "  not ready  {count}  {why}")?;
    }
    for (why, count) in &bench.closed {
        writeln!(out, "  closed     {count}  {why}")?;
    }
    if bench.unread > 0 {
        writeln!(out, "  unread     {}  sockets with bytes that were not read to their end", bench.unread)?;
    }
    match bench.messages {
        Some(messages) => writeln!(out, "messages   {messages}, {bytes} bytes")?,
        None => writeln!(out, "bytes      {bytes}")?,
    }
    if let Some(share) = bench.cpu_share {
        write!(out, "CPU        ")?;
        if let Some(cpu) = bench.cpu_us_per_message {
            write!(out, "{cpu:.2} µs a message, ")?;
        }
        if let Some(cpu) = bench.cpu_us_per_kib {
            write!(out, "{cpu:.2} µs a KiB, ")?;
        }
        writeln!(out, "{:.0} % of a core", share * 100.0)?;
    }
    write!(out, "memory     ")?;
    if let Some(each) = bench.heap_bytes_per_socket {
        write!(out, "{each:.0} heap bytes a socket, ")?;
    }
    write!(out, "{} KiB shared", bench.heap_bytes_shared / 1024)?;
    match bench.rss_bytes {
        Some(rss) => writeln!(out, ", {} KiB resident", rss / 1024)?,
        None => writeln!(out)?,
    }
    if let Some(each) = bench.allocations_per_message {
        writeln!(out, "           {each:.4} allocations a message")?;
    }
    if let Some(counts) = &bench.counts {
        missing(counts, bench.ends_missing(), out)?;
    }
    if let Some(unreadable @ 1..) = bench.unreadable {
        writeln!(out, "unreadable {unreadable} messages")?;
    }
    if let Some(gap) = bench.frame_gap.filter(|gap| gap.count > 0) {
        let us = |ns: u64| ns / 1000;
        let (p50, p99, max) = (us(gap.p50_ns), us(gap.p99_ns), us(gap.max_ns));
        writeln!(out, "frame gap  p50 {p50} µs, p99 {p99} µs, max {max} µs")?;
    }
    if !bench.complete && bench.ready > 0 {
        writeln!(out, "interrupted: this is what was measured until then")?;
    }
    Ok(())
}

/// What was missing, and how it was noticed.
fn missing(counts: &Counts, ends: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "deltas     {}, {} replies", counts.deltas, counts.replies)?;
    let ways = [
        (ends, "missing    ", "durable ends of turns that were started"),
        (counts.missing, "missing    ", "chunks, by the numbers in the text"),
        (counts.order_missing, "missing    ", "places, by the order of the session socket"),
        (counts.short_chars, "missing    ", "characters that the durable end holds and that did not stream"),
        (counts.duplicated, "twice      ", "chunks, by the numbers in the text"),
        (counts.order_repeated, "twice      ", "places, or too late, by the order of the session socket"),
        (counts.extra_chars, "too many   ", "characters beyond the durable end"),
        (counts.reordered, "reordered  ", "chunks that came after a later one"),
        (counts.after_end, "late       ", "chunks that came after the durable end"),
        (counts.unplaced, "unplaced   ", "chunks too old to say whether they came before"),
        (counts.altered, "altered    ", "replies of the right length whose text differs"),
        (
            counts.unfinished,
            "unfinished ",
            "replies without a durable end before the next one began or the socket closed",
        ),
        (counts.unjudged, "unjudged   ", "replies that may have begun before the socket joined"),
    ];
    for (count, what, how) in ways.iter().filter(|(count, ..)| *count > 0) {
        writeln!(out, "{what}{count} {how}")?;
    }
    if !counts.lost() && ends == 0 && counts.replies > counts.unjudged {
        writeln!(out, "missing    nothing")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(counts: Counts) -> ClientBench {
        ClientBench {
            schema: CLIENT_BENCH_SCHEMA,
            skewlab: "0",
            server: "127.0.0.1:9".into(),
            reading: "full",
            complete: true,
            sockets: 10,
            ready: 10,
            refused: BTreeMap::new(),
            closed: BTreeMap::new(),
            unread: 0,
            seconds: 1.0,
            bytes: 2048,
            messages: Some(10),
            cpu_us_per_message: Some(1.0),
            cpu_us_per_kib: Some(5.0),
            cpu_share: Some(0.1),
            allocations_per_message: Some(0.0),
            heap_bytes_per_socket: Some(500.0),
            heap_bytes_shared: 1024,
            rss_bytes: None,
            unreadable: Some(0),
            counts: Some(counts),
            replies_due: None,
            frame_gap: None,
        }
    }

    fn shown(bench: &ClientBench) -> String {
        let mut out = Vec::new();
        client_bench_table(bench, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_loss_says_how_it_was_noticed_and_a_whole_reply_says_nothing_of_it() {
        let whole = Counts { deltas: 9, replies: 1, ..Counts::default() };
        assert!(shown(&bench(whole)).contains("missing    nothing"));
        assert!(!bench(whole).lost());
        let cut = bench(Counts { missing: 1, short_replies: 1, short_chars: 12, ..whole });
        let text = shown(&cut);
        assert!(cut.lost() && text.contains("1 chunks, by the numbers") && text.contains("12 characters"));
        assert!(!text.contains("nothing"), "{text}");
        let endless = ClientBench { replies_due: Some(3), ..bench(whole) };
        assert!(endless.lost() && shown(&endless).contains("2 durable ends"));
        let unjudged = shown(&bench(Counts { unjudged: 1, ..whole }));
        assert!(!unjudged.contains("nothing") && unjudged.contains("may have begun"), "{unjudged}");
    }

    #[test]
    fn what_was_not_measured_is_not_shown() {
        let raw = ClientBench {
            reading: "raw",
            messages: None,
            cpu_us_per_message: None,
            allocations_per_message: None,
            counts: None,
            ..bench(Counts::default())
        };
        let text = shown(&raw);
        assert!(text.contains("bytes      2048") && !text.contains("message"), "{text}");
        assert!(!text.contains("missing"), "{text}");
    }
}
