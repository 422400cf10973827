//! Words and rows that a page shows of a cell: what is zero is left away, what nobody could see is said to be unseen.

use crate::record::{Budgeted, CellResult, Outcome, SideEffects, Verdict};
pub(super) use crate::report::words::counted;

/// A row of a table with two columns.
pub(super) type Row = (String, String);

/// The class of a verdict in the style sheet: what colour it has.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Delivered => "ok",
        Verdict::ByDesign => "design",
        Verdict::SilentLoss => "silent",
        Verdict::DurableLoss => "durable",
        Verdict::Leaked | Verdict::Reaped => "leak",
        Verdict::Corrupted
        | Verdict::Reordered
        | Verdict::Divergent
        | Verdict::Duplicated
        | Verdict::Late => "wrong",
        Verdict::LoudLoss | Verdict::NotStreamed | Verdict::Stalled => "loud",
        Verdict::Unbounded | Verdict::OverBudget => "cost",
        Verdict::Invalid | Verdict::NotRun => "rig",
    }
}

/// The word of an outcome.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Expected => "as expected",
        Outcome::Unexpected => "unexpected",
        Outcome::Known => "known failure",
        Outcome::Stale => "stale expectation",
    }
}

/// `silent_loss` as it is read aloud.
pub(super) fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// The durable events of a turn.
pub(super) fn durables(cell: &CellResult) -> Vec<Row> {
    let d = &cell.durables;
    if *d == crate::record::Durables::default() {
        return Vec::new();
    }
    let mut rows = vec![
        row("due", d.due.to_string()),
        row("sent", d.sent.to_string()),
        row("accepted", d.accepted.to_string()),
    ];
    rows.extend(d.rejected.iter().map(|(reason, n)| (format!("refused ({reason})"), n.to_string())));
    let reply = match (d.reply_due, d.reply) {
        (true, true) => "taken",
        (true, false) => "due, not taken",
        (false, _) => "not among them",
    };
    rows.push(row("the reply itself", reply.to_owned()));
    rows
}

/// What happened beside the sockets.
pub(super) fn effects(effects: &SideEffects) -> Vec<Row> {
    if *effects == SideEffects::default() {
        return Vec::new();
    }
    let web = &effects.webhook;
    let mut rows = vec![row(
        "webhook",
        format!("{} of {} events in {} were deltas", web.deltas, web.events, counted(web.posts, "post")),
    )];
    let mut some = |what: &str, n: u64, words: String| {
        if n > 0 {
            rows.push(row(what, words));
        }
    };
    some("webhook, failed posts", web.failed_posts, web.failed_posts.to_string());
    some("webhook, dropped events", web.dropped, web.dropped.to_string());
    some("deltas in the event store", effects.stored_deltas, effects.stored_deltas.to_string());
    if effects.foreign {
        rows.push(row("everything else", "unseen: the server is a released package".to_owned()));
        return rows;
    }
    let telemetry = &effects.telemetry;
    let of = format!("{} of {} events were deltas", telemetry.deltas, telemetry.events);
    some("telemetry", telemetry.events, of);
    some("deltas at the idle clock", effects.idle_deltas, effects.idle_deltas.to_string());
    let (all, by_stream) = (&effects.idle_writes, &effects.streamed_writes);
    for (clock, all, by_stream) in [
        ("process clock", all.process, by_stream.process),
        ("updated_at", all.updated_at, by_stream.updated_at),
        ("eviction clock", all.eviction, by_stream.eviction),
    ] {
        some(clock, all, format!("{}, {by_stream} caused by the stream", counted(all, "write")));
    }
    let costs = &effects.costs;
    for (what, n) in [
        ("deltas published", costs.published),
        ("calls of a subscriber", costs.invocations),
        ("serialisations", costs.serialisations),
        ("bytes encoded", costs.bytes_encoded),
        ("delta frames written", costs.frames),
        ("bytes of them on the wire", costs.wire_bytes),
        ("lines logged because of deltas", costs.log_lines),
    ] {
        some(what, n, n.to_string());
    }
    rows
}

fn row(what: &str, value: String) -> Row {
    (what.to_owned(), value)
}

/// Budget, limit, measured, whether it was kept, and the same in words.
pub(super) fn budgets(cell: &CellResult) -> Vec<[String; 5]> {
    let budget = |own: &Budgeted| {
        let kept = match own.kept {
            Some(true) => "kept",
            Some(false) => "broken",
            None => "cannot be said",
        };
        let limit = format!("{} {}", own.is.as_str(), own.limit);
        let measured = own.measured.map_or_else(|| "not measured".to_owned(), |m| m.to_string());
        [spaced(&own.budget), limit, measured, kept.to_owned(), own.note.clone()]
    };
    cell.budgets.iter().map(budget).collect()
}

/// Figure, count, what the scenario says of it, and whether that holds; empty where it says nothing.
pub(super) fn figures(cell: &CellResult) -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    for limit in &cell.limits {
        let counted =
            cell.figures.get(&limit.figure).map_or_else(|| "not counted".to_owned(), u64::to_string);
        let value = limit.value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
        let from = limit.from.as_ref().map_or_else(String::new, |from| format!(" ({from})"));
        let holds = if limit.holds(&cell.figures) { "holds" } else { "broken" };
        let says = format!("{} {value}{from}", limit.is.as_str());
        rows.push([limit.figure.words().to_owned(), counted, says, holds.to_owned()]);
    }
    let free = cell.figures.iter().filter(|(figure, _)| cell.limits.iter().all(|l| l.figure != **figure));
    let free =
        free.map(|(figure, n)| [figure.words().to_owned(), n.to_string(), String::new(), String::new()]);
    rows.extend(free);
    rows
}

/// What a consumer of a session feed could have told for itself.
pub(super) fn oracle(cell: &CellResult) -> Option<String> {
    let said = cell.oracle?;
    Some(match said.silent {
        0 => format!("nothing: it was streamed all of the {} it saw", counted(said.steps, "step")),
        silent => format!("{silent} of {} came without their deltas", counted(said.steps, "step")),
    })
}

/// A time in the unit that a reader would choose.
pub(super) fn micros(us: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = us as f64;
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", value / 1e3),
        _ => format!("{:.2} s", value / 1e6),
    }
}
