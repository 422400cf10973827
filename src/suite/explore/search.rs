//! Draw, run, judge, group.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::NaiveDate;

use super::PATIENCE;
use super::cover::Cover;
use super::crew::Crew;
use super::declared::declared;
use super::draw::Urn;
use super::group::{self, Groups, Key, Members};
use super::healthy;
use super::keep::{Kept, example, keep};
use super::specimen::Specimen;
use crate::agent_server::profile::{Catalogue, ProfileError};
use crate::record::explore::{Drawn, EXPLORE_SCHEMA, ExploreReport, Group};
use crate::run::{CellFault, Parties};
use crate::scenario::{Planned, ScenarioError};
use crate::seed::Seed;
use crate::session_feed::profile::VariantError;
use crate::suite::assemble;
use crate::wire::MutationError;

/// Cells that are drawn, run and judged together: enough to keep every thread busy.
const BATCH: u64 = 256;

/// When a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// After so many cells.
    Cells(u64),
    /// With the first batch that ends after that time. How many cells that is depends on the machine.
    Time(Duration),
}

/// A search.
#[derive(Debug)]
pub struct Explore<'a> {
    /// Where profiles come from.
    pub catalogue: &'a Catalogue,
    /// Server profiles to draw from; never empty.
    pub servers: Vec<String>,
    /// Client profiles to draw from; never empty.
    pub clients: Vec<String>,
    /// What to draw.
    pub drawn: Drawn,
    /// Seed of the draws and of the cells.
    pub seed: Seed,
    /// When to end.
    pub limit: Limit,
    /// Worker threads.
    pub jobs: NonZeroUsize,
    /// Groups that are shrunk and kept, at most.
    pub capsules: usize,
    /// When it turns true no further cell is started.
    pub stop: Arc<AtomicBool>,
}

/// What a search came to.
#[derive(Debug)]
pub struct Explored {
    /// The report.
    pub report: ExploreReport,
    /// File name and text of each capsule.
    pub capsules: Vec<(String, String)>,
}

/// A search that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// A shipped scenario does not fit the catalogue.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A profile is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A variant of the session feed is wrong.
    #[error(transparent)]
    Variant(#[from] VariantError),
    /// A drawn mutation does not read.
    #[error(transparent)]
    Mutation(#[from] MutationError),
    /// No pair of releases is left that has to be well.
    #[error(
        "none of these pairs is released and called good by the facts of `release-skew`; name other servers or clients"
    )]
    NoPair,
}

/// What is counted while a search goes on.
#[derive(Default)]
struct Tally {
    cells: u64,
    healthy: u64,
    unreached: u64,
    groups: Groups,
    cover: Cover,
}

