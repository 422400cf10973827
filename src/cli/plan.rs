//! `skewlab plan`: the cells, and nothing run.

use std::io::Write;

use serde_json::json;

use super::args::{Cells, Format, Plan as PlanArgs};
use super::error::CliError;
use crate::agent_server::profile::Catalogue;
use crate::judge::ExitCode;
use crate::record::Subject;
use crate::scenario::{Planned, Selection};
use crate::suite::Plan;

/// The catalogue with a user's profiles, if there are any.
pub(super) fn catalogue(dir: Option<&std::path::PathBuf>) -> Result<Catalogue, CliError> {
    let catalogue = Catalogue::embedded()?;
    match dir {
        Some(dir) if !dir.is_dir() => Err(CliError::Usage(format!(
            "--profiles {}: there is no such folder; it is one with servers/*.toml and clients/*.toml",
            dir.display()
        ))),
        Some(dir) => Ok(catalogue.with_dir(dir)?),
        None => Ok(catalogue),
    }
}

/// Resolves the cells that a command line asks for.
pub(super) fn plan(cells: &Cells) -> Result<Plan, CliError> {
    let catalogue = catalogue(cells.profiles.as_ref())?;
    let selection = Selection {
        servers: cells.servers.clone(),
        clients: cells.clients.clone(),
        only: cells.only.clone(),
    };
    let plan = Plan::of(&cells.scenarios, &selection, &catalogue)?;
    if plan.cells.is_empty() {
        let only = cells.only.as_ref().map(|o| format!(": no id matches `{o}`")).unwrap_or_default();
        let next = "`skewlab plan` with the same scenarios and no selection prints the ids that there are";
        return Err(CliError::NothingRan(format!("{only}\nhelp: {next}")));
    }
    Ok(plan)
}

/// All cells of the same scenarios, whatever the command line picks of them.
pub(super) fn unselected(cells: &Cells) -> Result<Plan, CliError> {
    let catalogue = catalogue(cells.profiles.as_ref())?;
    Ok(Plan::of(&cells.scenarios, &Selection::default(), &catalogue)?)
}

pub(super) fn run(args: &PlanArgs) -> Result<ExitCode, CliError> {
    let plan = plan(&args.cells)?;
    let mut out = std::io::stdout().lock();
    for cell in &plan.cells {
        match args.format {
            Format::Table => writeln!(out, "{}  {}", cell.hash(), cell.id())?,
            Format::Json => writeln!(out, "{}", described(cell))?,
        }
    }
    Ok(ExitCode::AllAsExpected)
}

/// A cell in the words of `run.json`.
fn described(cell: &Planned) -> serde_json::Value {
    match cell {
        Planned::AgentServer(cell) => json!({
            "id": cell.id,
            "hash": cell.hash,
            "scenario": cell.scenario,
            "server": cell.server_profile,
            "server_release": cell.server,
            "client": cell.client_profile,
            "client_release": cell.client,
            "workload": cell.workload.name,
            "mutation": cell.mutation.to_string(),
            "fault": cell.fault,
            "expected": cell.expected,
        }),
        Planned::SessionFeed(cell) => json!({
            "id": cell.id,
            "hash": cell.hash,
            "scenario": cell.scenario,
            "subject": Subject::SessionFeed,
            "server": cell.variant,
            "server_release": cell.variant,
            "client": cell.consumer.as_str(),
            "client_release": cell.consumer.as_str(),
            "workload": cell.workload.name,
            "mutation": cell.mutation(),
            "expected": cell.expected,
        }),
    }
}
