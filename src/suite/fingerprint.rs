//! Fingerprints of the evidence of one cell: what two runs of it share.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::record::{CellResult, HopFlow, Observation};
use crate::run::CellFault;
use crate::scenario::capsule::Found;
use crate::seed::Seed;
use crate::unit::Tally;

/// What came of a cell under the seed of its run, as a capsule keeps it. The seed is part of the evidence: of many a cell it
/// changes nothing else that is kept, and a capsule of another seed is another capsule.
pub(super) fn found(
    cell: &CellResult,
    result: &Result<Vec<Observation>, CellFault>,
    Seed(seed): Seed,
) -> Found {
    let (ledger, evidence) = match result {
        Ok(clients) => {
            let flows: Vec<_> = clients.iter().map(|client| &client.flows).collect();
            let timeless =
                |client: &Observation| Observation { times: None, baseline: None, ..client.clone() };
            (hash(&flows), hash(&(seed, clients.iter().map(timeless).collect::<Vec<_>>())))
        }
        // The words of a panic name places of the build; what happened is its reason.
        Err(_) => (hash(&cell.reason), hash(&(seed, &cell.reason))),
    };
    Found {
        verdict: cell.verdict,
        scope: cell.scope,
        lost_at: cell.lost_at,
        reason: cell.reason.clone(),
        signal: cell.signal,
        hops: cell.hops.iter().map(line).collect(),
        ledger,
        evidence,
    }
}

/// `sent: in 12, out 10, mutant_drop 2`, in frames and characters.
fn line(flow: &HopFlow) -> String {
    let one = |tally: &Tally| format!("{}/{}", tally.frames, tally.chars);
    let mut line = format!("{}: in {}, out {}", flow.hop, one(&flow.entered), one(&flow.left));
    for (reason, tally) in &flow.dropped {
        let _ = write!(line, ", {reason} -{}", one(tally));
    }
    for (reason, tally) in &flow.added {
        let _ = write!(line, ", {reason} +{}", one(tally));
    }
    line
}

/// SHA-256 over its JSON.
fn hash(of: &impl Serialize) -> String {
    // Plain records of strings and numbers always serialise; should they not, no hash is better than a false one.
    let Ok(bytes) = serde_json::to_vec(of) else { return String::new() };
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}
