//! One cell's evidence, judged, as `run.json` holds it.

use chrono::NaiveDate;

use crate::judge;
use crate::probe::Ledger;
use crate::record::observation::Piece;
use crate::record::{
    CellResult, Class, Duties, Expected, Finding, Hop, HopFlow, Known, Observation, Outcome, Reason,
    SideEffects, Signal, Verdict, holds_certificate,
};
use crate::run::CellFault;
use crate::scenario::{Cell, FeedCell};
use crate::unit::Tally;

/// Judges the cell and writes down the result. A cell without evidence is a finding too. In a `live` run a party is a
/// released package unless its name says that it is emulated.
pub(super) fn cell(
    cell: &Cell,
    result: &Result<Vec<Observation>, CellFault>,
    today: NaiveDate,
    live: bool,
) -> CellResult {
    judged(&About::of(cell, live), result, today)
}

/// The same of a cell of the session feed. No released package exists to hold it against, so it is never proven.
pub(super) fn feed_cell(
    cell: &FeedCell,
    result: &Result<Vec<Observation>, CellFault>,
    today: NaiveDate,
) -> CellResult {
    let counted = result.as_ref().ok().and_then(|all| all.first()).map(|seen| cell.limits(&seen.figures));
    let figures = counted.unwrap_or_else(|| cell.expected.figures.clone());
    let expected = Expected { figures, ..cell.expected.clone() };
    judged(&About::of_feed(cell, &expected), result, today)
}

/// What a result says of its cell beside what came out.
struct About<'a> {
    id: &'a str,
    hash: &'a str,
    scenario: &'a str,
    server: &'a str,
    server_release: &'a str,
    client: String,
    client_release: &'a str,
    client_asked: Vec<String>,
    workload: &'a str,
    mutation: String,
    duties: Duties,
    expected: &'a Expected,
    known: Option<&'a Known>,
    subscribers: u32,
    proven: bool,
}

impl<'a> About<'a> {
    fn of(cell: &'a Cell, live: bool) -> About<'a> {
        let list = cell.client.split_once('/').map(|(_, list)| format!("/{list}")).unwrap_or_default();
        About {
            id: &cell.id,
            hash: &cell.hash,
            scenario: &cell.scenario,
            server: &cell.server_profile,
            server_release: &cell.server,
            client: format!("{}{list}", cell.client_profile),
            client_release: &cell.client,
            client_asked: cell.client_asked.clone(),
            workload: &cell.workload.name,
            mutation: cell.bent(),
            duties: Duties { must_not_receive: cell.must_not_receive.clone(), budget: cell.budget.clone() },
            expected: &cell.expected,
            known: cell.known.as_ref(),
            subscribers: cell.subscribers,
            proven: proven(cell, live),
        }
    }

    fn of_feed(cell: &'a FeedCell, expected: &'a Expected) -> About<'a> {
        let consumer = cell.consumer.as_str();
        About {
            id: &cell.id,
            hash: &cell.hash,
            scenario: &cell.scenario,
            server: &cell.variant,
            server_release: &cell.variant,
            client: consumer.to_owned(),
            client_release: consumer,
            client_asked: vec![consumer.to_owned()],
            workload: &cell.workload.name,
            mutation: cell.mutation(),
            duties: Duties::default(),
            expected,
            known: cell.known.as_ref(),
            subscribers: 1,
            proven: false,
        }
    }
}

fn judged(about: &About<'_>, result: &Result<Vec<Observation>, CellFault>, today: NaiveDate) -> CellResult {
    match result {
        Ok(clients) => match worst(&about.duties, clients) {
            Some((observation, findings)) => written(about, Some(observation), findings, today),
            // The judge never returns nothing; should it, the cell must not look green.
            None => written(about, None, vec![of_fault(&CellFault::Setup("no finding".into()))], today),
        },
        Err(fault) => written(about, None, vec![of_fault(fault)], today),
    }
}

/// The client that fared worst, and what is to be said of it: the worst headline, among equal ones the largest
/// amount, among those the one that joined first. Everybody is judged, so that a loss of the last of a thousand
/// copies is the cell's.
fn worst<'a>(duties: &Duties, clients: &'a [Observation]) -> Option<(&'a Observation, Vec<Finding>)> {
    let judged = clients.iter().map(|client| (client, judge::judge(client, duties)));
    let judged: Vec<(&Observation, Vec<Finding>)> = judged.collect();
    let rank = |findings: &[Finding]| {
        let headline = findings.first()?;
        debug_assert!(findings.iter().all(|f| f.verdict >= headline.verdict));
        let Tally { chars, frames } = headline.amount;
        // More is worse in a loss, and better in what arrived.
        let amount = if headline.verdict.is_healthy() { (chars, frames) } else { (!chars, !frames) };
        Some((headline.verdict, amount))
    };
    let verdict = |findings: &[Finding]| findings.first().map(|headline| headline.verdict);
    let at = (0..judged.len()).filter(|at| rank(&judged[*at].1).is_some());
    let at = at.min_by_key(|at| rank(&judged[*at].1))?;
    let alike = judged.iter().filter(|(_, findings)| verdict(findings) == verdict(&judged[at].1)).count();
    let (client, mut findings) = judged.into_iter().nth(at)?;
    // What the server spends or leaks, or that it is gone, is the server's, however many looked on.
    let own =
        |f: &&mut Finding| !matches!(f.verdict, Verdict::OverBudget | Verdict::Leaked | Verdict::Reaped);
    if let (Some(headline), many @ 2..) = (findings.first_mut().filter(own), clients.len()) {
        let note = &headline.note;
        headline.note = format!("{note}; so {alike} of {many} clients, this is number {}", at + 1);
    }
    Some((client, findings))
}

