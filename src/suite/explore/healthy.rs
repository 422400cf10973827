//! Released pairs that have to be well when nothing is done to them.

use super::dice::Dice;
use super::draw::healthy;
use super::specimen::Specimen;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::server::Finish;
use crate::scenario::{Cell, Scenario, ScenarioError, Selection, expand};
use crate::seed::Seed;

/// The scenario that holds what was measured of pairs of releases.
const FACTS: &str = "release-skew";

/// The pairs of released servers and clients that the facts call good, under the selection.
pub(super) fn pairs(
    catalogue: &Catalogue,
    servers: &[String],
    clients: &[String],
) -> Result<Vec<(String, String)>, ScenarioError> {
    let facts = Scenario::load(FACTS, catalogue)?;
    let good = |cell: &Cell| {
        let (client, asked) = (&cell.client_profile, &cell.client);
        // A proposal is no release; a release within an era is that era's profile.
        let released =
            !cell.server.contains('+') && !client.contains('+') && cell.server == cell.server_profile;
        let named = asked.split('/').next() == Some(client.as_str());
        let wanted = servers.contains(&cell.server) && clients.contains(client);
        released && named && wanted && cell.expected.verdict.is_healthy()
    };
    let cells = expand(&facts, catalogue, &Selection::default())?;
    Ok(cells.into_iter().filter(good).map(|cell| (cell.server, cell.client)).collect())
}

/// The healthy specimen with that number. `pairs` is never empty.
pub(super) fn specimen(pairs: &[(String, String)], seed: Seed, number: u64) -> Specimen {
    let mut dice = Dice::new(seed.derive(&format!("healthy/{number}")));
    let pair = dice.pick(pairs).clone();
    // The facts are about turns that end with a message. With a tool at the end a pair that they call good need not be: this search
    // found that `python-1.30.0` refuses the `extended_content` that 1.34.0 to 1.36.1 put on an observation (`finish-tool`).
    Specimen { finish: Finish::Message, ..healthy(pair, &mut dice) }
}
