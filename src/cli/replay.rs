//! `skewlab replay`: a capsule once more, byte for byte.

use std::io::{BufWriter, Write};

use clap::Args;

use super::error::CliError;
use crate::agent_server::profile::Catalogue;
use crate::judge::ExitCode;
use crate::report;
use crate::scenario::capsule::Capsule;
use crate::suite::explore::PATIENCE;
use crate::suite::replay::replay;

/// Run a capsule of `explore` again, and say what is not as it was
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The capsule
    #[arg(value_name = "FILE")]
    file: String,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    times: u32,
}

pub(super) fn run(args: &Replay) -> Result<ExitCode, CliError> {
    let capsule = Capsule::read(&args.file, Catalogue::embedded()?)?;
    if let Some(writer) = capsule.head.writer() {
        // Not a note that `-q` keeps back: whoever reads the answer has to know whose it is.
        anstream::eprintln!(
            "warning: skewlab {} wrote {}, and this is {}, which may emulate a party in another way: what differs may be the \
             version's doing",
            report::harmless(writer),
            args.file,
            env!("CARGO_PKG_VERSION"),
        );
    }
    let mut out = BufWriter::new(anstream::stdout().lock());
    for time in 1..=args.times {
        let replayed = replay(&capsule, PATIENCE)?;
        let differs = !replayed.differs.is_empty();
        if differs || time == args.times {
            report::replayed(&replayed.cell, &replayed.differs, time, &mut out)?;
            out.flush()?;
        }
        if differs {
            return Ok(ExitCode::Unexpected);
        }
    }
    Ok(ExitCode::AllAsExpected)
}
