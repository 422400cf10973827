//! `skewlab contract`: what a server advertises, and what a change of it breaks for whom.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;

use super::address::{address, uri, wrong};
use super::args::Format;
use super::error::CliError;
use super::plan::catalogue;
use super::shown::show_and_keep;
use crate::agent_server::advertised::{document, unlogged};
use crate::agent_server::link::Target;
use crate::agent_server::profile::server::DeltaClass;
use crate::agent_server::profile::{Catalogue, ServerTraits};
use crate::agent_server::rest::{self, RestError};
use crate::agent_server::server::Dialer;
use crate::judge::ExitCode;
use crate::judge::contract::{Question, Reader, Subject, exit_code, judge};
use crate::openapi::{Document, TypeFacts, quoted};
use crate::report::{contract_json, contract_table, write_atomically};
use crate::scenario::Names as _;

const EXPECTED: &str = "expected http://127.0.0.1:PORT/openapi.json";
/// How long a server may take to answer. The released one makes its document when it is first asked, some seconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// Say what a server advertises in /openapi.json that cannot be, and what a change of it breaks for whom.
///
/// Exit code 0: nothing breaks. 10: something breaks that is not expected. 11: an expected finding is not there any more.
/// 2: the document or the command line is wrong. 13: a server was not reached.
#[derive(Debug, ClapArgs)]
pub(super) struct Contract {
    /// The document: a server profile or a release, FILE.json, or http://127.0.0.1:PORT/openapi.json
    #[arg(value_name = "SERVER|FILE|URL", required_unless_present_any = ["url", "extract_types"])]
    subject: Option<String>,
    /// The same as a URL: http://127.0.0.1:PORT/openapi.json
    #[arg(long, value_name = "URL", conflicts_with = "subject")]
    url: Option<String>,
    /// The older document that it is held against
    #[arg(long, value_name = "SERVER|FILE|URL")]
    against: Option<String>,
    /// Generated TypeScript types: a folder with the package, FILE.d.ts, facts of --extract-types in FILE.json, or `none`
    /// [default: those of @openhands/typescript-client 1.39.0]
    #[arg(long, value_name = "DIR|FILE|none")]
    types: Option<String>,
    /// Read generated types, print what is known of them as JSON, and judge nothing
    #[arg(long, value_name = "DIR|FILE.d.ts", conflicts_with_all = ["subject", "url", "against", "types"])]
    extract_types: Option<PathBuf>,
    /// Clients to ask what they make of each change; may be repeated [default: each era's newest release, and what
    /// ships with either server]
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// A finding that is known: its id or a glob over it; may be repeated
    #[arg(long = "expect", value_name = "ID")]
    expected: Vec<String>,
    /// Let every finding that is not expected count, notes too
    #[arg(long)]
    strict: bool,
    /// Let a URL be on another machine
    #[arg(long)]
    allow_remote: bool,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Write the JSON into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Contract) -> Result<ExitCode, CliError> {
    if let Some(path) = &args.extract_types {
        return extract(path, args.out.as_deref());
    }
    let catalogue = catalogue(args.profiles.as_ref())?;
    let find = |word: &str| find(word, &catalogue, args.allow_remote);
    let word = args.subject.as_deref().or(args.url.as_deref()).unwrap_or_default();
    let (subject, ships) = find(word)?;
    let (against, shipped) = args.against.as_deref().map(find).transpose()?.unzip();
    let ships: Vec<String> = [ships, shipped.flatten()].into_iter().flatten().collect();
    let question = Question {
        against,
        types: types(args.types.as_deref())?,
        readers: readers(&args.clients, ships, &catalogue)?,
        expected: args.expected.iter().map(|id| pattern(id)).collect::<Result<_, _>>()?,
    };
    let report = judge(&subject, &question);
    show_and_keep(&report, args.out.as_deref(), args.format, contract_json, contract_table)?;
    Ok(exit_code(&report, args.strict))
}

fn extract(path: &Path, out: Option<&Path>) -> Result<ExitCode, CliError> {
    let facts = TypeFacts::load(path)?;
    let text = serde_json::to_string_pretty(&facts).map_err(|e| CliError::Start(e.to_string()))?;
    match out {
        Some(path) => write_atomically(path, |out| writeln!(out, "{text}"))?,
        None => writeln!(std::io::stdout().lock(), "{text}")?,
    }
    Ok(ExitCode::AllAsExpected)
}

