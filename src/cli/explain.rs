//! `skewlab explain`: a word or a name, in plain language, with its sources.

use std::io::Write;

use super::args::Explain;
use super::error::CliError;
use super::plan::catalogue;
use crate::agent_server::profile::{About, Catalogue, nearest};
use crate::judge::ExitCode;
use crate::record::Verdict;
use crate::report::words;
use crate::scenario::Names as _;

pub(super) fn run(args: &Explain) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let mut out = std::io::stdout().lock();
    let what = args.what.as_str();
    if let Some(verdict) = Verdict::ALL.into_iter().find(|v| v.as_str() == what) {
        let rank = Verdict::ALL.iter().position(|v| *v == verdict).unwrap_or_default() + 1;
        let words = words::explain(verdict);
        writeln!(out, "{what} (verdict {rank} of {}, worst first)\n", Verdict::ALL.len())?;
        writeln!(out, "  {}\n  what to do: {}", words.meaning, words.next)?;
        return Ok(ExitCode::AllAsExpected);
    }
    let server = catalogue.server(what);
    let client = catalogue.client(what);
    match (server, client) {
        (Ok(server), _) => {
            profile(&mut out, "server", &server.about, &server.release_name)?;
            let ships = catalogue.ships_python(what)?;
            writeln!(out, "  python@same: {ships}")?;
        }
        (_, Ok(client)) => {
            profile(&mut out, "client", &client.profile.about, &client.profile.release_name)?;
            writeln!(out, "  callback lists: {}", client.profile.traits.listen.known())?;
        }
        _ => return Err(unknown(what, &catalogue)),
    }
    Ok(ExitCode::AllAsExpected)
}

fn profile(out: &mut dyn Write, what: &str, about: &About, release: &str) -> std::io::Result<()> {
    let era = if about.era.is_empty() { "unreleased".to_owned() } else { format!("era {}", about.era) };
    writeln!(out, "{what} {release} ({era}, profile {})\n\n  {}", about.name, about.summary)?;
    if let Some(covers) = &about.covers {
        writeln!(out, "  covers: {covers}")?;
    }
    writeln!(out, "  where its traits come from:")?;
    for (trait_name, source) in &about.source {
        writeln!(out, "    {trait_name}: {source}")?;
    }
    Ok(())
}

fn unknown(what: &str, catalogue: &Catalogue) -> CliError {
    let profiles = catalogue.servers().all().chain(catalogue.clients().all());
    let names: Vec<&str> =
        Verdict::ALL.iter().map(|v| v.as_str()).chain(profiles.map(|a| a.name.as_str())).collect();
    let hint = nearest(what, names.into_iter());
    CliError::Usage(format!(
        "`{what}` is neither a verdict nor a profile nor a release that one covers{hint}"
    ))
}
