//! `skewlab list`: everything that can be named.

use std::io::Write;

use super::args::{List, Listed};
use super::error::CliError;
use super::plan::catalogue;
use crate::agent_server::profile::Shelf;
use crate::judge::ExitCode;
use crate::record::{Figure, Verdict};
use crate::report::words;
use crate::scenario::{FIELD_GROUP, Loaded, SHIPPED, members};
use crate::session_feed::{Consumer, Variants};

pub(super) fn run(args: &List) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let mut out = std::io::stdout().lock();
    match args.what {
        Listed::Servers => shelf(catalogue.servers(), &mut out)?,
        Listed::Clients => shelf(catalogue.clients(), &mut out)?,
        Listed::Scenarios => {
            let variants = Variants::embedded()?;
            for (path, _) in SHIPPED {
                let name = path.trim_start_matches("scenarios/").trim_end_matches(".toml");
                let scenario = Loaded::load(name, &catalogue, &variants)?;
                writeln!(out, "{:<16} {}", scenario.name(), scenario.question())?;
            }
            writeln!(out, "\n`{FIELD_GROUP}`, all of these: what was reported of real systems")?;
            for name in members(FIELD_GROUP) {
                let scenario = Loaded::load(&name, &catalogue, &variants)?;
                writeln!(out, "{name:<24} {}", scenario.question())?;
            }
        }
        Listed::Variants => {
            let variants = Variants::embedded()?;
            for name in variants.names() {
                writeln!(out, "{name:<16} {}", variants.get(name)?.summary)?;
            }
        }
        Listed::Consumers => {
            for consumer in Consumer::ALL {
                writeln!(out, "{consumer:<16} {}", consumer.summary())?;
            }
        }
        Listed::Figures => {
            for figure in Figure::ALL {
                writeln!(out, "{:<20} {}", figure.as_str(), figure.words())?;
            }
        }
        Listed::Verdicts => {
            for verdict in Verdict::ALL {
                writeln!(out, "{:<14} {}", verdict.as_str(), words::explain(verdict).meaning)?;
            }
        }
    }
    Ok(ExitCode::AllAsExpected)
}

fn shelf(shelf: &Shelf, out: &mut dyn Write) -> std::io::Result<()> {
    for about in shelf.all() {
        let none = if about.what_if { "what if" } else { "unreleased" };
        let covers = about.covers.as_ref().map_or_else(|| none.to_owned(), ToString::to_string);
        writeln!(out, "{:<24} {:<4} {:<20} {}", about.name, about.era, covers, about.summary)?;
    }
    Ok(())
}
