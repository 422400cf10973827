//! What is to be said of clients that were attached to somebody else's server.

use std::collections::BTreeMap;

use super::exit::ExitCode;
use crate::record::attach::{ATTACH_SCHEMA, AttachFinding, AttachReport, Attached, AttachedClient};
use crate::record::{Hop, Reason, Signal, Verdict};
use crate::unit::Tally;

/// What has to be the same for two clients to be told together.
type Alike = (Verdict, Option<Hop>, Option<Reason>, Signal, String);

/// Judges every client, and puts those together of which the same is to be said.
pub fn report(seen: Attached) -> AttachReport {
    let mut groups: BTreeMap<Alike, AttachFinding> = BTreeMap::new();
    for client in &seen.clients {
        let one = finding(client, &seen);
        let key = (one.verdict, one.lost_at, one.reason.clone(), one.signal, one.note.clone());
        match groups.get_mut(&key) {
            Some(group) => {
                group.clients += 1;
                group.amount += one.amount;
            }
            None => drop(groups.insert(key, one)),
        }
    }
    let findings = groups.into_values().collect();
    let (schema, skewlab) = (ATTACH_SCHEMA.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    AttachReport { schema, skewlab, findings, seen }
}

/// The first of 13, 10 and 4 that applies: a client that did not join or did not stay makes the run incomplete.
pub fn exit_code(report: &AttachReport) -> ExitCode {
    let seen = &report.seen;
    let away = |client: &AttachedClient| !client.joined || client.closed.is_some();
    if !seen.complete || seen.clients.iter().any(away) {
        return ExitCode::RigInvalid;
    }
    let verdicts = || report.findings.iter().map(|finding| finding.verdict);
    if verdicts().any(|verdict| !verdict.is_healthy() && verdict != Verdict::NotRun) {
        return ExitCode::Unexpected;
    }
    if verdicts().any(|verdict| verdict == Verdict::NotRun) {
        ExitCode::NothingRan
    } else {
        ExitCode::AllAsExpected
    }
}

fn finding(client: &AttachedClient, seen: &Attached) -> AttachFinding {
    let signal = client.signal;
    let plain = |verdict, amount, note: String| AttachFinding {
        verdict,
        clients: 1,
        lost_at: None,
        reason: None,
        signal,
        amount,
        note,
    };
    if !client.joined {
        return plain(Verdict::NotRun, Tally::default(), away(client));
    }
    if let Some((frames, note)) = durable(client) {
        return plain(Verdict::DurableLoss, Tally { frames, chars: 0 }, note);
    }
    if client.streams
        && let Some(loss) = loss(client, seen)
    {
        return loss;
    }
    let frames = |frames, chars| Tally { frames, chars };
    if let Some((altered, note)) = altered(client) {
        return plain(Verdict::Corrupted, frames(altered, 0), note);
    }
    if client.wire.twice > 0 || client.replies.extra_chars > 0 {
        let note = "text came more than once, or beyond the durable end";
        return plain(
            Verdict::Duplicated,
            frames(client.wire.twice, client.replies.extra_chars),
            note.to_owned(),
        );
    }
    if client.wire.due == 0 && client.durable.due == 0 {
        let note = match &client.closed {
            Some(_) => away(client),
            None => "nothing streamed while it was there".to_owned(),
        };
        return plain(Verdict::NotRun, Tally::default(), note);
    }
    if !client.streams {
        return plain(Verdict::ByDesign, Tally::default(), "this client does not stream".to_owned());
    }
    let until = if client.closed.is_some() { "; until it was closed" } else { "" };
    let note = format!("every delta that any client got reached the application{until}");
    plain(Verdict::Delivered, client.delivered, note)
}

/// Why a client is not there.
fn away(client: &AttachedClient) -> String {
    match (&client.refused, &client.closed) {
        (Some(why), _) => format!("did not join: {why}"),
        (None, Some(closed)) if closed.reason.is_empty() => format!("closed {}", closed.code),
        (None, Some(closed)) => format!("closed {} \"{}\"", closed.code, closed.reason),
        (None, None) => "did not join: no frame came before the measurement began".to_owned(),
    }
}

/// How the durable ends of replies failed, if they did, and how many.
fn durable(client: &AttachedClient) -> Option<(u64, String)> {
    let (missing, refused) = (client.durable.missing(), client.durable_refused);
    let ways = [
        (missing, "durable ends of replies that another client got did not come"),
        (refused, "durable ends of replies were refused by the client"),
    ];
    (missing + refused > 0).then(|| (missing + refused, those(&ways)))
}

/// How text is not what it should be, if it is not, and how often. Where clients disagree and none has a majority, one
/// of them is wrong and nobody can say which: all are told, since the one that is right would be called so by luck.
fn altered(client: &AttachedClient) -> Option<(u64, String)> {
    let (wire, durable) = (client.wire, client.durable);
    let ways = [
        (wire.altered + durable.altered, "text differs from what most clients got"),
        (client.replies.altered, "streamed text differs from the durable end"),
        (wire.contested + durable.contested, "clients got different texts and no text has a majority"),
    ];
    let all: u64 = ways.iter().map(|(count, _)| count).sum();
    (all > 0).then(|| (all, those(&ways)))
}

/// The sentences that apply. Without their counts, so that clients with different ones are told together.
fn those(ways: &[(u64, &str)]) -> String {
    let said: Vec<&str> = ways.iter().filter(|(count, _)| *count > 0).map(|(_, what)| *what).collect();
    said.join("; ")
}

/// Text that did not come, or did not reach the application.
fn loss(client: &AttachedClient, seen: &Attached) -> Option<AttachFinding> {
    let stopped: Tally = client.stopped.iter().map(|stop| stop.amount).sum();
    let (missing, short) = (client.wire.missing(), client.replies.short_chars);
    if stopped.chars + missing + short + seen.missing_everywhere == 0 {
        return None;
    }
    let note = those(&[
        (missing, "deltas that another client got did not come"),
        (seen.missing_everywhere, "deltas came to no client, by their numbers"),
        (short, "the durable end holds text that did not stream"),
        (stopped.chars, "text stopped in the client"),
    ]);
    let silent = client.signal != Signal::Surfaced;
    let worst = client.stopped.first();
    Some(AttachFinding {
        verdict: if silent { Verdict::SilentLoss } else { Verdict::LoudLoss },
        clients: 1,
        lost_at: worst.map(|stop| stop.hop),
        reason: worst.map(|stop| stop.reason.clone()),
        signal: client.signal,
        amount: Tally {
            frames: missing + seen.missing_everywhere + stopped.frames,
            // What did not come is among what the durable end has more.
            chars: stopped.chars + short.max(client.wire.missing_chars),
        },
        note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::attach::{Arrivals, Closed, ReplyTexts, StoppedText};

    type Spoil = fn(&mut AttachedClient, StoppedText);

    fn healthy() -> AttachedClient {
        AttachedClient {
            joined: true,
            ready: true,
            streams: true,
            wire: Arrivals { due: 9, got: 9, ..Arrivals::default() },
            durable: Arrivals { due: 1, got: 1, ..Arrivals::default() },
            replies: ReplyTexts { judged: 1, ..ReplyTexts::default() },
            ..AttachedClient::default()
        }
    }

    fn judged(clients: Vec<AttachedClient>, change: fn(&mut Attached)) -> (Vec<Verdict>, ExitCode) {
        let mut seen = Attached {
            server: "127.0.0.1:9".into(),
            conversation: "c".into(),
            profile: "python-1.58.2".into(),
            asked: 1,
            for_s: 1.0,
            said: true,
            complete: true,
            seconds: 1.0,
            offered: "none".into(),
            deltas: 9,
            replies: 1,
            unidentified: 0,
            missing_everywhere: 0,
            spread: crate::record::bench::Quantiles::default(),
            gap: crate::record::bench::Quantiles::default(),
            first_delta: None,
            since_own_timestamp: None,
            reader_cpu: 0.0,
            clients,
        };
        change(&mut seen);
        let report = report(seen);
        (report.findings.iter().map(|f| f.verdict).collect(), exit_code(&report))
    }

    #[test]
    fn a_healthy_client_and_one_changed_in_one_way() {
        let unchanged: fn(&mut Attached) = |_| {};
        assert_eq!(
            judged(vec![healthy(); 3], unchanged),
            (vec![Verdict::Delivered], ExitCode::AllAsExpected)
        );
        let stop = StoppedText {
            hop: Hop::Decoded,
            reason: Reason::new("unknown_kind"),
            amount: Tally { frames: 9, chars: 40 },
        };
        let broken: [(Spoil, Verdict, ExitCode); 15] = [
            (|c, _| c.wire.got = 8, Verdict::SilentLoss, ExitCode::Unexpected),
            (|c, stop| c.stopped.push(stop), Verdict::SilentLoss, ExitCode::Unexpected),
            (|c, _| c.replies.short_chars = 1, Verdict::SilentLoss, ExitCode::Unexpected),
            (|c, _| (c.wire.got, c.signal) = (8, Signal::Surfaced), Verdict::LoudLoss, ExitCode::Unexpected),
            (|c, _| c.durable.got = 0, Verdict::DurableLoss, ExitCode::Unexpected),
            (|c, _| c.durable_refused = 1, Verdict::DurableLoss, ExitCode::Unexpected),
            (|c, _| c.replies.altered = 1, Verdict::Corrupted, ExitCode::Unexpected),
            (|c, _| c.wire.altered = 1, Verdict::Corrupted, ExitCode::Unexpected),
            (|c, _| c.durable.altered = 1, Verdict::Corrupted, ExitCode::Unexpected),
            (|c, _| c.wire.contested = 1, Verdict::Corrupted, ExitCode::Unexpected),
            (|c, _| c.durable.contested = 1, Verdict::Corrupted, ExitCode::Unexpected),
            (|c, _| c.wire.twice = 1, Verdict::Duplicated, ExitCode::Unexpected),
            (
                |c, _| (c.wire, c.durable) = (Arrivals::default(), Arrivals::default()),
                Verdict::NotRun,
                ExitCode::NothingRan,
            ),
            (|c, _| c.joined = false, Verdict::NotRun, ExitCode::RigInvalid),
            (
                |c, _| c.closed = Some(Closed { code: 1011, reason: String::new() }),
                Verdict::Delivered,
                ExitCode::RigInvalid,
            ),
        ];
        for (spoil, verdict, code) in broken {
            let mut client = healthy();
            spoil(&mut client, stop.clone());
            assert_eq!(judged(vec![client], unchanged), (vec![verdict], code), "{verdict:?}");
        }
    }

    #[test]
    fn what_nobody_got_is_missing_for_everybody() {
        let lost = judged(vec![healthy(); 2], |seen| seen.missing_everywhere = 1);
        assert_eq!(lost, (vec![Verdict::SilentLoss], ExitCode::Unexpected));
        let broken_off = judged(vec![healthy()], |seen| seen.complete = false);
        assert_eq!(broken_off, (vec![Verdict::Delivered], ExitCode::RigInvalid));
    }

    #[test]
    fn a_client_that_does_not_stream_loses_nothing() {
        let mut client = healthy();
        (client.streams, client.wire.got, client.replies.short_chars) = (false, 0, 40);
        assert_eq!(judged(vec![client], |_| {}), (vec![Verdict::ByDesign], ExitCode::AllAsExpected));
    }
}
