//! Live plans: the cells of a scenario, with a released package or an emulation behind each name.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use chrono::NaiveDate;

use super::assemble;
use super::journal::Journalled;
use super::{Laid, PlanError, Settings, written};
use crate::agent_server::profile::Catalogue;
use crate::live::capture::Capture;
use crate::record::{CellResult, Expected, Hop, Observation, Ran, Run, Subject};
use crate::run::live::{
    ClientPackage, LiveCell, LiveOptions, Memory, ServerPackage, Task, execute_live, observed,
};
use crate::run::{CellFault, CellRun};
use crate::scenario::{Cell, KnownList, Scenario, Selection, expand};

/// A party as it was asked for.
#[derive(Debug, Clone)]
pub struct Named<P> {
    /// Its name in the result: `1.58.2`, `emulated:1.58.2`, `path:../sdk`.
    pub label: String,
    /// The profile or release whose expectations and traits are its own; of a client with its callback list.
    pub profile: String,
    /// What runs.
    pub package: P,
    /// The one server that a client is for (`python@same`); `None` for all.
    pub only_with: Option<String>,
}

/// Live cells to run.
#[derive(Debug, Default)]
pub struct LivePlan {
    /// The scenarios, in the order asked for.
    pub scenarios: Vec<Ran>,
    /// The cells.
    pub tasks: Vec<Task>,
}

/// What a live run gave.
#[derive(Debug)]
pub struct LiveOutcome {
    /// The judged run.
    pub run: Run,
    /// What was seen of each cell, in plan order.
    pub captures: Vec<Option<Capture>>,
    /// What the parties held in memory.
    pub memory: Memory,
}

