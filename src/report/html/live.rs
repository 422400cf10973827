//! Released servers measured, and what attached clients saw of a foreign one.

use super::chart::{Fit, Plot, Series, draw, number};
use super::measured::Measured;
use super::wording::{counted, micros, spaced};
use super::{Section, Tone};
use crate::record::attach::AttachReport;
use crate::record::bench::Quantiles;
use crate::record::live_bench::{LiveBench, LiveIdleReport};
use crate::record::{Certificate, Hop, Reason};
use crate::report::bench::interval;

/// The section of `live bench`.
pub(super) fn bench(bench: &LiveBench, id: String, title: String) -> askama::Result<Section> {
    let s = &bench.settings;
    let mut shown = Measured {
        lead: format!(
            "{} tokens at {} a second less a turn of {}, {} each, servers and subscribers in a drawn order. Compare releases \
             only within one run, and only on the same versions of what they stand on.",
            s.tokens,
            s.rate,
            s.base_tokens,
            counted(s.repeats.into(), "block")
        ),
        legend: "Large marks are medians with the least and the most beside them. The line is the fit a + b · subscribers; the \
                 band is the 95 % interval of its slope b, drawn from the fitted a.",
        ..Measured::default()
    };
    if !bench.rig.valid {
        let why = bench.rig.reason.as_deref().unwrap_or("it does not say why");
        shown.note(Tone::Bad, format!("No figure below may be quoted: {why}"));
    }
    if !bench.complete {
        shown.note(Tone::Warn, "Stopped early: not everything that was asked for was measured.");
    }
    for block in bench.blocks.iter().filter(|block| block.fault.is_some()) {
        let why = block.fault.as_deref().unwrap_or_default();
        shown.note(
            Tone::Warn,
            format!("A block of {} at {} does not count: {why}", block.server, block.subscribers),
        );
    }
    for pair in &bench.not_compared {
        let differ: Vec<String> =
            pair.differ.iter().map(|[name, of, vs]| format!("{name} {of} and {vs}")).collect();
        let text = format!("No ratio of {} and {}: they stand on {}.", pair.of, pair.vs, differ.join(", "));
        shown.note(Tone::Quiet, text);
    }
    let series = bench.servers.iter().map(|server| {
        let of = |own: &str| own == server.server;
        let own = || bench.points.iter().filter(|p| of(&p.server));
        let line = bench.lines.iter().find(|l| of(&l.server));
        let blocks = bench.blocks.iter().filter(|b| of(&b.server) && b.fault.is_none());
        Series {
            name: server.server.clone(),
            points: own().map(|p| (f64::from(p.subscribers), p.cpu_ms_per_token)).collect(),
            blocks: blocks.map(|b| (f64::from(b.subscribers), b.cpu_ms_per_token)).collect(),
            ranges: own().map(|p| (f64::from(p.subscribers), p.range_ms[0], p.range_ms[1])).collect(),
            line: line.map(|l| Fit { a: l.a_ms, b: l.b_ms, b_ci: l.b_ci }),
        }
    });
    let told: Vec<String> = bench
        .lines
        .iter()
        .map(|l| format!("{}: {} + {} ms for each subscriber.", l.server, number(l.a_ms), number(l.b_ms)))
        .collect();
    let plot = Plot {
        id: format!("{id}-chart"),
        title: "CPU of the server's process per token, against subscribers".to_owned(),
        description: format!("CPU per token in milliseconds against subscribers. {}", told.join(" ")),
        across: "subscribers",
        up: "ms",
        series: series.collect(),
    };
    shown.charts.extend(draw(&plot)?);
    tables(bench, &mut shown);
    let headline = if bench.rig.valid {
        let n = counted(bench.servers.len() as u64, "released server");
        (Tone::Good, format!("{n} measured, {} formed", counted(bench.ratios.len() as u64, "ratio")))
    } else {
        (Tone::Bad, "The rig was not fit to measure: no figure may be quoted".to_owned())
    };
    shown.section(id, title, headline)
}