impl Explore<'_> {
    /// Searches. `done` is told how many cells of how many are finished.
    pub fn run(&self, done: &dyn Fn(u64)) -> Result<Explored, ExploreError> {
        let tally = self.search(done)?;
        let declared = match self.drawn {
            Drawn::Everything => {
                declared(&tally.groups.keys().cloned().collect(), &self.keepers(self.jobs.get()))?
            }
            // Of what has to be well nothing else is declared.
            Drawn::HealthyPairs => BTreeSet::new(),
        };
        let mut found: Vec<(bool, Key, Members)> =
            tally.groups.into_iter().map(|(key, members)| (declared.contains(&key), key, members)).collect();
        // What nobody declared first; behind it the order of the groups is one of severity.
        found.sort_by_key(|(declared, ..)| *declared);
        let news: Vec<(&Key, &Members)> =
            found.iter().filter(|(declared, ..)| !declared).map(|(_, key, members)| (key, members)).collect();
        let mut kept = self.kept(&group::one_of_each_first(&news, self.capsules))?;
        let mut capsules = Vec::new();
        let mut groups = Vec::new();
        for (declared, key, members) in found {
            let example = match kept.remove(&key) {
                Some(Kept { example, text }) => {
                    capsules.extend(example.capsule.clone().map(|name| (name, text)));
                    example
                }
                None => example(&members, &members.first),
            };
            let Key { verdict, lost_at, reason, client } = key;
            let Members { cells, signal, note, .. } = members;
            groups.push(Group { verdict, lost_at, reason, client, signal, cells, declared, example, note });
        }
        let everything = self.drawn == Drawn::Everything;
        let mut report = ExploreReport {
            schema: EXPLORE_SCHEMA.to_owned(),
            skewlab: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.seed.0,
            drawn: self.drawn,
            cells: tally.cells,
            healthy: tally.healthy,
            unreached: tally.unreached,
            groups,
            coverage: tally.cover.report(&self.clients, everything),
            digest: String::new(),
        };
        report.seal();
        Ok(Explored { report, capsules })
    }

    fn search(&self, done: &dyn Fn(u64)) -> Result<Tally, ExploreError> {
        let urn = Urn {
            catalogue: self.catalogue,
            servers: self.servers.clone(),
            clients: self.clients.clone(),
            seed: self.seed,
        };
        let pairs = match self.drawn {
            Drawn::Everything => Vec::new(),
            Drawn::HealthyPairs => healthy::pairs(self.catalogue, &self.servers, &self.clients)?,
        };
        if self.drawn == Drawn::HealthyPairs && pairs.is_empty() {
            return Err(ExploreError::NoPair);
        }
        let draw = |number| match self.drawn {
            Drawn::Everything => urn.specimen(number),
            Drawn::HealthyPairs => healthy::specimen(&pairs, self.seed, number),
        };
        let crew = self.crew(self.jobs.get());
        let (began, mut tally, mut next) = (Instant::now(), Tally::default(), 0);
        while !self.stop.load(Ordering::Relaxed) {
            let end = match self.limit {
                Limit::Cells(cells) => cells.min(next + BATCH),
                Limit::Time(time) if began.elapsed() >= time => next,
                Limit::Time(_) => next + BATCH,
            };
            if next >= end {
                break;
            }
            let specimens: Vec<(u64, Specimen)> = (next..end).map(|number| (number, draw(number))).collect();
            self.batch(&specimens, &crew, &mut tally)?;
            next = end;
            done(tally.cells);
            // A false alarm is one too many.
            if self.drawn == Drawn::HealthyPairs && !tally.groups.is_empty() {
                break;
            }
        }
        Ok(tally)
    }

    fn batch(
        &self,
        specimens: &[(u64, Specimen)],
        crew: &Crew,
        tally: &mut Tally,
    ) -> Result<(), ExploreError> {
        let cells = specimens.iter().map(|(_, specimen)| specimen.planned());
        let cells: Vec<Planned> = cells.collect::<Result<_, _>>()?;
        let parties = Parties::of(cells.iter().filter_map(Planned::agent_server), self.catalogue)?;
        let runs = crew.run(cells.clone(), parties);
        for (((number, specimen), cell), run) in specimens.iter().zip(&cells).zip(runs) {
            let Some(cell) = cell.agent_server() else { continue };
            match run.result {
                Err(CellFault::Interrupted) => continue,
                Err(CellFault::NeverFired(_)) => tally.unreached += 1,
                result => {
                    tally.cover.add(specimen);
                    let judged = assemble::cell(cell, &result, NaiveDate::default(), false);
                    if judged.verdict.is_healthy() {
                        tally.healthy += 1;
                    } else {
                        group::put(&mut tally.groups, *number, specimen, &judged);
                    }
                }
            }
            tally.cells += 1;
        }
        Ok(())
    }

    /// The capsules of these groups.
    fn kept(&self, groups: &[(&Key, &Members)]) -> Result<BTreeMap<Key, Kept>, ExploreError> {
        let crew = self.keepers(1);
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = || {
            while let Some((key, members)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let kept = keep(key, members, &crew, self.catalogue);
                let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                done.push(kept.map(|kept| ((*key).clone(), kept)));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.jobs.get().min(groups.len()) {
                scope.spawn(worker);
            }
            worker();
        });
        done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_iter().collect()
    }

    /// Who works on what was found, also when the search was stopped.
    fn keepers(&self, jobs: usize) -> Crew {
        Crew { stop: Arc::new(AtomicBool::new(false)), ..self.crew(jobs) }
    }

    fn crew(&self, jobs: usize) -> Crew {
        Crew { seed: self.seed, jobs, patience: PATIENCE, stop: self.stop.clone() }
    }
}