impl LivePlan {
    /// Every server against every client, scenario by scenario; a pair that a scenario leaves out is left out.
    pub fn of(
        names: &[String],
        servers: &[Named<ServerPackage>],
        clients: &[Named<ClientPackage>],
        only: Option<&str>,
        catalogue: &Catalogue,
    ) -> Result<LivePlan, PlanError> {
        let mut plan = LivePlan { scenarios: Vec::new(), tasks: Vec::new() };
        for name in names {
            let scenario = Scenario::load(name, catalogue)?;
            if scenario.faults.iter().any(|set| !set.faults.is_empty()) {
                return Err(PlanError::Faults(scenario.name));
            }
            if scenario.idle_policy.is_some() {
                return Err(PlanError::Runtime(scenario.name));
            }
            if plan.scenarios.iter().any(|s| s.name == scenario.name) {
                return Err(PlanError::Twice(scenario.name));
            }
            for server in servers {
                for client in clients.iter().filter(|c| c.is_for(&server.label)) {
                    plan.add(&scenario, server, client, only, catalogue)?;
                }
            }
            plan.scenarios.push(Ran {
                name: scenario.name.clone(),
                question: scenario.question.clone(),
                seen: scenario.seen.clone(),
                subject: Subject::AgentServer,
            });
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        scenario: &Scenario,
        server: &Named<ServerPackage>,
        client: &Named<ClientPackage>,
        only: Option<&str>,
        catalogue: &Catalogue,
    ) -> Result<(), PlanError> {
        let selection = Selection {
            servers: vec![server.profile.clone()],
            clients: vec![client.profile.clone()],
            only: only.map(str::to_owned),
        };
        for mut cell in expand(scenario, catalogue, &selection)? {
            let server_profile = catalogue.server_with(&cell.server, &cell.traits)?;
            let choice = catalogue.client(&cell.client)?;
            cell.rename(&server.label, &client.label);
            // `python@same` may be a client that was named as well; two folders of one name are two clients.
            match self.tasks.iter().find(|task| task.cell.id == cell.id) {
                Some(there) if there.server.is(&server.package) && there.client.is(&client.package) => {
                    continue;
                }
                Some(_) => return Err(PlanError::OneName(cell.id)),
                None => {}
            }
            let known_as = [server.profile.clone(), client.profile.clone()];
            let (server, client) = (server.package.clone(), client.package.clone());
            self.tasks.push(Task { cell, server, client, server_profile, choice, known_as });
        }
        Ok(())
    }

    /// Lays known failures over the cells whose scenario lists none of its own.
    pub fn lay<'a>(&mut self, list: &'a KnownList) -> Laid<'a> {
        let cells = self.tasks.iter_mut().map(|task| (task.cell.id.as_str(), &mut task.cell.known));
        Laid::over(list, cells)
    }

    /// What its journal is of.
    pub fn journalled(&self, options: &LiveOptions) -> Journalled {
        let cells = self.tasks.iter().map(|task| (&*task.cell.id, &*task.cell.hash));
        Journalled::of("live", options.seed.0, cells)
    }

    /// What a finished cell means, for whoever watches a run that is not at its end.
    pub fn outcome(&self, run: &CellRun, today: NaiveDate) -> Option<CellResult> {
        let task = self.tasks.get(run.index)?;
        Some(assemble::cell(&as_they_saw(&task.cell, run), &run.result, today, true))
    }

    /// Runs the cells that an earlier attempt has not `finished`, and judges all of them.
    pub fn run(
        &self,
        options: &LiveOptions,
        finished: Vec<CellRun>,
        today: NaiveDate,
        stop: &AtomicBool,
        done: &dyn Fn(&LiveCell),
    ) -> Result<LiveOutcome, CellFault> {
        let began = Instant::now();
        let rest = (0..self.tasks.len()).filter(|at| finished.iter().all(|run| run.index != *at));
        let rest: Vec<usize> = rest.collect();
        let tasks: Vec<Task> = rest.iter().map(|at| self.tasks[*at].clone()).collect();
        // A cell's place is that in the whole plan, whoever is told of it.
        let place =
            |run: CellRun| CellRun { index: rest.get(run.index).copied().unwrap_or(run.index), ..run };
        let placed = |cell: &LiveCell| done(&LiveCell { run: place(cell.run.clone()), ..cell.clone() });
        let (cells, memory) = execute_live(&tasks, options, stop, &placed)?;
        let mut all: Vec<_> = cells.into_iter().map(|cell| (place(cell.run), cell.capture)).collect();
        all.extend(finished.into_iter().map(|run| (run, None)));
        all.sort_by_key(|(run, _)| run.index);
        let (runs, captures): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let settings = Settings { seed: options.seed, clock: "wall", jobs: options.jobs, live: true };
        let run = self.written(&runs, &settings, began.elapsed().as_secs_f64(), today);
        Ok(LiveOutcome { run, captures, memory })
    }

    /// One cell of an earlier plan, made again by today's scenario; `None` when the scenario has it no more.
    pub fn again(
        &mut self,
        scenario: &str,
        server: [&str; 2],
        client: [&str; 2],
        id: &str,
        catalogue: &Catalogue,
    ) -> Result<Option<()>, PlanError> {
        let named = |[label, profile]: [&str; 2]| (label.to_owned(), profile.to_owned());
        let ((label, profile), only_with) = (named(server), None);
        let server = Named { label, profile, package: ServerPackage::Emulated, only_with };
        let ((label, profile), only_with) = (named(client), None);
        let client = Named { label, profile, package: ClientPackage::Emulated, only_with };
        let mut one = LivePlan::of(&[scenario.to_owned()], &[server], &[client], None, catalogue)?;
        one.tasks.retain(|task| task.cell.id == id);
        for ran in one.scenarios {
            if self.scenarios.iter().all(|s| s.name != ran.name) {
                self.scenarios.push(ran);
            }
        }
        Ok(one.tasks.pop().map(|task| self.tasks.push(task)))
    }

    /// Judges cells that were captured earlier, by the rules of today. A cell without a capture did not run.
    pub fn judge(&self, captures: &[Capture], today: NaiveDate) -> Run {
        let runs = self.tasks.iter().enumerate().map(|(index, task)| {
            let found = captures.iter().find(|capture| capture.cell == task.cell.id);
            let missing = || CellFault::Setup("nothing was recorded of this cell".to_owned());
            let result =
                found.map(|capture| vec![observed(capture, &task.cell, &task.choice)]).ok_or_else(missing);
            CellRun { index, result, micros: 0 }
        });
        let settings = Settings { seed: crate::seed::Seed(0), clock: "recorded", jobs: 1, live: true };
        self.written(&runs.collect::<Vec<_>>(), &settings, 0.0, today)
    }

    fn written(&self, runs: &[CellRun], settings: &Settings, seconds: f64, today: NaiveDate) -> Run {
        let cells = self.tasks.iter().zip(runs).map(|(task, run)| as_they_saw(&task.cell, run));
        let cells: Vec<Cell> = cells.collect();
        let judged = runs.iter().zip(&cells);
        let judged = judged.map(|(run, cell)| assemble::cell(cell, &run.result, today, settings.live));
        written(judged.collect(), runs, &self.scenarios, settings, seconds)
    }
}

/// The cell with what is expected of it where somebody could look.
fn as_they_saw(cell: &Cell, run: &CellRun) -> Cell {
    let mut cell = cell.clone();
    for seen in run.result.iter().flatten() {
        as_seen(&mut cell.expected, seen);
    }
    cell
}

