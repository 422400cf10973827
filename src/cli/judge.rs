//! `skewlab judge`: a recorded live run, judged by the rules of today. Needs none of the packages.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::args::Format;
use super::error::CliError;
use super::live::record::{CONTENTS, Contents, RECORD_SCHEMA};
use super::reports::Reports;
use super::{known, matrix, plan};
use crate::judge::{ExitCode, exit_code};
use crate::live::capture::{CAPTURE_SCHEMA, Capture};
use crate::suite::live::LivePlan;

#[derive(Debug, ClapArgs)]
pub(super) struct Judge {
    /// Folder that `skewlab live matrix --record` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// File of known failures, beside those that the scenarios list; an entry that is stale fails
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Write run.json into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reports: Reports,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Judge) -> Result<ExitCode, CliError> {
    args.reports.check(args.out.as_deref())?;
    let catalogue = plan::catalogue(args.profiles.as_ref())?;
    let known_list = known::load(args.known.as_deref())?;
    let list = args.dir.join(CONTENTS);
    if !list.exists() {
        let why = format!("no {}: it is what `skewlab live matrix --record DIR` writes", list.display());
        return Err(CliError::Usage(why));
    }
    let contents: Contents = read(&list, RECORD_SCHEMA)?;
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
            let other = || {
                let (list, file) = (list.display(), file.display());
                CliError::Usage(format!("{list}: {}: `{file}` is no file in this folder", cell.id))
            };
            let capture: Capture = read(&args.dir.join(name.ok_or_else(other)?), CAPTURE_SCHEMA)?;
            captures.push(capture);
        }
    }
    if plan.tasks.is_empty() {
        return Err(CliError::NothingRan(": the recording holds none".to_owned()));
    }
    let scenarios: Vec<String> = contents.cells.iter().map(|cell| cell.scenario.clone()).collect();
    let laid = known_list.as_ref().map(|list| plan.lay(list));
    let mut run = plan.judge(&captures, known::today());
    if let Some(laid) = &laid {
        laid.note(&mut run);
    }
    let (run, kept) = args.reports.keep(run, args.out.as_deref(), &scenarios);
    let printed = matrix::print(&run, args.format);
    known::complain(known_list.as_ref(), laid.as_ref(), &run);
    let code = kept.code(exit_code(&run));
    printed?;
    Ok(code)
}

/// A file of a recording; one of another schema is refused before anything else in it is read.
fn read<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<T, CliError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let failed = |error| CliError::Read { path: path.to_owned(), error };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{}: {why}", path.display()));
    let head: Head = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if head.schema != schema {
        return Err(wrong(&format!("schema `{}`, and this skewlab reads `{schema}`", head.schema)));
    }
    serde_json::from_str(&text).map_err(|error| wrong(&error))
}
