//! `skewlab explain`: a word or a name, in plain language, with its sources.

use std::collections::BTreeMap;
use std::io::Write;

use super::args::Explain;
use super::error::CliError;
use super::plan::catalogue;
use crate::agent_server::profile::{About, Catalogue, nearest};
use crate::judge::ExitCode;
use crate::record::{Hop, Verdict};
use crate::report::words;
use crate::scenario::Names as _;
use crate::session_feed::{Consumer, Variants};

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
    let variants = Variants::embedded()?;
    if let Some(variant) = variants.names().contains(&what).then(|| variants.get(what)).transpose()? {
        writeln!(out, "variant {what} of the session feed\n\n  {}", variant.summary)?;
        sources(&mut out, &variant.source)?;
        return Ok(ExitCode::AllAsExpected);
    }
    if let Ok(consumer) = what.parse::<Consumer>() {
        explained(&mut out, consumer, &variants)?;
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
        _ => return Err(unknown(what, &catalogue, &variants)),
    }
    Ok(ExitCode::AllAsExpected)
}

fn profile(out: &mut dyn Write, what: &str, about: &About, release: &str) -> std::io::Result<()> {
    let era = if about.era.is_empty() { "unreleased".to_owned() } else { format!("era {}", about.era) };
    writeln!(out, "{what} {release} ({era}, profile {})\n\n  {}", about.name, about.summary)?;
    if let Some(covers) = &about.covers {
        writeln!(out, "  covers: {covers}")?;
    }
    sources(out, &about.source)
}

fn sources(out: &mut dyn Write, source: &BTreeMap<String, String>) -> std::io::Result<()> {
    writeln!(out, "  where its traits come from:")?;
    source.iter().try_for_each(|(trait_name, source)| writeln!(out, "    {trait_name}: {source}"))
}

/// What a consumer does, and the way of a chunk to it in each variant.
fn explained(out: &mut dyn Write, consumer: Consumer, variants: &Variants) -> Result<(), CliError> {
    writeln!(out, "consumer {consumer} of the session feed\n\n  {}", consumer.summary())?;
    let wants =
        if consumer.streams() { "wants text while it streams" } else { "wants no text, and is missing none" };
    writeln!(out, "  {wants}\n  the way of a chunk to it:")?;
    for name in variants.names() {
        let path = consumer.path(variants.get(name)?.traits());
        let hops: Vec<&str> = path.into_iter().map(Hop::as_str).collect();
        writeln!(out, "    {name:<16} {}", hops.join(" → "))?;
    }
    Ok(())
}

fn unknown(what: &str, catalogue: &Catalogue, variants: &Variants) -> CliError {
    let profiles = catalogue.servers().all().chain(catalogue.clients().all());
    let names = Verdict::ALL.iter().map(|v| v.as_str()).chain(profiles.map(|a| a.name.as_str()));
    let feed = variants.names().into_iter().chain(Consumer::ALL.map(Consumer::as_str));
    let names: Vec<&str> = names.chain(feed).collect();
    let mut hint = nearest(what, names.into_iter());
    if hint.is_empty() {
        "; `skewlab list verdicts`, `servers`, `clients`, `variants` and `consumers` have all of them"
            .clone_into(&mut hint);
    }
    CliError::Usage(format!(
        "`{what}` is no verdict, no profile, no release that one covers, and no variant or consumer of the session feed{hint}"
    ))
}
