//! `skewlab judge`: a recorded live run, judged by the rules of today. Needs none of the packages.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::de::DeserializeOwned;

use super::args::Format;
use super::error::CliError;
use super::live::record::{CONTENTS, Contents, RECORD_SCHEMA};
use super::{matrix, plan};
use crate::judge::{ExitCode, exit_code};
use crate::live::capture::{CAPTURE_SCHEMA, Capture};
use crate::report;
use crate::suite::live::LivePlan;

#[derive(Debug, ClapArgs)]
pub(super) struct Judge {
    /// Folder that `skewlab live matrix --record` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Write run.json into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Judge) -> Result<ExitCode, CliError> {
    let catalogue = plan::catalogue(args.profiles.as_ref())?;
    let contents: Contents = read(&args.dir.join(CONTENTS), RECORD_SCHEMA, |c: &Contents| &c.schema)?;
    let (mut plan, mut captures) = (LivePlan::default(), Vec::new());
    for cell in &contents.cells {
        let [server, server_profile] = &cell.server;
        let [client, client_profile] = &cell.client;
        let (server, client) = ([&**server, &**server_profile], [&**client, &**client_profile]);
        let made = plan.again(&cell.scenario, server, client, &cell.id, &catalogue)?;
        if made.is_none() {
            let why = format!("{}: scenario `{}` has this cell no more", cell.id, cell.scenario);
            return Err(CliError::Usage(why));
        }
        if let Some(file) = &cell.file {
            // A name of ours has no folder in it; one that has was put there by somebody else.
            let name = file.file_name().filter(|name| Path::new(name) == file);
            let name =
                name.ok_or_else(|| CliError::Usage(format!("{}: no file of a recording", file.display())))?;
            captures.push(read(&args.dir.join(name), CAPTURE_SCHEMA, |c: &Capture| &c.schema)?);
        }
    }
    if plan.tasks.is_empty() {
        return Err(CliError::NothingRan(": the recording holds none".to_owned()));
    }
    let today = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).date_naive();
    let run = plan.judge(&captures, today);
    let written = match &args.out {
        Some(dir) => report::write_atomically(&dir.join("run.json"), |out| report::json(&run, out)),
        None => Ok(()),
    };
    matrix::print(&run, args.format)?;
    written?;
    Ok(exit_code(&run))
}

/// A file of a recording; one of another schema is refused.
fn read<T: DeserializeOwned>(path: &Path, schema: &str, of: impl Fn(&T) -> &String) -> Result<T, CliError> {
    let failed = |error| CliError::Read { path: path.to_owned(), error };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{}: {why}", path.display()));
    let value: T = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    match of(&value) {
        found if found == schema => Ok(value),
        found => Err(wrong(&format!("schema `{found}`, and this skewlab reads `{schema}`"))),
    }
}
