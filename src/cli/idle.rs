//! `skewlab idle`: does a long stream look idle, and to whom?

use std::io::IsTerminal;
use std::time::Duration;

use super::args::Idle;
use super::error::CliError;
use super::plan::catalogue;
use super::shown::show_and_keep;
use crate::agent_server::client::Client;
use crate::agent_server::profile::{Catalogue, ClientChoice, Shelf, nearest};
use crate::judge::ExitCode;
use crate::record::idle::{IDLE_SCHEMA, IdleReport};
use crate::report;
use crate::run::{IdlePlan, watch_idle};
use crate::scenario::Glob;
use crate::seed::Seed;

/// Sockets without `--clients`.
const CLIENTS: usize = 4;

/// Tokens of one stream. The clients keep what they got, so more would take gigabytes.
const MOST_TOKENS: u32 = 200_000;

pub(super) fn run(args: &Idle) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let servers = names("--server", &args.servers, catalogue.servers())?;
    let servers = servers.into_iter().map(|name| catalogue.server(&name).map(|server| (name, server)));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let plan = plan(args, &catalogue)?;
    let mut results = Vec::new();
    let shown = std::io::stderr().is_terminal();
    for (name, profile) in &servers {
        if shown {
            eprint!("\r{}/{} servers", results.len(), servers.len());
        }
        let fault = |fault| CliError::Idle { server: name.clone(), fault };
        results.push(watch_idle(name, profile, &plan).map_err(fault)?);
    }
    if shown {
        eprint!("\r{:width$}\r", "", width = 40);
    }
    let report = IdleReport {
        schema: IDLE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        settings: plan.settings(),
        servers: results,
    };
    show_and_keep(&report, args.out.as_deref(), args.format, report::idle_json, report::idle_table)?;
    Ok(ExitCode::AllAsExpected)
}

fn plan(args: &Idle, catalogue: &Catalogue) -> Result<IdlePlan, CliError> {
    let mut known: Vec<(String, ClientChoice)> = Vec::new();
    for name in names("--client", &args.client_names, catalogue.clients())? {
        let choice = catalogue.client(&name)?;
        Client::new(&choice.profile, choice.list.as_deref())?;
        known.push((name, choice));
    }
    let sockets = args.clients.map_or(CLIENTS.max(known.len()), usize::from);
    let clients = known.iter().cycle().take(sockets).cloned().collect();
    let (rate, duration, reap_after) = (args.rate, args.duration, args.reap_after);
    let plan = IdlePlan { rate, duration, reap_after, warm_up: args.warm_up, clients, seed: Seed(args.seed) };
    if duration.as_secs_f64() * rate < 1.0 {
        return Err(CliError::Usage(format!(
            "--rate {rate} for --duration {} is less than one token; stream for longer, or faster",
            humantime::format_duration(duration)
        )));
    }
    if plan.tokens() > f64::from(MOST_TOKENS) {
        return Err(CliError::Usage(format!(
            "--rate {rate} for --duration {} is {} tokens, and a stream has at most {MOST_TOKENS}; lower the rate",
            humantime::format_duration(duration),
            plan.tokens()
        )));
    }
    Ok(plan)
}

/// The profiles and releases asked for, each once; a pattern stands for every profile that it matches, and must
/// match one.
fn names(flag: &str, asked: &[String], shelf: &Shelf) -> Result<Vec<String>, CliError> {
    let mut names: Vec<String> = Vec::new();
    for name in asked {
        let glob = Glob::new(name).map_err(|e| CliError::Usage(format!("{flag} {name}: {e:?}")))?;
        let found: Vec<String> = if glob.is_literal() {
            vec![name.clone()]
        } else {
            shelf.all().map(|a| a.name.clone()).filter(|n| glob.matches(n)).collect()
        };
        if found.is_empty() {
            let mut hint = nearest(name, shelf.all().map(|a| a.name.as_str()));
            if hint.is_empty() {
                hint = format!("; `skewlab list {}s` has all of them", flag.trim_start_matches('-'));
            }
            return Err(CliError::Usage(format!("{flag} {name}: no profile matches{hint}")));
        }
        for name in found {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// A length of time on the command line: more than nothing, with its unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let expected = "write more than nothing and a unit, as in 90s, 40m or 2h";
    match humantime::parse_duration(text) {
        Ok(duration) if duration.is_zero() => Err(format!("no time at all; {expected}")),
        Ok(duration) if duration > LONGEST => Err("more than a year".to_owned()),
        Ok(duration) => Ok(duration),
        Err(fault) => Err(format!("no length of time ({fault}); {expected}")),
    }
}

const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Tokens a second on the command line: more than none.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        Ok(_) => Err("a stream has more than 0 tokens a second".to_owned()),
        Err(_) => Err("no number; write tokens a second, as in 1 or 0.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit() {
        let seconds = |text: &str| duration(text).map(|d| d.as_secs());
        assert_eq!(["90s", "40m", "2h", "1m 15s"].map(seconds), [90, 2400, 7200, 75].map(Ok));
        for bad in ["0s", "-5m", "40", "", "soon", "3y"] {
            let message = duration(bad).unwrap_err();
            assert!(message.contains("40m") || message.contains("year"), "{bad}: {message}");
        }
    }

    #[test]
    fn a_rate_is_a_number_above_nothing() {
        assert_eq!(rate("0.5"), Ok(0.5));
        for bad in ["0", "-1", "NaN", "inf", "fast", ""] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }
}
