//! The only part that downloads: makes environments, one at a time, each under a lock of its own.
//!
//! An environment is built in the place where it stays, because a virtual environment holds its own path. So the note
//! [`Ready`] is written last, and what has none is removed and begun again.

mod bytecode;
mod heard;
mod install;
mod lock;
mod node;
mod python;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cache::Cache;
use super::error::EnvError;
use super::find::{Resolved, inspect, resolve};
use super::ready::Ready;
use super::recipe::Recipes;
use super::tools::Interpreter;
use super::wanted::{Kind, Version, Wanted};
use crate::unit::Release;

use heard::Heard;
use lock::Lock;

/// Whoever shows how a set-up goes on.
pub trait Steps {
    /// The environment `name` is at this step now.
    fn step(&mut self, name: &str, what: &str);
    /// Time passes; the program at work said this last, if it said anything.
    fn tick(&mut self, said: Option<&str>);
}

/// Shows nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Steps for Silent {
    fn step(&mut self, _: &str, _: &str) {}
    fn tick(&mut self, _: Option<&str>) {}
}

/// An environment that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its name: `python-1.58.2`.
    pub name: String,
    /// Its folder, absolute.
    pub dir: PathBuf,
    /// How long it took; `None` when it was ready before.
    pub took: Option<Duration>,
    /// How a constraint was resolved, and what it runs on.
    pub note: Option<String>,
}

/// What every step needs at hand.
struct Workshop<'a> {
    cache: &'a Cache,
    recipes: Recipes,
    named_python: Option<&'a Path>,
    steps: &'a mut dyn Steps,
    heard: Heard,
    /// uv and the Python that environments are made of, once they were needed.
    python: Option<(PathBuf, Interpreter)>,
}

/// Sets up what is wanted: one result for each, in order, and a failure of one does not keep the others from being set up.
///
/// Dropping the future ends whatever installer is at work; what it was working on has no note and is begun again.
pub async fn setup(
    cache: &Cache,
    wanted: &[Wanted],
    named_python: Option<&Path>,
    steps: &mut dyn Steps,
) -> Result<Vec<Result<Done, EnvError>>, EnvError> {
    for folder in ["envs", "npm", "locks", "logs", "tools"] {
        let folder = cache.root().join(folder);
        std::fs::create_dir_all(&folder).map_err(full_or_io("the cache", cache, &folder))?;
    }
    let recipes = Recipes::embedded()?;
    let mut shop = Workshop { cache, recipes, named_python, steps, heard: Heard::default(), python: None };
    let mut results = Vec::new();
    for wanted in wanted {
        results.push(shop.one(wanted).await);
    }
    Ok(results)
}

impl Workshop<'_> {
    async fn one(&mut self, wanted: &Wanted) -> Result<Done, EnvError> {
        let resolved = self.resolve(wanted).await?;
        let note = resolved.note.clone();
        let (ready, took) = self.environment(&resolved).await?;
        let dir = self.cache.dir(resolved.kind, &resolved.name);
        let note = [note, ready.note].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Ok(Done { name: resolved.name, dir, took, note: (!note.is_empty()).then_some(note) })
    }

    /// What the word stands for. The index is asked for a constraint, and for a release that is not here yet.
    async fn resolve(&mut self, wanted: &Wanted) -> Result<Resolved, EnvError> {
        match &wanted.version {
            Version::Path(_) | Version::Wheel(_) => return resolve(self.cache, wanted),
            Version::Release(_) => {
                let resolved = resolve(self.cache, wanted)?;
                if matches!(inspect(self.cache, &resolved), Ok(Some(_))) {
                    return Ok(resolved);
                }
            }
            Version::Latest(_) | Version::LatestMinor(_) | Version::Tag(_) => {}
        }
        let package = self.recipes.index_of(wanted.kind).to_owned();
        let versions = self.versions(wanted.kind, &package).await?;
        let release = versions.choose(&package, wanted)?;
        let note = match wanted.version {
            Version::Release(_) => None,
            _ => Some(format!("{} is {release}, as of {}", wanted.said, versions.asked)),
        };
        Ok(Resolved::release(wanted.kind, &release, note))
    }

    /// The environment's note, and how long it took to make if it was not there.
    async fn environment(&mut self, resolved: &Resolved) -> Result<(Ready, Option<Duration>), EnvError> {
        let _lock = Lock::take(self.cache, &resolved.name, self.steps).await?;
        if let Ok(Some(ready)) = inspect(self.cache, resolved) {
            return Ok((ready, None));
        }
        let begun = Instant::now();
        let dir = self.cache.dir(resolved.kind, &resolved.name);
        self.clear(&resolved.name, &dir)?;
        if let Err(error) = self.make(resolved, &dir).await {
            // What nobody may use should not fill the disk; where it cannot be removed now, the next set-up tries again.
            let _ = std::fs::remove_dir_all(&dir);
            return Err(error);
        }
        match inspect(self.cache, resolved) {
            Ok(Some(ready)) => Ok((ready, Some(begun.elapsed()))),
            problem => {
                let problem = problem.err().unwrap_or_else(|| "it is gone".to_owned());
                let command = "skewlab live setup".to_owned();
                Err(EnvError::Unfit { path: dir, problem, command })
            }
        }
    }

    async fn make(&mut self, resolved: &Resolved, dir: &Path) -> Result<(), EnvError> {
        let ready = match resolved.kind {
            Kind::Python => self.python_environment(resolved, dir).await?,
            Kind::Typescript => self.typescript(resolved, dir).await?,
            Kind::Browser => self.browser(resolved, dir).await?,
        };
        ready.write(dir).map_err(|error| self.full(&resolved.name, error))
    }

    /// Removes what an earlier set-up left, its note first: half of what is removed must not look ready.
    fn clear(&mut self, name: &str, dir: &Path) -> Result<(), EnvError> {
        if dir.exists() {
            self.steps.step(name, "removing what an earlier set-up left");
            match std::fs::remove_file(dir.join("READY.json")) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(EnvError::io(dir)(error));
                }
                _ => {}
            }
            std::fs::remove_dir_all(dir).map_err(EnvError::io(dir))?;
        }
        std::fs::create_dir_all(dir).map_err(full_or_io(name, self.cache, dir))
    }

    /// The release that an environment is of, which is known before it is installed but for odd sources.
    fn released(resolved: &Resolved) -> Result<Release, EnvError> {
        resolved.release.clone().ok_or_else(|| EnvError::Source {
            path: resolved.source.as_ref().map(|s| s.path.clone()).unwrap_or_default(),
            problem: "has no version that begins with three numbers".to_owned(),
        })
    }

    fn full(&self, name: &str, error: EnvError) -> EnvError {
        match error {
            EnvError::Io { path, error } => full_or_io(name, self.cache, &path)(error),
            other => other,
        }
    }
}

/// An error of the operating system while something is written; a full disk has words of its own.
fn full_or_io<'a>(
    name: &'a str,
    cache: &'a Cache,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> EnvError + 'a {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    move |error| match error.kind() {
        StorageFull | QuotaExceeded => {
            EnvError::Full { name: name.to_owned(), path: cache.root().to_owned() }
        }
        _ => EnvError::Io { path: path.to_owned(), error },
    }
}
