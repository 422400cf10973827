//! What `bench client` found, for a person and as JSON.

use std::io::{self, Write};

use crate::record::client_bench::{ClientBench, Counts};

/// Writes it as JSON.
pub fn client_bench_json(bench: &ClientBench, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, bench)?;
    writeln!(out)
}

/// Writes it for a person.
pub fn client_bench_table(bench: &ClientBench, out: &mut dyn Write) -> io::Result<()> {
    let ClientBench { sockets, ready, seconds, bytes, .. } = bench;
    writeln!(
        out,
        "{}  {ready} of {sockets} sockets, {seconds:.1} s, reading {}",
        bench.server,
        bench.reading.as_str()
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
    for (count, what, how) in noticed(counts, ends) {
        writeln!(out, "{what:<11}{count} {how}")?;
    }
    if !counts.lost() && ends == 0 && counts.replies > counts.unjudged {
        writeln!(out, "missing    nothing")?;
    }
    Ok(())
}

/// What was not as it should be: how often, in one word, and how it was noticed.
pub(super) fn noticed(counts: &Counts, ends: u64) -> Vec<(u64, &'static str, &'static str)> {
    let ways = [
        (ends, "missing", "durable ends of turns that were started"),
        (counts.missing, "missing", "chunks, by the numbers in the text"),
        (counts.order_missing, "missing", "places, by the order of the session socket"),
        (counts.short_chars, "missing", "characters that the durable end holds and that did not stream"),
        (counts.duplicated, "twice", "chunks, by the numbers in the text"),
        (counts.order_repeated, "twice", "places, or too late, by the order of the session socket"),
        (counts.extra_chars, "too many", "characters beyond the durable end"),
        (counts.reordered, "reordered", "chunks that came after a later one"),
        (counts.after_end, "late", "chunks that came after the durable end"),
        (counts.unplaced, "unplaced", "chunks too old to say whether they came before"),
        (counts.altered, "altered", "replies of the right length whose text differs"),
        (
            counts.unfinished,
            "unfinished",
            "replies without a durable end before the next one began or the socket closed",
        ),
        (counts.unjudged, "unjudged", "replies that may have begun before the socket joined"),
    ];
    ways.into_iter().filter(|(count, ..)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::client_bench;
    use crate::record::client_bench::ReadAs;

    fn shown(bench: &ClientBench) -> String {
        let mut out = Vec::new();
        client_bench_table(bench, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_loss_says_how_it_was_noticed_and_a_whole_reply_says_nothing_of_it() {
        let whole = Counts { deltas: 9, replies: 1, ..Counts::default() };
        assert!(shown(&client_bench(whole)).contains("missing    nothing"));
        let cut = client_bench(Counts { missing: 1, short_replies: 1, short_chars: 12, ..whole });
        let text = shown(&cut);
        assert!(text.contains("1 chunks, by the numbers") && text.contains("12 characters"));
        assert!(!text.contains("nothing"), "{text}");
        let endless = ClientBench { replies_due: Some(3), ..client_bench(whole) };
        assert!(shown(&endless).contains("2 durable ends"));
        let unjudged = shown(&client_bench(Counts { unjudged: 1, ..whole }));
        assert!(!unjudged.contains("nothing") && unjudged.contains("may have begun"), "{unjudged}");
    }

    #[test]
    fn what_was_not_measured_is_not_shown() {
        let raw = ClientBench {
            reading: ReadAs::Raw,
            messages: None,
            cpu_us_per_message: None,
            allocations_per_message: None,
            counts: None,
            ..client_bench(Counts::default())
        };
        let text = shown(&raw);
        assert!(text.contains("bytes      2048") && !text.contains("message"), "{text}");
        assert!(!text.contains("missing"), "{text}");
    }
}