fn written(
    about: &About<'_>,
    observation: Option<&Observation>,
    findings: Vec<Finding>,
    today: NaiveDate,
) -> CellResult {
    let headline = findings.first().cloned().unwrap_or_else(|| of_fault(&CellFault::Interrupted));
    let figures = observation.map(|o| o.figures.clone()).unwrap_or_default();
    let (outcome, outcome_note) = judge::outcome(&findings, &figures, about.expected, about.known, today);
    let flows = observation.map(|o| o.flows.clone()).unwrap_or_default();
    let hops = if flows.is_empty() { Vec::new() } else { Ledger::total(&flows) };
    let at = |hop: Hop, of: fn(&HopFlow) -> Tally| hops.iter().find(|f| f.hop == hop).map(of);
    CellResult {
        id: about.id.to_owned(),
        hash: about.hash.to_owned(),
        scenario: about.scenario.to_owned(),
        server: about.server.to_owned(),
        server_release: about.server_release.to_owned(),
        client: about.client.clone(),
        client_release: about.client_release.to_owned(),
        client_asked: about.client_asked.clone(),
        workload: about.workload.to_owned(),
        mutation: about.mutation.clone(),
        verdict: headline.verdict,
        scope: headline.scope,
        lost_at: headline.lost_at,
        reason: headline.reason,
        signal: headline.signal,
        log_lines: observation.map_or(0, |o| o.log.values().sum()),
        expected: about.expected.verdict,
        outcome,
        only_over_budget: outcome == Outcome::Unexpected
            && judge::only_over_budget(&findings, about.expected),
        outcome_note,
        known: about.known.filter(|_| matches!(outcome, Outcome::Known | Outcome::Stale)).cloned(),
        proven: about.proven,
        produced: at(Hop::Produced, |f| f.left).unwrap_or_default(),
        due: observation.map(due).unwrap_or_default(),
        // The last hop of a client's path is where its application got the text.
        delivered: hops.last().map(|f| f.left).unwrap_or_default(),
        hops: hops.clone(),
        classes: flows,
        durables: observation.map(|o| o.durables.clone()).unwrap_or_default(),
        surfaced: observation.map(|o| o.surfaced.clone()).unwrap_or_default(),
        log: observation.map(|o| o.log.clone()).unwrap_or_default(),
        side_effects: observation.map_or_else(SideEffects::default, |o| o.side_effects.clone()),
        // A figure from broken evidence is not to be quoted.
        budgets: observation
            .filter(|_| !headline.verdict.is_rig_fault())
            .map(|o| judge::budgets(o, &about.duties.budget))
            .unwrap_or_default(),
        figures,
        limits: about.expected.figures.clone(),
        oracle: observation.and_then(|o| o.subscribed.as_ref()).map(judge::oracle::asked),
        first_frame: observation.and_then(|o| o.first_frame.clone()),
        queue: observation.and_then(|o| o.queue.clone()),
        receive_queue: observation.and_then(|o| o.receive_queue.clone()),
        subscribers: (about.subscribers > 1).then_some(about.subscribers),
        findings,
    }
}

/// What makes a party of a live run our emulation.
const EMULATED: &str = "emulated:";

/// Whether both parties are known to do what the released ones do: each holds a certificate, or is the package itself.
/// Traits that a scenario lays over a server are no release's, and nothing was asked about them.
fn proven(cell: &Cell, live: bool) -> bool {
    let is_package = |label: &str| live && !label.starts_with(EMULATED);
    let server =
        is_package(&cell.server) || (holds_certificate(&cell.server_profile) && cell.traits.is_empty());
    server && (is_package(&cell.client) || holds_certificate(&cell.client_profile))
}

/// What the application should have got.
fn due(observation: &Observation) -> Tally {
    let shown = |p: &&Piece| p.class == Class::Empty || observation.shows.contains(&p.class);
    observation.produced.iter().filter(shown).map(|p| Tally::of(&p.text)).sum()
}

fn of_fault(fault: &CellFault) -> Finding {
    let (verdict, reason) = match fault {
        CellFault::Panicked(_) => (Verdict::Invalid, "panicked"),
        CellFault::Hung(_) => (Verdict::Invalid, "hung"),
        CellFault::Deadline(_) => (Verdict::NotRun, "deadline"),
        CellFault::Interrupted => (Verdict::NotRun, "interrupted"),
        CellFault::NeverFired(_) => (Verdict::NotRun, "fault_never_fired"),
        CellFault::Setup(_) => (Verdict::NotRun, "setup_failed"),
    };
    Finding {
        verdict,
        scope: None,
        lost_at: None,
        reason: Some(Reason::new(reason)),
        signal: Signal::None,
        amount: Tally::default(),
        note: fault.to_string(),
    }
}
