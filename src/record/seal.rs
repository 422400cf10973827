//! What a file of ours is sealed with, and whether a run says the same of itself in all its places. A file that was edited, merged or cut by hand does not, and what
//! is rendered of it would be green in one place and red in another.

use std::collections::BTreeSet;
use std::io;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::run::{CellResult, Run, Timing, Totals};
use super::verdict::Outcome;

/// Where a run contradicts itself, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contradiction {
    /// The place: `totals`, `cells[3] (ID)`.
    pub(super) place: String,
    /// What it says, and what speaks against it.
    pub(super) why: String,
}

/// Text on its way into a fingerprint.
struct Hash(Sha256);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// SHA-256 over the JSON of a record.
pub(super) fn print(record: &impl Serialize) -> String {
    let mut hash = io::BufWriter::new(Hash(Sha256::new()));
    let written = serde_json::to_writer(&mut hash, record);
    // Plain records of strings and numbers always serialise; should they not, no digest is better than a false one.
    match (written, hash.into_inner()) {
        (Ok(()), Ok(Hash(hash))) => {
            hash.finalize().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
        }
        _ => String::new(),
    }
}

impl Contradiction {
    /// A digest that is not that of the file.
    pub(super) fn of_digest(said: &str, is: &str) -> Contradiction {
        Contradiction {
            place: "digest".to_owned(),
            why: format!("it is `{said}`, and what the file holds has `{is}`"),
        }
    }
}

impl Run {
    /// Takes the fingerprint of the run as it is, to which every reader will hold the file. Two runs of one seed share it.
    pub fn seal(&mut self) {
        self.sealed = true;
        self.digest = self.fingerprint();
    }

    /// SHA-256 over everything but the times, the digest itself, and whether it is held to.
    fn fingerprint(&mut self) -> String {
        let (timing, digest) = (std::mem::take(&mut self.timing), std::mem::take(&mut self.digest));
        let sealed = std::mem::take(&mut self.sealed);
        let print = print(self);
        (self.timing, self.digest, self.sealed) = (timing, digest, sealed);
        print
    }

    /// The first contradiction, if there is one. The run is handed out as it came in.
    pub(super) fn contradiction(&mut self) -> Option<Contradiction> {
        let at = |place: &str, why: String| Some(Contradiction { place: place.to_owned(), why });
        if let Some(found) = self.of_cells() {
            return Some(found);
        }
        let counted = Totals::of(&self.cells);
        let parts = |of: &Totals| {
            [
                ("cells", of.cells),
                ("expected", of.expected),
                ("unexpected", of.unexpected),
                ("known", of.known),
                ("stale", of.stale),
                ("rig", of.rig),
            ]
        };
        for ((name, said), (_, is)) in parts(&self.totals).into_iter().zip(parts(&counted)) {
            if said != is {
                return at("totals", format!("`{name}` is {said}, and the cells make it {is}"));
            }
        }
        let Timing { cell_micros, cell_times, .. } = &self.timing;
        for (name, many) in [("cell_micros", cell_micros.len()), ("cell_times", cell_times.len())] {
            if many != 0 && many != self.cells.len() {
                return at("timing", format!("`{name}` has {many} entries for {} cells", self.cells.len()));
            }
        }
        if self.sealed {
            let is = self.fingerprint();
            if is != self.digest {
                return Some(Contradiction::of_digest(&self.digest, &is));
            }
        }
        None
    }

    fn of_cells(&self) -> Option<Contradiction> {
        let scenarios: BTreeSet<&str> = self.scenarios.iter().map(|ran| ran.name.as_str()).collect();
        let mut ids = BTreeSet::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let why = if !ids.insert(cell.id.as_str()) {
                Some("the same cell stands before it: two results were put into one".to_owned())
            } else if !scenarios.contains(cell.scenario.as_str()) {
                Some(format!("its scenario `{}` is not among `scenarios`", cell.scenario))
            } else {
                of_cell(cell)
            };
            if let Some(why) = why {
                return Some(Contradiction { place: format!("cells[{at}] (`{}`)", cell.id), why });
            }
        }
        None
    }
}

/// What is wrong with one cell: its headline is its first finding, which is the worst, and an expected one is what was expected.
fn of_cell(cell: &CellResult) -> Option<String> {
    let Some(first) = cell.findings.first() else { return Some("it has no finding".to_owned()) };
    if cell.verdict != first.verdict {
        let (headline, first) = (cell.verdict.as_str(), first.verdict.as_str());
        return Some(format!("its headline is `{headline}`, and its first finding `{first}`"));
    }
    let parts = [
        ("scope", cell.scope != first.scope),
        ("lost_at", cell.lost_at != first.lost_at),
        ("reason", cell.reason != first.reason),
        ("signal", cell.signal != first.signal),
    ];
    if let Some((part, _)) = parts.into_iter().find(|(_, differs)| *differs) {
        return Some(format!("its `{part}` is not that of its first finding"));
    }
    if let Some(worse) = cell.findings.iter().find(|finding| finding.verdict < first.verdict) {
        let (first, worse) = (first.verdict.as_str(), worse.verdict.as_str());
        return Some(format!("its headline is `{first}`, and it has the worse finding `{worse}`"));
    }
    if cell.outcome == Outcome::Expected && cell.verdict != cell.expected {
        let (is, expected) = (cell.verdict.as_str(), cell.expected.as_str());
        return Some(format!("its outcome is `expected`, and it is `{is}` where `{expected}` was expected"));
    }
    None
}
