//! What attached clients saw, for a person and for a program.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::style::{mark, paint, style};
use crate::record::attach::{AttachReport, Attached};
use crate::record::bench::Quantiles;

/// The reason of the close 1013 of a released server whose conversation has no room (since 1.22.1, #3166). Other reasons
/// have the same code.
const FULL: &str = "Too many connections for this conversation";

/// The report as JSON.
pub fn attach_json(report: &AttachReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Writes it for a person. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn attach_table(report: &AttachReport, out: &mut dyn Write) -> io::Result<()> {
    let seen = &report.seen;
    let joined = seen.clients.iter().filter(|client| client.joined).count();
    let Attached { server, asked, profile, seconds, conversation, .. } = seen;
    writeln!(
        out,
        "{server}  {joined} of {asked} clients {profile}, {seconds:.1} s, conversation {conversation}"
    )?;
    for finding in &report.findings {
        let word = paint(mark(finding.verdict), style(finding.verdict));
        writeln!(out, "{:>6}  {word}  {}", finding.clients, finding.note)?;
        if !finding.verdict.is_healthy() && !finding.verdict.is_rig_fault() {
            let (amount, noticed) = (finding.amount, finding.signal.as_str());
            write!(
                out,
                "        {} frames, {} characters in all; signal {noticed}",
                amount.frames, amount.chars
            )?;
            if let (Some(hop), Some(reason)) = (finding.lost_at, &finding.reason) {
                write!(out, "; most stopped at `{hop}` because `{reason}`")?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out)?;
    attendance(seen, out)?;
    let Attached { deltas, replies, .. } = seen;
    writeln!(out, "deltas      {deltas} different ones, {replies} durable ends")?;
    reach(seen, out)?;
    if seen.unidentified > 0 {
        writeln!(out, "compared    not {} deltas, which carry no identity", seen.unidentified)?;
    }
    let unjudged: u64 = seen.clients.iter().map(|client| client.replies.unjudged).sum();
    if unjudged > 0 {
        let why = "under way before all had joined, or ending in a tool call";
        writeln!(out, "unjudged    {unjudged} replies, all clients together: {why}")?;
    }
    for (name, times, what) in [
        ("spread", Some(seen.spread), "after the first client that got it"),
        ("gap", Some(seen.gap), "between two deltas of a reply at one client"),
        ("first delta", seen.first_delta, "after --say"),
        ("delay", seen.since_own_timestamp, "from the frame's own timestamp"),
    ] {
        if let Some(times) = times.filter(|times| times.count > 0) {
            writeln!(out, "{name:<11} {}  {what}", quantiles(times))?;
        }
    }
    bytes(seen, out)?;
    if joined > 0 {
        writeln!(out, "reader      {:.0} % of a core", seen.reader_cpu * 100.0)?;
    }
    if !seen.complete {
        writeln!(out, "interrupted: this is what was seen until then")?;
    }
    Ok(())
}

/// Who came, who did not and why, who was closed.
fn attendance(seen: &Attached, out: &mut dyn Write) -> io::Result<()> {
    let ready = seen.clients.iter().filter(|client| client.ready).count();
    writeln!(out, "ready       {ready}")?;
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    let mut closed: BTreeMap<_, u64> = BTreeMap::new();
    for client in &seen.clients {
        if let Some(why) = &client.refused {
            *refused.entry(why).or_default() += 1;
        }
        if let Some(how) = &client.closed {
            *closed.entry((client.joined, how)).or_default() += 1;
        }
    }
    for (why, count) in refused {
        writeln!(out, "refused     {count}  {why}")?;
    }
    for ((joined, how), count) in &closed {
        let when = if *joined { "" } else { ", before the first frame" };
        writeln!(out, "closed      {count}  {} {}{when}", how.code, how.reason)?;
    }
    if closed.keys().any(|(_, how)| how.reason == FULL) {
        writeln!(
            out,
            "            the conversation is full: released servers take 50 subscribers, their own and webhooks included"
        )?;
        writeln!(out, "            --clients with fewer fits; more need a server that takes more")?;
    }
    if !closed.is_empty() {
        writeln!(out, "            a closed client stays away: reconnecting is not modelled")?;
    }
    Ok(())
}

/// How far the deltas came, over all clients that joined.
fn reach(seen: &Attached, out: &mut dyn Write) -> io::Result<()> {
    let joined = || seen.clients.iter().filter(|client| client.joined);
    let due: u64 = joined().map(|client| client.wire.due).sum();
    let got: u64 = joined().map(|client| client.wire.got).sum();
    let delivered: u64 = joined().map(|client| client.delivered.frames).sum();
    writeln!(out, "reach       {got} of {due} that were due came, {delivered} reached the application")
}

/// Bytes a connection, and what was agreed on.
fn bytes(seen: &Attached, out: &mut dyn Write) -> io::Result<()> {
    let mut read: Vec<u64> = seen.clients.iter().filter(|c| c.joined).map(|c| c.bytes_read).collect();
    read.sort_unstable();
    let text: u64 = seen.clients.iter().map(|client| client.text_bytes).sum();
    let total: u64 = seen.clients.iter().map(|client| client.bytes_read).sum();
    if let (Some(least), Some(most), Some(median)) = (read.first(), read.last(), read.get(read.len() / 2)) {
        writeln!(
            out,
            "bytes       {median} read a connection (median; {least} to {most}), handshake included"
        )?;
    }
    writeln!(out, "            {total} read in all, {text} of them text after decoding")?;
    let mut agreed: BTreeMap<&str, u64> = BTreeMap::new();
    for client in seen.clients.iter().filter(|client| client.refused.is_none()) {
        *agreed.entry(client.extensions.as_deref().unwrap_or("none")).or_default() += 1;
    }
    let agreed: Vec<String> = agreed.iter().map(|(named, count)| format!("{named} ({count})")).collect();
    let agreed = if agreed.is_empty() { "no connection".to_owned() } else { agreed.join(", ") };
    writeln!(out, "extensions  offered: {}; negotiated: {agreed}", seen.offered)
}

fn quantiles(times: Quantiles) -> String {
    #[expect(clippy::cast_precision_loss, reason = "times of one run, shown to a hundredth of a millisecond")]
    let ms = |ns: u64| ns as f64 / 1e6;
    let Quantiles { p50_ns, p99_ns, max_ns, count, .. } = times;
    format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms ({count})", ms(p50_ns), ms(p99_ns), ms(max_ns))
}
