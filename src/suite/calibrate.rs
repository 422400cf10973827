//! Whole turns for a certificate: the released client and the emulation of it in the same cells of a shipped scenario.
//!
//! Here and not beside the other cases, because a turn has a verdict, and runner and judge do not know each other.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chrono::NaiveDate;

use super::PlanError;
use super::live::{LivePlan, Named};
use crate::agent_server::profile::Catalogue;
use crate::record::{CellResult, Class, Disagreement, Hop, Reason};
use crate::run::CellFault;
use crate::run::live::{ClientPackage, LiveOptions, ServerPackage};

/// The scenario whose turns are run.
const SCENARIO: &str = "release-skew";

/// Turns that could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum TurnsError {
    /// The scenario has no such cells.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Nothing could be started.
    #[error("{0}")]
    Rig(#[from] CellFault),
    /// A cell did not run, or its evidence is broken.
    #[error("{cell}: {note}")]
    Broken {
        /// The cell.
        cell: String,
        /// Why.
        note: String,
    },
}

/// Runs the turns of one client in front of emulated servers, and says how many there were and where the package and its
/// emulation differ. `client` is a profile, with its callback list if it is not its own.
pub fn turns(
    client: &str,
    package: &ClientPackage,
    servers: &[String],
    catalogue: &Catalogue,
    options: &LiveOptions,
    today: NaiveDate,
) -> Result<(u64, Vec<Disagreement>), TurnsError> {
    let servers: Vec<Named<ServerPackage>> = servers
        .iter()
        .map(|name| named(&format!("emulated:{name}"), name, ServerPackage::Emulated))
        .collect();
    let real = format!("released-{client}");
    let emulated = format!("emulated:{client}");
    let clients = [named(&real, client, package.clone()), named(&emulated, client, ClientPackage::Emulated)];
    let plan = LivePlan::of(&[SCENARIO.to_owned()], &servers, &clients, None, catalogue)?;
    let outcome = plan.run(options, Vec::new(), today, &AtomicBool::new(false), &|_| {})?;
    if let Some(broken) = outcome.run.cells.iter().find(|cell| cell.verdict.is_rig_fault()) {
        let note = broken.findings.first().map(|finding| finding.note.clone()).unwrap_or_default();
        return Err(TurnsError::Broken { cell: broken.id.clone(), note });
    }
    let said = if matches!(package, ClientPackage::Canvas { .. }) { shown } else { said };
    Ok(compared(&outcome.run.cells, &real, said))
}

/// What is compared of a cell, by field.
type Said = fn(&CellResult) -> Vec<(&'static str, String)>;

fn named<P>(label: &str, profile: &str, package: P) -> Named<P> {
    Named { label: label.to_owned(), profile: profile.to_owned(), package, only_with: None }
}

/// Pairs the cells of both clients, and compares what they say.
fn compared(cells: &[CellResult], real: &str, said: Said) -> (u64, Vec<Disagreement>) {
    let place =
        |cell: &CellResult| (cell.server_release.clone(), cell.workload.clone(), cell.mutation.clone());
    let (mine, theirs): (Vec<&CellResult>, Vec<&CellResult>) =
        cells.iter().partition(|cell| cell.client_release != real);
    let mine: BTreeMap<_, &CellResult> = mine.into_iter().map(|cell| (place(cell), cell)).collect();
    let mut turns = 0;
    let mut found = Vec::new();
    for theirs in theirs {
        let Some(mine) = mine.get(&place(theirs)) else { continue };
        turns += 1;
        let server = theirs.server_release.trim_start_matches("emulated:");
        let case = format!("{SCENARIO} on {server}, {}", theirs.workload);
        for ((what, emulated), (_, real)) in said(mine).into_iter().zip(said(theirs)) {
            if emulated != real {
                let (case, what) = (case.clone(), what.to_owned());
                found.push(Disagreement { case, what, emulated, real, because: None });
            }
        }
    }
    (turns, found)
}

/// What a cell says of its client, by field.
fn said(cell: &CellResult) -> Vec<(&'static str, String)> {
    let word = |word: Option<&str>| word.unwrap_or("none").to_owned();
    let log = cell.log.iter().map(|(key, n)| format!("{key}: {n}")).collect::<Vec<_>>().join(", ");
    vec![
        ("verdict", cell.verdict.as_str().to_owned()),
        ("lost_at", word(cell.lost_at.map(Hop::as_str))),
        ("reason", word(cell.reason.as_ref().map(Reason::as_str))),
        ("signal", cell.signal.as_str().to_owned()),
        ("delivered", format!("{} characters", cell.delivered.chars)),
        ("log", if log.is_empty() { "nothing".to_owned() } else { log }),
    ]
}

/// The same of a front end. A page tells what a person could read: neither where a frame stopped inside it, nor reasoning,
/// which it folds away; and its console is the browser's.
fn shown(cell: &CellResult) -> Vec<(&'static str, String)> {
    let text = cell.classes.get(&Class::Text).and_then(|hops| hops.last()).map_or(0, |hop| hop.left.chars);
    vec![
        ("verdict", cell.verdict.as_str().to_owned()),
        ("signal", cell.signal.as_str().to_owned()),
        ("delivered", format!("{text} characters of text")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Run, Signal, Verdict};

    /// Two cells that were alike, of a released client and of its emulation.
    fn pair() -> Vec<CellResult> {
        let text = include_str!("../../tests/fixtures/results/run_v1.json");
        let run: Run = serde_json::from_str(text).unwrap();
        let cell = run.cells[0].clone();
        let of = |client: &str| CellResult { client_release: client.to_owned(), ..cell.clone() };
        vec![of("released-c"), of("emulated:c")]
    }

    #[test]
    fn alike_cells_agree_and_each_field_that_differs_is_named() {
        let mut cells = pair();
        assert_eq!(compared(&cells, "released-c", said), (1, Vec::new()));
        cells[0].verdict = Verdict::SilentLoss;
        cells[0].signal = Signal::Log;
        cells[0].log.insert("key".to_owned(), 3);
        let (turns, found) = compared(&cells, "released-c", said);
        let what: Vec<&str> = found.iter().map(|d| d.what.as_str()).collect();
        assert_eq!((turns, what), (1, vec!["verdict", "signal", "log"]));
        assert_eq!((found[2].emulated.as_str(), found[2].real.as_str()), ("nothing", "key: 3"));
        // Of a page the console is not compared, what it showed is.
        if let Some(hop) = cells[0].classes.get_mut(&Class::Text).and_then(|hops| hops.last_mut()) {
            hop.left.chars += 1;
        }
        let (_, found) = compared(&cells, "released-c", shown);
        let what: Vec<&str> = found.iter().map(|d| d.what.as_str()).collect();
        assert_eq!(what, ["verdict", "signal", "delivered"]);
    }

    #[test]
    fn a_cell_without_its_pair_is_not_counted() {
        let mut cells = pair();
        cells[1].server_release = "other".to_owned();
        assert_eq!(compared(&cells, "released-c", said), (0, Vec::new()));
    }
}
