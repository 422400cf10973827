//! From what was typed to an environment that may be used. Nothing here goes to the network.

use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::error::EnvError;
use super::index::Index;
use super::ready::Ready;
use super::recipe::Recipes;
use super::source::Source;
use super::tools;
use super::wanted::{Kind, Version, Wanted};
use super::{Canvas, Environment, NodePackage};
use crate::unit::Release;

/// What a word stands for on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// What kind of package.
    pub kind: Kind,
    /// The environment's name, which is also its folder's: `python-1.58.2`.
    pub name: String,
    /// The release, without stages; `None` of a checkout or wheel whose version is only known once it is installed.
    pub release: Option<Release>,
    /// How a constraint was resolved, for the reader: `latest is 1.58.2, as of 2026-11-30`.
    pub note: Option<String>,
    /// The checkout or wheel that it is made from.
    pub(super) source: Option<Source>,
}

impl Resolved {
    pub(super) fn release(kind: Kind, release: &Release, note: Option<String>) -> Resolved {
        let release = release.released();
        Resolved {
            kind,
            name: format!("{}-{release}", kind.word()),
            release: Some(release),
            note,
            source: None,
        }
    }
}

/// What `wanted` stands for. Constraints are answered with what the last set-up heard from the index.
pub fn resolve(cache: &Cache, wanted: &Wanted) -> Result<Resolved, EnvError> {
    match &wanted.version {
        Version::Release(release) => Ok(Resolved::release(wanted.kind, release, None)),
        Version::Path(path) => Source::checkout(path).map(Source::resolved),
        Version::Wheel(path) => Source::wheel(path).map(Source::resolved),
        Version::Latest(_) | Version::LatestMinor(_) | Version::Tag(_) => {
            let package = Recipes::embedded()?.index_of(wanted.kind).to_owned();
            let index = Index::read(cache);
            let heard = index.packages.get(&package).ok_or_else(|| EnvError::NeverAsked {
                said: wanted.said.clone(),
                command: wanted.command(),
            })?;
            let release = heard.choose(&package, wanted)?;
            let note = format!("{} is {release}, as of {}", wanted.said, heard.asked);
            Ok(Resolved::release(wanted.kind, &release, Some(note)))
        }
    }
}

/// The Python environment of a server or of a Python client. A stage overlay (`1.58.2+AB`) runs in the environment of its
/// release.
pub fn find(cache: &Cache, wanted: &Wanted) -> Result<Environment, EnvError> {
    let (resolved, dir, ready) = usable(cache, wanted, Kind::Python)?;
    let (python, pythonpath) = match &ready.base {
        None => (python(&dir), None),
        Some(base) => (python(&cache.dir(Kind::Python, &base.name)), Some(dir.join(OVERLAY))),
    };
    let hash = ready.hash();
    let about = both(resolved.note, ready.note);
    Ok(Environment {
        release: ready.release,
        python,
        pythonpath,
        packages: ready.packages,
        note: about,
        hash,
    })
}

/// The TypeScript client, and the node to run it with.
pub fn find_typescript(cache: &Cache, wanted: &Wanted) -> Result<NodePackage, EnvError> {
    let (resolved, dir, ready) = usable(cache, wanted, Kind::Typescript)?;
    let node = tools::on_path("node").ok_or_else(tools::no_node)?;
    let hash = ready.hash();
    let about = both(resolved.note, ready.note);
    Ok(NodePackage { release: ready.release, dir, node, packages: ready.packages, note: about, hash })
}

/// The front end's static files.
pub fn find_canvas(cache: &Cache, wanted: &Wanted) -> Result<Canvas, EnvError> {
    let (resolved, dir, ready) = usable(cache, wanted, Kind::Browser)?;
    let hash = ready.hash();
    let about = both(resolved.note, ready.note);
    Ok(Canvas { release: ready.release, build: dir.join("build"), note: about, hash })
}

/// Folder of a release that is laid over another one's environment, within its own.
pub(super) const OVERLAY: &str = "overlay";

/// The interpreter of the virtual environment in `dir`.
pub(super) fn python(dir: &Path) -> PathBuf {
    dir.join("bin/python")
}

fn both(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

fn usable(cache: &Cache, wanted: &Wanted, kind: Kind) -> Result<(Resolved, PathBuf, Ready), EnvError> {
    if wanted.kind != kind {
        let expected = match kind {
            Kind::Python => "a server or a client that begins with python-",
            Kind::Typescript => "a client that begins with typescript-",
            Kind::Browser => "a client that begins with browser-",
        };
        let what = if wanted.server { "server" } else { "client" };
        return Err(EnvError::Word { what, said: wanted.said.clone(), expected, hint: String::new() });
    }
    let resolved = resolve(cache, wanted)?;
    let dir = cache.dir(kind, &resolved.name);
    let command = wanted.command();
    match inspect(cache, &resolved) {
        Ok(Some(ready)) => Ok((resolved, dir, ready)),
        Ok(None) => {
            let cache = cache.root().to_owned();
            Err(EnvError::Missing { name: resolved.name, cache, command })
        }
        Err(problem) => Err(EnvError::Unfit { path: dir, problem, command }),
    }
}

/// The environment's note if it may be used, `None` if there is no such folder, and in words why it may not be used.
pub(super) fn inspect(cache: &Cache, resolved: &Resolved) -> Result<Option<Ready>, String> {
    let dir = cache.dir(resolved.kind, &resolved.name);
    let Some(ready) = Ready::read(&dir)? else { return Ok(None) };
    if let Some(source) = &resolved.source
        && ready.source.as_deref() != Some(source.fingerprint.as_str())
    {
        return Err(format!("{} changed since it was set up", source.path.display()));
    }
    let needed = match (resolved.kind, &ready.base) {
        (Kind::Python, None) => python(&dir),
        (Kind::Python, Some(base)) => {
            let below = cache.dir(Kind::Python, &base.name);
            let problem = |p: String| format!("it runs on {}, and {p}", base.name);
            let ready = Ready::read(&below).map_err(problem)?;
            match ready {
                None => return Err(problem("that is not set up".to_owned())),
                Some(ready) if ready.hash() != base.hash => {
                    return Err(problem("that is another one than when it was set up".to_owned()));
                }
                Some(_) => python(&below),
            }
        }
        (Kind::Typescript, _) => dir.join("node_modules"),
        (Kind::Browser, _) => dir.join("build/index.html"),
    };
    // A virtual environment's interpreter is a link, and what it leads to may be gone.
    if needed.exists() { Ok(Some(ready)) } else { Err(format!("{} is gone", needed.display())) }
}
