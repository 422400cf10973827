//! `skewlab live extract`: the profile that a package implies, and where it differs.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::super::args::Format;
use super::super::error::CliError;
use super::super::plan::catalogue;
use crate::judge::ExitCode;
use crate::live::env::{Cache, Wanted, find};
use crate::live::extract::{Overlay, Package, Subject, read_blocking};
use crate::record::extract::Extraction;
use crate::report::{Detail, extract_json, extract_table, writable, write_atomically};
use crate::suite::extract::{against_committed, against_package, client_toml, imply, lines, server_toml};

/// The word for the committed profiles.
const COMMITTED: &str = "committed";

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Extract {
    /// What to read: a release, FILE.whl, path:DIR, or a stored document FILE.json
    #[arg(value_name = "VERSION|WHEEL|path:DIR|FILE.json")]
    pub(in crate::cli) what: String,
    /// Python that has the packages; a wheel or folder is laid over it [default: the release's environment]
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) python: Option<PathBuf>,
    /// Release whose environment a wheel or folder is laid over, where --python is not given
    #[arg(long, value_name = "VERSION", conflicts_with = "python")]
    pub(in crate::cli) over: Option<String>,
    /// Folder of the environments [default: `SKEWLAB_CACHE`, or skewlab in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) cache: Option<PathBuf>,
    /// Version to call it by, where the package does not know it: a tree with stages is 1.58.2+AB
    #[arg(long = "as", value_name = "VERSION")]
    pub(in crate::cli) called: Option<String>,
    /// Say what differs from the committed profiles of that release, or from another package
    #[arg(long, value_name = "committed|VERSION|WHEEL|path:DIR|FILE.json")]
    pub(in crate::cli) against: Option<String>,
    /// Python that has the other package
    #[arg(long, value_name = "PATH", requires = "against")]
    pub(in crate::cli) against_python: Option<PathBuf>,
    /// Write servers/, clients/, packages/ and vocabulary/ into this folder, for --profiles
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Folder with more profiles, for --against committed
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) profiles: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(in crate::cli) format: Format,
}

/// A package that was read, with the version to call it by.
struct Read {
    package: Package,
    named: Option<String>,
}

pub(in crate::cli) fn run(args: &Extract) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    if let Some(dir) = &args.out {
        writable(dir)?;
    }
    let cache = Cache::locate(args.cache.as_deref())?;
    let over = args.over.as_deref();
    let read = Args { cache: &cache, python: args.python.as_deref(), over }.package(&args.what)?;
    let mut extraction = imply(&read.package, args.called.as_deref().or(read.named.as_deref()), &catalogue)?;
    if let Some(dir) = &args.out {
        store(dir, &extraction, &read.package)?;
    }
    let against = match args.against.as_deref() {
        None => None,
        Some(COMMITTED) => Some(against_committed(&extraction, &catalogue)?),
        Some(other) => {
            let python = args.against_python.as_deref();
            let other = Args { cache: &cache, python, over }.package(other)?;
            let theirs = imply(&other.package, other.named.as_deref(), &catalogue)?;
            Some(against_package(&extraction, &read.package, &theirs, &other.package)?)
        }
    };
    let equal = against.as_ref().is_none_or(crate::record::extract::Against::equal);
    extraction.against = against;
    print(&extraction, args)?;
    Ok(match (&args.against, equal) {
        // Equal in what was answered is not equal.
        (Some(_), _) if !extraction.unanswered.is_empty() => ExitCode::RigInvalid,
        (_, false) => ExitCode::Unexpected,
        (_, true) => ExitCode::AllAsExpected,
    })
}

fn print(extraction: &Extraction, args: &Extract) -> Result<(), CliError> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let detail = if args.against.is_some() { Detail::Differences } else { Detail::Whole };
    match args.format {
        Format::Table => extract_table(extraction, detail, &mut out)?,
        Format::Json => extract_json(extraction, &mut out)?,
    }
    Ok(out.flush()?)
}

/// An interpreter that has packages, and what is laid over them before anything else.
struct Interpreter {
    python: PathBuf,
    below: Vec<PathBuf>,
}

impl Args<'_> {
    /// The interpreter that was named, or that of the environment of a release.
    fn interpreter(&self, what: &str, release: Option<&str>) -> Result<Interpreter, CliError> {
        if let Some(python) = self.python {
            return Ok(Interpreter { python: python.to_owned(), below: Vec::new() });
        }
        let release = release.or(self.over).ok_or_else(|| {
            CliError::Usage(format!(
                "`{what}` is laid over an environment: name one with `--python PATH` or `--over VERSION`"
            ))
        })?;
        let environment = find(self.cache, &Wanted::server(release)?)?;
        Ok(Interpreter { python: environment.python, below: environment.pythonpath.into_iter().collect() })
    }

    /// Reads one package, or its stored document.
    fn package(&self, what: &str) -> Result<Read, CliError> {
        let laid = |mut over: Vec<PathBuf>, below: &[PathBuf]| {
            over.extend(below.iter().cloned());
            over
        };
        Ok(match Subject::parse(what)? {
            Subject::Document(path) => Read { package: Package::load(&path)?, named: None },
            Subject::Release(release) => {
                let Interpreter { python, below } = self.interpreter(what, Some(&release))?;
                let package = read_blocking(&python, &below)?;
                let has = package.version().to_owned();
                if has != release {
                    let wanted = release;
                    return Err(
                        crate::live::extract::ExtractError::OtherVersion { python, has, wanted }.into()
                    );
                }
                Read { package, named: None }
            }
            Subject::Wheel(wheel) => {
                let Interpreter { python, below } = self.interpreter(what, None)?;
                let overlay = super::runtime()?.block_on(Overlay::of_wheel(&wheel, &python))?;
                let package = read_blocking(&python, &laid(overlay.paths.clone(), &below))?;
                Read { package, named: overlay.version.clone() }
            }
            Subject::Tree(dir) => {
                let overlay = Overlay::of_tree(&dir)?;
                let Interpreter { python, below } = self.interpreter(what, None)?;
                let package = read_blocking(&python, &laid(overlay.paths.clone(), &below))?;
                Read { package, named: overlay.version.clone() }
            }
        })
    }
}

/// Where packages are, of what was typed.
struct Args<'a> {
    cache: &'a Cache,
    python: Option<&'a Path>,
    over: Option<&'a str>,
}

/// Writes everything that an extraction gives; a folder that `--profiles` reads.
fn store(dir: &Path, extraction: &Extraction, package: &Package) -> Result<(), CliError> {
    let document = serde_json::to_string_pretty(package).map_err(|e| CliError::Start(e.to_string()))?;
    for (path, text) in [
        (format!("servers/{}.toml", extraction.server.name), server_toml(extraction)),
        (format!("clients/{}.toml", extraction.client.name), client_toml(extraction)),
        (format!("packages/{}.json", extraction.release), format!("{document}\n")),
        (format!("vocabulary/{}.txt", extraction.release), lines(&extraction.vocabulary)),
    ] {
        write_atomically(&dir.join(path), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}
