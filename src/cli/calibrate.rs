//! `skewlab calibrate`: emulations and the released packages that they stand for are asked the same.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;

use super::args::Format;
use super::error::CliError;
use super::live::matrix::Folder;
use super::live::{Parties, parties, runtime};
use super::plan;
use crate::agent_server::profile::Catalogue;
use crate::judge::ExitCode;
use crate::live::env::{Cache, Kind, Version, Wanted, find, find_canvas, find_chromium, find_typescript};
use crate::record::Certificate;
use crate::report;
use crate::run::calibrate::{ClientAsked, Identity, calibrate_client, own_server};
use crate::run::calibrate_server::calibrate_server;
use crate::run::live::{LiveOptions, ServerPackage};
use crate::seed::Seed;
use crate::suite::calibrate::turns;

/// Servers in front of which a front end takes part in a turn; the last is older than what those from 1.0.0 on want.
const CANVAS_SERVERS: [&str; 4] = ["1.58.2", "1.43.1", "1.36.1", "1.22.0"];

/// Servers beside its own that a client takes turns with, the first two that are not its own: the newest, and some from
/// before `parent_id`, which leave no field without a value away.
const OTHER_SERVERS: [&str; 3] = ["1.58.2", "1.30.0", "1.22.0"];

#[derive(Debug, ClapArgs)]
pub(super) struct Calibrate {
    #[command(flatten)]
    parties: Parties,
    /// Write a certificate a profile into this folder; reports/certificates is where the ones in the binary come from
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Keep the folders and logs of servers and clients here [default: a temporary folder that is removed]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Calibrate) -> Result<ExitCode, CliError> {
    let catalogue = plan::catalogue(args.profiles.as_ref())?;
    let cache = args.parties.cache()?;
    let (servers, mut clients) = (&args.parties.servers, args.parties.clients.clone());
    if servers.is_empty() && clients.is_empty() {
        clients = libraries(&catalogue);
    }
    // What cannot be asked is said before anybody is asked.
    for said in servers {
        released(&Wanted::server(said)?)?;
        catalogue.server(said)?;
    }
    for said in &clients {
        released(&Wanted::client(said)?)?;
        catalogue.client(said)?;
    }
    if let Some(dir) = &args.out {
        report::writable(dir).map_err(|e| CliError::Usage(e.to_string()))?;
    }
    let folder = Folder::make(args.logs.clone())?;
    let (mut certificates, mut failures) = (Vec::new(), Vec::new());
    for (said, is_server) in servers.iter().map(|s| (s, true)).chain(clients.iter().map(|c| (c, false))) {
        let began = Instant::now();
        let asked = if is_server {
            server(&cache, said, &catalogue, &folder.path)
        } else {
            client(args, said, &catalogue, &folder.path)
        };
        match asked {
            Ok(certificate) => {
                let holds = if certificate.proves() { "agrees" } else { "differs" };
                eprintln!("{said} {holds}, after {:.1} s", began.elapsed().as_secs_f64());
                if let Some(dir) = &args.out {
                    keep(dir, &certificate)?;
                }
                certificates.push(certificate);
            }
            Err(error) => failures.push((said, error)),
        }
    }
    print(&certificates, args.format)?;
    for (said, error) in &failures {
        anstream::eprintln!("{said} could not be asked: {}", error.styled().trim_start_matches("error: "));
    }
    Ok(match failures.is_empty() {
        false => ExitCode::RigInvalid,
        true if certificates.iter().all(Certificate::proves) => ExitCode::AllAsExpected,
        true => ExitCode::Unexpected,
    })
}

/// The released libraries that have a profile of their own.
fn libraries(catalogue: &Catalogue) -> Vec<String> {
    let names = catalogue.clients().abouts().map(|about| about.name.clone());
    let library = |name: &String| {
        let wanted = Wanted::client(name).ok().filter(|wanted| wanted.kind != Kind::Browser);
        wanted.is_some_and(|wanted| wanted.stages().is_empty() && released(&wanted).is_ok())
    };
    names.filter(library).collect()
}

/// A certificate is about a release: a checkout or `latest` is another thing tomorrow.
fn released(wanted: &Wanted) -> Result<(), CliError> {
    match &wanted.version {
        Version::Release(_) => Ok(()),
        _ => Err(CliError::Usage(format!(
            "`{}`: a certificate is about one release; name it, as in {}",
            wanted.said,
            if wanted.server { "1.58.2" } else { "python-1.58.2" }
        ))),
    }
}