/// The document that a word names, and the client that ships with the server, if that is known.
fn find(
    word: &str,
    catalogue: &Catalogue,
    allow_remote: bool,
) -> Result<(Subject, Option<String>), CliError> {
    if word.contains("://") {
        return Ok((fetched(word, allow_remote)?, None));
    }
    let path = Path::new(word);
    let is_file = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) || word.contains('/');
    if is_file || path.is_file() {
        return Ok((foreign(Document::load(path)?, "file")?, None));
    }
    let profile = catalogue.server(word)?;
    let ships = catalogue.ships_python(word)?;
    let value = document(&profile)?;
    let ServerTraits { delta, mutant, .. } = &profile.traits;
    let logged = |deltas: bool| deltas && mutant.store_deltas;
    let subject = Subject {
        name: format!("{} (emulated)", profile.release_name),
        document: Document::of(&profile.release_name, &value)?,
        unlogged: unlogged()?
            .iter()
            .filter(|u| !logged(u.deltas))
            .map(|u| (u.kind.clone(), u.because.clone()))
            .collect(),
        streams: (delta.class != DeltaClass::Withdrawn).then(|| delta.kind.clone()),
    };
    Ok((subject, Some(ships)))
}

/// A document of a server that nobody knows more of.
fn foreign(document: Document, origin: &str) -> Result<Subject, CliError> {
    let named = [quoted(&document.title), quoted(&document.version)];
    let named: Vec<&str> = named.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
    let name = if named.is_empty() { "a document without a title".to_owned() } else { named.join(" ") };
    let unlogged = unlogged()?.iter().map(|u| (u.kind.clone(), u.because.clone())).collect();
    Ok(Subject { name: format!("{name} ({origin})"), document, unlogged, streams: None })
}

fn fetched(url: &str, allow_remote: bool) -> Result<Subject, CliError> {
    let uri = uri(url, &["http"], EXPECTED)?;
    if uri.query().is_some() {
        return Err(wrong(format!("it has a query, and the document needs none; {EXPECTED}")));
    }
    let addr = address(&uri, allow_remote, EXPECTED)?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let target = Target { dialer: Dialer::Named { addr, authority }, conversation: String::new(), key: None };
    let path = if uri.path() == "/" { "/openapi.json" } else { uri.path() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| CliError::Start(e.to_string()))?;
    let asked = async { tokio::time::timeout(PATIENCE, rest::document(&target, path)).await };
    let late = || RestError::Unreachable(format!("no answer within {} s", PATIENCE.as_secs()));
    let answer = runtime.block_on(asked).unwrap_or_else(|_| Err(late()));
    // The words of a foreign server are in it.
    let text = answer.map_err(|e| CliError::Fetch(quoted(&e.to_string())))?;
    // No URL in what is printed: it may be somebody's host.
    foreign(Document::parse("the server's document", &text)?, "live")
}

fn types(word: Option<&str>) -> Result<Option<TypeFacts>, CliError> {
    Ok(match word {
        Some("none") => None,
        Some(path) => Some(TypeFacts::load(Path::new(path))?),
        None => Some(TypeFacts::released()?),
    })
}

/// The clients that were named; else every era of the released ones, and those that ship with the servers.
fn readers(names: &[String], ships: Vec<String>, catalogue: &Catalogue) -> Result<Vec<Reader>, CliError> {
    let mut all = names.to_vec();
    if all.is_empty() {
        let released = catalogue.clients().abouts().filter(|a| a.covers.is_some());
        all.extend(released.map(|a| a.name.clone()));
        all.extend(ships);
    }
    let mut found: Vec<Reader> = Vec::new();
    for name in all {
        let reader = Reader::of(&catalogue.client(&name)?.profile)?;
        if !found.iter().any(|r| r.name == reader.name) {
            found.push(reader);
        }
    }
    Ok(found)
}

fn pattern(id: &str) -> Result<glob::Pattern, CliError> {
    glob::Pattern::new(id).map_err(|e| CliError::Usage(format!("--expect `{id}`: {e}")))
}
