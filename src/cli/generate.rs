//! `skewlab generate`: what other tools want of skewlab.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, CommandFactory, Subcommand};
use clap_complete::Shell;

use super::args::Args;
use super::error::CliError;
use crate::agent_server::profile::nearest;
use crate::judge::ExitCode;
use crate::report::write_atomically;
use crate::suite::schemas;

#[derive(Debug, Subcommand)]
pub(super) enum Generate {
    /// JSON Schemas: of results, and for an editor that completes scenarios and profiles
    Schema(Schema),
    /// A shell's completions, for its own folder of them
    Completions(Completions),
    /// Manual pages: the one of `skewlab`, or with --out one a command
    Man(Man),
}

#[derive(Debug, ClapArgs)]
pub(super) struct Schema {
    /// Of what: run, bench, feed-bench, idle, attach, live-bench, live-idle, certificate, scenario, feed-scenario,
    /// server-profile, client-profile, feed-variant; or all
    #[arg(value_name = "NAME|all")]
    what: String,
    /// Write files into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Man {
    /// Write a page a command into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(command: &Generate) -> Result<ExitCode, CliError> {
    match command {
        Generate::Schema(args) => schema(args)?,
        Generate::Completions(args) => {
            // The generator panics where it cannot write, as when a reader has seen enough.
            let mut text = Vec::new();
            clap_complete::generate(args.shell, &mut Args::command(), "skewlab", &mut text);
            std::io::stdout().write_all(&text)?;
        }
        Generate::Man(args) => man(args)?,
    }
    Ok(ExitCode::AllAsExpected)
}

fn schema(args: &Schema) -> Result<(), CliError> {
    let mut all = schemas::all();
    if args.what != "all" {
        let names: Vec<&str> = all.iter().map(|schema| schema.name).collect();
        if !names.contains(&args.what.as_str()) {
            let near = nearest(&args.what, names.iter().copied());
            let hint = if near.is_empty() { format!("; there are {}", names.join(", ")) } else { near };
            return Err(CliError::Usage(format!("no schema is called `{}`{hint}", args.what)));
        }
        all.retain(|schema| schema.name == args.what);
    }
    match (&args.out, &all[..]) {
        (Some(dir), all) => {
            for schema in all {
                write(&dir.join(&schema.file), schema.text().as_bytes())?;
            }
        }
        (None, [one]) => std::io::stdout().write_all(one.text().as_bytes())?,
        (None, all) => {
            let files = all.len();
            return Err(CliError::Usage(format!("`all` makes {files} files: name a folder with --out DIR")));
        }
    }
    Ok(())
}

fn man(args: &Man) -> Result<(), CliError> {
    let mut skewlab = Args::command().disable_help_subcommand(true);
    skewlab.build();
    let Some(dir) = &args.out else {
        std::io::stdout().write_all(&page(skewlab)?.1)?;
        return Ok(());
    };
    let mut left = vec![skewlab];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned());
        let (file, text) = page(command)?;
        write(&dir.join(file), &text)?;
    }
    Ok(())
}

/// File name and text of a command's page.
fn page(command: clap::Command) -> std::io::Result<(String, Vec<u8>)> {
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok((page.get_filename(), text))
}

fn write(path: &Path, text: &[u8]) -> Result<(), CliError> {
    write_atomically(path, |out| out.write_all(text))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