/// A loss that is expected inside a foreign process is seen where its text did not come out: at the next hop that somebody
/// could look at. A hop at which something was seen to stop stays what it is.
fn as_seen(expected: &mut Expected, seen: &Observation) {
    let unseen = |hop: Hop| {
        let mut flows = seen.flows.values().flatten().filter(|flow| flow.hop == hop).peekable();
        flows.peek().is_some() && flows.all(|flow| flow.unseen)
    };
    if let Some(hop) = expected.lost_at.filter(|hop| unseen(*hop)) {
        expected.lost_at = Hop::ALL.into_iter().filter(|next| *next > hop).find(|next| !unseen(*next));
        // Why it stopped is as unseen as where.
        expected.reason = None;
    }
}

impl<P> Named<P> {
    fn is_for(&self, server: &str) -> bool {
        self.only_with.as_deref().is_none_or(|only| only == server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::healthy;
    use crate::record::{Class, HopFlow, Verdict};

    fn planned(names: &[&str], clients: &[Named<ClientPackage>]) -> Result<LivePlan, String> {
        let server = Named {
            label: "emulated:1.58.2".to_owned(),
            profile: "1.58.2".to_owned(),
            package: ServerPackage::Emulated,
            only_with: None,
        };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let plan = LivePlan::of(&names, &[server], clients, None, &Catalogue::embedded().unwrap());
        plan.map_err(|error| error.to_string())
    }

    fn client(package: ClientPackage) -> Named<ClientPackage> {
        let (label, profile) = ("path:sdk".to_owned(), "typescript-1.39.0".to_owned());
        Named { label, profile, package, only_with: None }
    }

    #[test]
    fn what_a_live_run_cannot_do_is_refused_by_name() {
        let one = [client(ClientPackage::Emulated)];
        assert!(planned(&["release-skew"], &one).is_ok());
        let told = planned(&["xum-2165"], &one).unwrap_err();
        assert!(told.contains("`xum-2165` has faults"), "{told}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watched.toml");
        let file = "question = \"q?\"\nservers = [\"1.58.2\"]\nclients = [\"typescript-1.39.0\"]\n\
                    workloads = [\"w\"]\n[workload.w]\ntokens = [{ text = \"a\" }]\n[runtime]\npoll_s = 60\n";
        std::fs::write(&path, file).unwrap();
        let told = planned(&[path.to_str().unwrap()], &one).unwrap_err();
        assert!(told.contains("`watched` has `[runtime]`"), "{told}");
        std::fs::write(&path, file.replace("[runtime]\npoll_s = 60\n", "")).unwrap();
        assert!(planned(&[path.to_str().unwrap()], &one).is_ok());
    }

    #[test]
    fn two_packages_of_one_name_are_refused_and_one_that_stands_twice_is_one() {
        let package = |folder: &str| {
            client(ClientPackage::Node {
                node: "node".into(),
                folder: folder.into(),
                shim: true,
                ran: String::new(),
            })
        };
        let told = planned(&["release-skew"], &[package("a/sdk"), package("b/sdk")]).unwrap_err();
        assert!(told.starts_with("two different packages would both be cell `release-skew/"), "{told}");
        let once = planned(&["release-skew"], &[package("a/sdk")]).unwrap();
        let twice = planned(&["release-skew"], &[package("a/sdk"), package("a/sdk")]).unwrap();
        assert_eq!(once.tasks.len(), twice.tasks.len());
    }

    fn seen(unseen: &[Hop]) -> Observation {
        let flow = |hop| HopFlow { unseen: unseen.contains(&hop), ..HopFlow::new(hop) };
        let flows = Class::ALL.map(|class| (class, Hop::ALL.map(flow).to_vec()));
        Observation { flows: flows.into(), ..healthy() }
    }

    #[test]
    fn a_loss_inside_a_foreign_server_is_expected_where_it_shows() {
        let expected = |hop| Expected {
            lost_at: Some(hop),
            reason: Some("r".to_owned()),
            ..Expected::of(Verdict::SilentLoss)
        };
        let foreign = seen(&[Hop::Published, Hop::Dispatched, Hop::Received]);
        let mut moved = expected(Hop::Published);
        as_seen(&mut moved, &foreign);
        assert_eq!((moved.lost_at, &moved.reason), (Some(Hop::Sent), &None));
        for (hop, seen) in [(Hop::Decoded, foreign), (Hop::Published, seen(&[]))] {
            let mut same = expected(hop);
            as_seen(&mut same, &seen);
            assert_eq!(same, expected(hop), "a hop that was looked at");
        }
    }
}