fn tables(bench: &LiveBench, shown: &mut Measured) {
    let rows = bench.points.iter().map(|p| {
        let range = interval(p.range_ms);
        vec![
            p.server.clone(),
            p.subscribers.to_string(),
            format!("{:.2}", p.cpu_ms_per_token),
            range,
            p.blocks.to_string(),
        ]
    });
    shown.table(
        "CPU per token, idle share taken off",
        &["server", "subscribers", "ms", "least … most", "blocks"],
        rows,
    );
    let rows = bench.lines.iter().map(|l| {
        let ci = match l.b_ci {
            [low, high] if low.is_finite() && high.is_finite() => format!("{low:.4} … {high:.4}"),
            _ => "unknown: too few blocks".to_owned(),
        };
        vec![l.server.clone(), format!("{:.2}", l.a_ms), format!("{:.4}", l.b_ms), ci]
    });
    shown.table("ms per token = a + b · subscribers", &["server", "a", "b", "95 % of b"], rows);
    let rows = bench.ratios.iter().map(|r| {
        vec![r.of.clone(), r.vs.clone(), r.subscribers.to_string(), format!("{:.2}", r.ratio), interval(r.ci)]
    });
    shown.table(
        "CPU of one over the other, interleaved",
        &["of", "against", "subscribers", "ratio", "95 %"],
        rows,
    );
    let rows = bench.servers.iter().map(|s| {
        let pins: Vec<String> = s.pins.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let held = s.resident_bytes.map_or_else(|| "-".to_owned(), |b| format!("{} MiB", b / (1024 * 1024)));
        vec![s.server.clone(), s.ran.clone(), pins.join(", "), held]
    });
    shown.table("What ran", &["server", "package", "on", "memory at most"], rows);
    let rig = &bench.rig;
    let percent =
        |share: Option<f64>| share.map_or_else(|| "unknown".to_owned(), |s| format!("{:.0} %", s * 100.0));
    let late = rig.model_lag_p99_ms.map_or_else(|| "unknown".to_owned(), |lag| format!("{lag:.1} ms"));
    let row = |what: &str, value: String| (what.to_owned(), value);
    shown.rig = vec![
        row("fit to measure", if rig.valid { "yes".to_owned() } else { "no".to_owned() }),
        row("cores", rig.cores.to_string()),
        row("subscribers' thread", format!("{} of a core", percent(Some(rig.reader_cpu)))),
        row("model late by, p99", late),
        row("taken by the machine's host", percent(rig.steal)),
        row("noise of the machine", percent(rig.noise)),
        row("blocks that do not count", rig.invalid_blocks.to_string()),
    ];
}

/// The section of `live idle`.
pub(super) fn idle(report: &LiveIdleReport, id: String, title: String) -> askama::Result<Section> {
    let mut shown = Measured {
        lead: format!(
            "{} s of text at {} tokens a second, looked at about every {} s while it streamed.",
            report.duration_s, report.rate, report.poll_s
        ),
        ..Measured::default()
    };
    let mut contradicted = 0;
    for server in &report.servers {
        contradicted += u64::from(!server.contradictions.is_empty());
        for what in &server.contradictions {
            shown.note(
                Tone::Bad,
                format!("{} contradicts the profile {}: {what}", server.server, server.profile),
            );
        }
    }
    let rows = report.servers.iter().map(|s| {
        vec![
            s.server.clone(),
            s.ran.clone(),
            format!("{} s", s.peak_idle_s),
            format!("{:.1} s", s.emulated_peak_idle_s),
            format!("{} in {}", s.distinct_updated_at, counted(s.polls.into(), "look")),
            format!("{:.2}", s.emulated_updated_at_per_token),
            format!("{:.1} s", s.longest_gap_s),
        ]
    });
    let head = [
        "server",
        "package",
        "peak idle_time",
        "emulated peak",
        "values of updated_at",
        "emulated writes a token",
        "longest time between looks",
    ];
    shown.table("Idle clocks of released servers, beside our emulation", &head, rows);
    let n = counted(report.servers.len() as u64, "released server");
    let headline = match contradicted {
        0 => (Tone::Good, format!("{n} agree with the emulation")),
        _ => (Tone::Bad, format!("{contradicted} of {n} contradict the emulation")),
    };
    shown.section(id, title, headline)
}

