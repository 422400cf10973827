//! Where everything is.

use std::path::{Path, PathBuf};

use super::error::EnvError;
use super::wanted::Kind;

/// The folder of all environments. Nothing outside it is written, but what `uv` and `npm` keep for themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The folder named on the command line, else `SKEWLAB_CACHE`, else `XDG_CACHE_HOME/skewlab`, else
    /// `~/.cache/skewlab`. It need not exist.
    pub fn locate(named: Option<&Path>) -> Result<Cache, EnvError> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let root = named
            .map(Path::to_owned)
            .or_else(|| set("SKEWLAB_CACHE"))
            // The XDG rule: a relative path there is to be ignored.
            .or_else(|| set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).map(|p| p.join("skewlab")))
            .or_else(|| set("HOME").map(|p| p.join(".cache/skewlab")))
            .ok_or(EnvError::NoProgram {
                program: "cache folder",
                looked: "SKEWLAB_CACHE, XDG_CACHE_HOME and HOME, none of which is set".to_owned(),
                mend: "name one with --cache DIR".to_owned(),
            })?;
        let root = std::path::absolute(&root).map_err(EnvError::io(&root))?;
        Ok(Cache { root })
    }

    /// The cache in this folder, absolute.
    pub fn at(root: PathBuf) -> Cache {
        Cache { root }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one environment: `envs/python-1.58.2`, `npm/browser-1.20.0`.
    pub fn dir(&self, kind: Kind, name: &str) -> PathBuf {
        let family = if kind == Kind::Python { "envs" } else { "npm" };
        self.root.join(family).join(name)
    }

    /// Where the installers' output for one environment goes.
    pub fn logs(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(name)
    }

    pub(super) fn lock(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(format!("{name}.lock"))
    }

    pub(super) fn index(&self) -> PathBuf {
        self.root.join("index.json")
    }

    /// The `uv` that skewlab installed for itself, if it did.
    pub(super) fn own_uv(&self) -> PathBuf {
        self.root.join("tools/uv")
    }

    /// Every environment's folder, ready or not, with its kind and name, in order of name.
    pub fn all(&self) -> Vec<(Kind, String)> {
        let mut found = Vec::new();
        for family in [Kind::Python, Kind::Typescript] {
            let Some(parent) = self.dir(family, "x").parent().map(Path::to_owned) else { continue };
            // A cache that does not exist yet holds nothing.
            let Ok(entries) = std::fs::read_dir(parent) else { continue };
            for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
                let kind = Kind::ALL.into_iter().find(|kind| name.starts_with(kind.word()));
                found.extend(kind.map(|kind| (kind, name)));
            }
        }
        found.sort();
        found
    }
}