fn client(
    args: &Calibrate,
    said: &String,
    catalogue: &Catalogue,
    folder: &Path,
) -> Result<Certificate, CliError> {
    let cache = &args.parties.cache()?;
    let wanted = Wanted::client(said)?;
    let identity = identity(cache, &wanted, "openhands-sdk")?;
    let named = parties::clients(cache, std::slice::from_ref(said), &[], catalogue)?;
    let Some(named) = named.into_iter().next() else {
        return Err(CliError::Usage(format!("`{said}` names no client")));
    };
    let choice = catalogue.client(said)?;
    let folder = folder.join(said);
    let browser = if wanted.kind == Kind::Browser { Some(chromium(args)?) } else { None };
    let asked = ClientAsked {
        catalogue,
        choice: &choice,
        package: &named.package,
        identity,
        folder: folder.join("frames"),
        chromium: browser.clone(),
    };
    let mut certificate = calibrate_client(&asked)?;
    let servers: Vec<String> = if wanted.kind == Kind::Browser {
        // Its release is no server's.
        CANVAS_SERVERS.map(str::to_owned).to_vec()
    } else {
        let own = own_server(catalogue, &choice);
        let others = OTHER_SERVERS.into_iter().filter(|other| *other != own).take(2).map(str::to_owned);
        std::iter::once(own.clone()).chain(others).collect()
    };
    let options = LiveOptions { jobs: 2, seed: Seed(1), folder: folder.join("turns"), chromium: browser };
    let today = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).date_naive();
    let (count, found) = turns(said, &named.package, &servers, catalogue, &options, today)?;
    certificate.asked.insert("turn".to_owned(), count);
    certificate.disagreements.extend(found);
    Ok(certificate)
}

/// The browser for a front end.
fn chromium(args: &Calibrate) -> Result<PathBuf, CliError> {
    Ok(runtime()?.block_on(find_chromium(args.parties.chromium.as_deref()))?.path)
}

fn server(
    cache: &Cache,
    said: &String,
    catalogue: &Catalogue,
    folder: &Path,
) -> Result<Certificate, CliError> {
    let identity = identity(cache, &Wanted::server(said)?, "openhands-agent-server")?;
    let named = parties::servers(cache, std::slice::from_ref(said), catalogue)?.into_iter().next();
    match named.map(|named| named.package) {
        Some(ServerPackage::Python(package)) => {
            Ok(calibrate_server(&catalogue.server(said)?, &package, &identity, &folder.join(said))?)
        }
        _ => Err(CliError::Usage(format!("`{said}` names no released server"))),
    }
}

/// What a certificate says of the package.
fn identity(cache: &Cache, wanted: &Wanted, python: &str) -> Result<Identity, CliError> {
    let stages = |version: String| match wanted.stages() {
        "" => version,
        stages => format!("{version} with stages {stages}"),
    };
    Ok(match wanted.kind {
        Kind::Python => {
            let found = find(cache, wanted)?;
            let version = found.packages.get(python).cloned().unwrap_or_else(|| found.release.to_string());
            let (package, hash) = (python.to_owned(), found.hash);
            Identity { package, version: stages(version), hash, laid_over: found.pythonpath.and(found.note) }
        }
        Kind::Typescript => {
            let found = find_typescript(cache, wanted)?;
            let package = "@openhands/typescript-client".to_owned();
            Identity { package, version: found.release.to_string(), hash: found.hash, laid_over: None }
        }
        Kind::Browser => {
            let found = find_canvas(cache, wanted)?;
            let package = "@openhands/agent-canvas".to_owned();
            Identity { package, version: found.release.to_string(), hash: found.hash, laid_over: None }
        }
    })
}

fn keep(dir: &Path, certificate: &Certificate) -> Result<(), CliError> {
    let path = dir.join(format!("{}.json", certificate.profile.replace('/', ".")));
    report::write_atomically(&path, |out| {
        serde_json::to_writer_pretty(&mut *out, certificate).map_err(std::io::Error::other)?;
        writeln!(out)
    })?;
    Ok(())
}

fn print(certificates: &[Certificate], format: Format) -> Result<(), CliError> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    match format {
        Format::Table if certificates.is_empty() => {}
        Format::Table => report::certificate_table(certificates, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, certificates).map_err(std::io::Error::other)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
