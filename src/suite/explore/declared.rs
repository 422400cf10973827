//! What the scenarios that come with skewlab say of bad ends: a search need not find that again.
//!
//! Many a scenario says the verdict and leaves hop and reason open. So that no new way to lose text hides behind an old one,
//! such a cell is run, and only the end that it really has is declared.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::crew::Crew;
use super::group::Key;
use super::search::ExploreError;
use crate::agent_server::profile::Catalogue;
use crate::record::Reason;
use crate::run::Parties;
use crate::scenario::{Cell, FIELD, Loaded, Planned, SHIPPED, Selection, expand};
use crate::session_feed::Variants;
use crate::suite::assemble;

/// Which of these ends some shipped scenario has and expects. Only what comes with skewlab takes part: a user's own profiles
/// declare nothing.
pub(super) fn declared(ends: &BTreeSet<Key>, crew: &Crew) -> Result<BTreeSet<Key>, ExploreError> {
    let catalogue = Catalogue::embedded()?;
    let mut cells = Vec::new();
    for cell in expected(&catalogue)? {
        if ends.iter().any(|end| may_be(&cell, end)) {
            cells.push(Planned::AgentServer(Box::new(cell)));
        }
    }
    let parties = Parties::of(cells.iter().filter_map(Planned::agent_server), &catalogue)?;
    let runs = crew.run(cells.clone(), parties);
    let of = |(cell, result): (&Planned, &_)| {
        let judged = assemble::cell(cell.agent_server()?, result, NaiveDate::default(), false);
        (judged.verdict == judged.expected).then(|| Key::of(&judged))
    };
    let had: BTreeSet<Key> = cells.iter().zip(runs.iter().map(|run| &run.result)).filter_map(of).collect();
    // As in a scenario's patterns, a client without a callback list means the one with it, too.
    let plain = |end: &Key| Key { client: profile(&end.client).to_owned(), ..end.clone() };
    Ok(ends.iter().filter(|end| had.contains(end) || had.contains(&plain(end))).cloned().collect())
}

/// Every cell of a shipped scenario that is expected to end badly.
fn expected(catalogue: &Catalogue) -> Result<Vec<Cell>, ExploreError> {
    let variants = Variants::embedded()?;
    let mut all = Vec::new();
    for (path, text) in SHIPPED.iter().chain(FIELD) {
        let Loaded::AgentServer(scenario) = Loaded::parse(path, text, catalogue, &variants)? else {
            continue;
        };
        let cells = expand(&scenario, catalogue, &Selection::default())?;
        all.extend(cells.into_iter().filter(|cell| !cell.expected.verdict.is_healthy()));
    }
    Ok(all)
}

/// Whether the cell may end so, by what its scenario says.
fn may_be(cell: &Cell, end: &Key) -> bool {
    let expected = &cell.expected;
    let reason = end.reason.as_ref().map(Reason::as_str);
    expected.verdict == end.verdict
        && cell.client_profile == profile(&end.client)
        && expected.lost_at.is_none_or(|hop| end.lost_at == Some(hop))
        && expected.reason.as_deref().is_none_or(|code| reason == Some(code))
}

/// A client without its callback list.
fn profile(client: &str) -> &str {
    client.split_once('/').map_or(client, |(profile, _)| profile)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::agent_server::server::Finish;
    use crate::record::Hop;
    use crate::record::Verdict::{DurableLoss, Leaked, SilentLoss};
    use crate::seed::Seed;
    use crate::suite::explore::PATIENCE;

    #[test]
    fn what_the_search_found_of_turns_that_end_with_a_tool_is_in_a_scenario() {
        let catalogue = Catalogue::embedded().unwrap();
        let cells = expected(&catalogue).unwrap();
        let tool =
            |cell: &&Cell| cell.workload.finish == Finish::FinishTool && cell.client == "python-1.30.0";
        let found: Vec<&Cell> = cells.iter().filter(tool).collect();
        for server in ["1.34.0", "1.36.1"] {
            let cell =
                found.iter().find(|cell| cell.server == server).unwrap_or_else(|| panic!("no {server}"));
            let said = (cell.expected.verdict, cell.expected.lost_at, cell.expected.reason.as_deref());
            assert_eq!(said, (DurableLoss, Some(Hop::Decoded), Some("extra_forbidden")), "{}", cell.id);
            let because = cell.expected.because.as_deref().unwrap_or_default();
            assert!(because.contains("extended_content"), "{because}");
        }
        // Servers before and clients after have no part in it.
        assert!(found.iter().all(|cell| cell.server != "1.30.0"));
    }

    #[test]
    fn an_end_that_a_shipped_scenario_has_is_declared_and_another_one_is_not() {
        let crew =
            Crew { seed: Seed(1), jobs: 2, patience: PATIENCE, stop: Arc::new(AtomicBool::new(false)) };
        let key = |client: &str, verdict, lost_at, reason| Key {
            verdict,
            lost_at: Some(lost_at),
            reason: Some(Reason::new(reason)),
            client: client.to_owned(),
        };
        let known = [
            // A reply that dies with its server is one way to end, and where it is told and where not is in its scenario.
            key("browser-1.20.0", DurableLoss, Hop::Produced, "turn_killed"),
            key("python-1.43.1+AB", SilentLoss, Hop::Decoded, "unknown_kind"),
            // The scenario says the verdict only.
            key("python-1.30.0", DurableLoss, Hop::Decoded, "extra_forbidden"),
            key("python-1.30.0/callbacks", DurableLoss, Hop::Decoded, "extra_forbidden"),
        ];
        let news = [
            key("python-1.30.0", DurableLoss, Hop::Decoded, "anything"),
            key("python-1.43.1+AB", SilentLoss, Hop::Sent, "mutant_drop"),
            key("browser-1.20.0", DurableLoss, Hop::Sent, "turn_killed"),
            key("browser-session", Leaked, Hop::Decoded, "unknown_kind"),
        ];
        let all = known.iter().chain(&news).cloned().collect();
        assert_eq!(declared(&all, &crew).unwrap(), BTreeSet::from(known));
    }
}
