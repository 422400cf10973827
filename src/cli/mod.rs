//! The command line: one file a command. Results go to standard output, everything else to standard error.

mod address;
mod against;
mod args;
mod attach;
mod baseline;
mod bench_client;
mod bench_feed;
mod bench_target;
mod calibrate;
mod check;
mod compare;
mod contract;
mod error;
mod explain;
mod explore;
mod fanout;
mod feed;
mod generate;
mod github;
mod idle;
mod init;
mod interrupt;
mod journal;
mod judge;
mod key;
mod known;
mod list;
mod live;
mod matrix;
mod model;
mod next;
#[cfg(test)]
mod pipelines;
mod plan;
mod replay;
mod report;
mod reports;
mod screen;
mod serve;
mod shown;
mod talk;

use std::process::ExitCode;

use clap::Parser as _;

use self::args::{Args, BenchCommand, Command};
use self::error::CliError;
use crate::live::process::{WARDEN, keep_watch};
use crate::session_feed::store::crash::FEED_WRITER;
use crate::session_feed::writer::write_as_planned;

/// Runs the command line and maps the result to an exit code.
pub fn main() -> ExitCode {
    if let Some(code) = warden().or_else(feed_writer) {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; clap's own code for the rest is 2, as ours.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    talk::settle(talk::Talk { quiet: args.quiet, verbose: args.verbose, shown: args.progress });
    let done = match &args.command {
        Command::Matrix(matrix) => matrix::run(matrix),
        Command::Plan(plan) => plan::run(plan),
        Command::List(list) => list::run(list),
        Command::Explain(explain) => explain::run(explain),
        Command::Explore(explore) => explore::run(explore),
        Command::Replay(replay) => replay::run(replay),
        Command::Check(check) => check::run(check),
        Command::Contract(contract) => contract::run(contract),
        Command::Calibrate(calibrate) => calibrate::run(calibrate),
        Command::Idle(idle) => idle::run(idle),
        Command::Serve(serve) => serve::run(serve),
        Command::Model(model) => model::run(model),
        Command::Report(args) => report::run(args),
        Command::Judge(args) => judge::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Baseline(command) => baseline::run(command),
        Command::Live(live) => live::run(live),
        Command::Attach(attach) => attach::run(attach),
        Command::Init(init) => init::run(init),
        Command::Generate(what) => generate::run(what),
        Command::Feed(feed) => feed::run(feed),
        Command::Bench(bench) => match bench {
            BenchCommand::Fanout(fanout) => fanout::run(fanout),
            BenchCommand::Feed(feed) => bench_feed::run(feed),
            BenchCommand::Client(client) => bench_client::run(client),
        },
    };
    match done {
        Ok(code) => code.into(),
        // A reader that has seen enough (`skewlab list | head`) is no failure.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{}", error.styled());
            error.code().into()
        }
    }
}

/// Whether this process is the warden of a child of another skewlab, and if so what came of it.
fn warden() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != WARDEN {
        return None;
    }
    let parent = args.next()?.to_str()?.parse().ok()?;
    let program = args.nth(1)?;
    Some(keep_watch(parent, &program, &args.collect::<Vec<_>>()))
}

/// Whether this process is to write a session log until it is killed, and if so what came of it.
fn feed_writer() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != FEED_WRITER {
        return None;
    }
    Some(write_as_planned(args.next()?.as_ref()))
}