/// The section of `attach`. Neither the address of the server nor its conversation is in it.
pub(super) fn attach(report: &AttachReport, id: String, title: String) -> askama::Result<Section> {
    let seen = &report.seen;
    let joined = seen.clients.iter().filter(|client| client.joined).count();
    let mut shown = Measured {
        lead: format!(
            "{joined} of {} joined a server, for {:.1} s.",
            counted(seen.asked.into(), "client"),
            seen.seconds
        ),
        ..Measured::default()
    };
    if !seen.complete {
        shown.note(Tone::Warn, "It did not run for as long as was asked.");
    }
    let rows = report.findings.iter().map(|f| {
        let lost = f.lost_at.map_or("-", Hop::as_str).to_owned();
        let reason = f.reason.as_ref().map_or("-", Reason::as_str).to_owned();
        let amount = format!("{} ({} frames)", f.amount.chars, f.amount.frames);
        let verdict = spaced(f.verdict.as_str());
        vec![
            verdict,
            f.clients.to_string(),
            amount,
            lost,
            reason,
            f.signal.as_str().to_owned(),
            f.note.clone(),
        ]
    });
    let head = ["verdict", "clients", "characters", "lost at", "reason", "noticeable", "in words"];
    shown.table("What is to be said of the clients", &head, rows);
    let time = |q: &Quantiles| [q.p50_ns, q.p99_ns, q.max_ns].map(|ns| micros(ns / 1000)).to_vec();
    let times = [
        ("spread after the first client that got it", Some(seen.spread)),
        ("between two deltas of a reply", Some(seen.gap)),
        ("from the message to the first delta", seen.first_delta),
        ("since the frame's own timestamp", seen.since_own_timestamp),
    ];
    let rows = times.iter().filter_map(|(what, q)| q.map(|q| [vec![(*what).to_owned()], time(&q)].concat()));
    shown.table("Times", &["what", "p50", "p99", "max"], rows);
    let row = |what: &str, value: String| (what.to_owned(), value);
    shown.rig = vec![
        row("clients' profile", seen.profile.clone()),
        row("deltas, durable ends", format!("{}, {}", seen.deltas, seen.replies)),
        row("deltas that nobody got", seen.missing_everywhere.to_string()),
        row("reading took", format!("{:.0} % of a core", seen.reader_cpu * 100.0)),
    ];
    let headline = match report.findings.first() {
        Some(worst) if !worst.verdict.is_healthy() => {
            (Tone::Bad, format!("{}: {}", counted(worst.clients, "client"), spaced(worst.verdict.as_str())))
        }
        Some(worst) => (Tone::Good, format!("All clients: {}", spaced(worst.verdict.as_str()))),
        None => (Tone::Warn, "Nothing was found".to_owned()),
    };
    shown.section(id, title, headline)
}

/// The section of a certificate.
pub(super) fn certificate(of: &Certificate, id: String, title: String) -> askama::Result<Section> {
    let laid = of.laid_over.as_ref().map_or_else(String::new, |what| format!(", laid over {what}"));
    let mut shown = Measured {
        lead: format!("The emulation {} held against {} {}{laid}.", of.profile, of.package, of.version),
        ..Measured::default()
    };
    let asked = of.asked.iter().map(|(kind, n)| vec![kind.clone(), n.to_string()]);
    shown.table("What both were asked", &["kind", "cases"], asked);
    let rows = of.disagreements.iter().map(|d| {
        let because = d.because.clone().unwrap_or_else(|| "no reason given".to_owned());
        vec![d.case.clone(), d.what.clone(), d.emulated.clone(), d.real.clone(), because]
    });
    shown.table(
        "Where they did not say the same",
        &["case", "what", "emulation", "package", "because"],
        rows,
    );
    let n = counted(of.disagreements.len() as u64, "difference");
    let headline = if of.proves() {
        (Tone::Good, format!("{} agrees with its package, {n} explained", of.profile))
    } else {
        (
            Tone::Bad,
            format!("{} is not proven: {n} and not all of them explained, or nothing asked", of.profile),
        )
    };
    shown.section(id, title, headline)
}
