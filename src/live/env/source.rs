//! What is not in an index: a source checkout, or a wheel file.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::{EnvError, nearest};
use super::find::Resolved;
use super::ready::hex;
use super::recipe::Recipes;
use super::wanted::Kind;
use crate::unit::Release;

/// How deep below the folder that was named a package may lie: the monorepo has its packages one below.
const DEPTH: usize = 3;

/// Folders that hold no source of a package.
const NOT_SOURCE: [&str; 6] = ["node_modules", "__pycache__", "build", "dist", "tests", "target"];

/// A checkout or a wheel, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// What was named, absolute.
    pub(super) path: PathBuf,
    /// Each package in it, and the folder or file to install it from.
    pub(super) packages: Vec<(String, PathBuf)>,
    /// Its version, if that is written down.
    pub(super) version: Option<String>,
    /// Changes when its files do.
    pub(super) fingerprint: String,
}

impl Source {
    /// The packages below a folder.
    pub(super) fn checkout(named: &Path) -> Result<Source, EnvError> {
        let fault = |problem: String| EnvError::Source { path: named.to_owned(), problem };
        let path = named.canonicalize().map_err(|error| fault(error.to_string()))?;
        if !path.is_dir() {
            return Err(fault("is no folder; path: takes a source checkout".to_owned()));
        }
        let wanted = Recipes::embedded()?.python.packages;
        let mut found: Vec<(String, PathBuf, Option<String>)> = Vec::new();
        let mut others: Vec<String> = Vec::new();
        projects(&path, DEPTH, &mut |folder, name, version| {
            if !wanted.contains(&name) {
                others.push(name);
            } else if !found.iter().any(|(known, ..)| *known == name) {
                found.push((name, folder, version));
            }
        });
        if found.is_empty() {
            let seen = if others.is_empty() {
                "no pyproject.toml with a name is there".to_owned()
            } else {
                format!("found {}", others.join(", "))
            };
            return Err(fault(format!("holds none of {}; {seen}", wanted.join(", "))));
        }
        found.sort();
        let mut hash = Sha256::new();
        for (_, folder, _) in &found {
            state(folder, &mut hash);
        }
        let version = found.iter().find_map(|(.., version)| version.clone());
        let packages = found.into_iter().map(|(name, folder, _)| (name, folder)).collect();
        Ok(Source { path, packages, version, fingerprint: hex(&hash.finalize()) })
    }

    /// One of the packages, built.
    pub(super) fn wheel(named: &Path) -> Result<Source, EnvError> {
        let fault = |problem: String| EnvError::Source { path: named.to_owned(), problem };
        let path = named.canonicalize().map_err(|error| fault(error.to_string()))?;
        let bytes = std::fs::read(&path).map_err(|error| fault(error.to_string()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut parts = stem.split('-');
        let name = parts.next().unwrap_or_default().replace('_', "-").to_lowercase();
        let wanted = Recipes::embedded()?.python.packages;
        let version = parts.next().map(str::to_owned);
        if !wanted.contains(&name) || version.is_none() {
            let hint = nearest(&name, wanted.iter().map(String::as_str));
            let known = wanted.join(", ");
            return Err(fault(format!("a wheel of `{name}`, which is none of {known}{hint}")));
        }
        let fingerprint = hex(&Sha256::digest(&bytes));
        Ok(Source { packages: vec![(name, path.clone())], path, version, fingerprint })
    }

    /// The release whose numbers its version begins with: `1.59.0` of `1.59.0.dev3`.
    pub(super) fn release(&self) -> Option<Release> {
        numbers(self.version.as_deref()?)
    }

    /// The environment of this source. A checkout keeps its folder when its files change, a wheel is another one.
    pub(super) fn resolved(self) -> Resolved {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (what, key) = if self.path.is_dir() {
            ("path", hex(&Sha256::digest(self.path.as_os_str().as_encoded_bytes())))
        } else {
            ("wheel", self.fingerprint.clone())
        };
        let stem =
            stem.split('-').next().unwrap_or_default().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let name = format!("python-{what}-{stem}-{}", key.get(..12).unwrap_or_default());
        let note = Some(format!("from {}", self.path.display()));
        Resolved { kind: Kind::Python, name, release: self.release(), note, source: Some(self) }
    }
}

/// The first three numbers of a version as a release.
pub(super) fn numbers(version: &str) -> Option<Release> {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let parts: Vec<String> = version.split('.').take(3).map(digits).collect();
    parts.join(".").parse().ok()
}

/// Calls `each` with the folder, the name and the version of every project in and below a folder, in order of path.
fn projects(folder: &Path, depth: usize, each: &mut dyn FnMut(PathBuf, String, Option<String>)) {
    let text = std::fs::read_to_string(folder.join("pyproject.toml")).unwrap_or_default();
    if let Ok(file) = text.parse::<toml::Table>()
        && let Some(name) = file.get("project").and_then(|p| p.get("name")).and_then(toml::Value::as_str)
    {
        let version = file.get("project").and_then(|p| p.get("version")).and_then(toml::Value::as_str);
        let name = name.replace('_', "-").to_lowercase();
        each(folder.to_owned(), name, version.map(str::to_owned));
    }
    if depth > 0 {
        for below in entries(folder).into_iter().filter(|path| path.is_dir()) {
            projects(&below, depth - 1, each);
        }
    }
}

/// What lies in a folder and may be source, in order. Links are left alone: they may lead in a circle.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let source = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.')
            && !NOT_SOURCE.contains(&name.as_ref())
            && !name.ends_with(".egg-info")
            && !path.is_symlink()
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(source).collect();
    found.sort();
    found
}

/// Adds path, size and time of change of every file: contents would take long for a large checkout.
fn state(folder: &Path, hash: &mut Sha256) {
    for path in entries(folder) {
        if path.is_dir() {
            state(&path, hash);
        } else if let Ok(meta) = path.metadata() {
            hash.update(format!("{}\0{}\0{:?}\0", path.display(), meta.len(), meta.modified().ok()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(root: &Path, folder: &str, name: &str) {
        std::fs::create_dir_all(root.join(folder).join("src")).unwrap();
        let text = format!("[project]\nname = \"{name}\"\nversion = \"1.59.0.dev3\"\n");
        std::fs::write(root.join(folder).join("pyproject.toml"), text).unwrap();
        std::fs::write(root.join(folder).join("src/a.py"), "a = 1\n").unwrap();
    }

    #[test]
    fn a_checkout_holds_its_packages_and_changes_with_its_files() {
        let root = tempfile::tempdir().unwrap();
        project(root.path(), ".", "workspace-root");
        project(root.path(), "openhands-sdk", "openhands-sdk");
        project(root.path(), "openhands-agent-server", "openhands_agent_server");
        project(root.path(), ".venv/lib", "openhands-tools");
        let source = Source::checkout(root.path()).unwrap();
        let names: Vec<&str> = source.packages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["openhands-agent-server", "openhands-sdk"]);
        assert_eq!(source.release().unwrap().to_string(), "1.59.0");
        assert_eq!(source, Source::checkout(root.path()).unwrap());
        std::fs::write(root.path().join("openhands-sdk/src/a.py"), "a = 10\n").unwrap();
        let changed = Source::checkout(root.path()).unwrap();
        assert_ne!(source.fingerprint, changed.fingerprint);
        assert_eq!(source.resolved().name, changed.resolved().name);
    }

    #[test]
    fn what_holds_none_of_the_packages_is_refused_by_name() {
        let root = tempfile::tempdir().unwrap();
        let said = |path: &Path| Source::checkout(path).unwrap_err().to_string();
        assert!(said(root.path()).contains("no pyproject.toml"));
        project(root.path(), "x", "openhands-sdkk");
        assert!(said(root.path()).contains("found openhands-sdkk"), "{}", said(root.path()));
        assert!(said(&root.path().join("nowhere")).contains("nowhere"));
        let wheel = root.path().join("openhands_sdkk-1.0.0-py3-none-any.whl");
        std::fs::write(&wheel, "").unwrap();
        let said = Source::wheel(&wheel).unwrap_err().to_string();
        assert!(said.contains("did you mean `openhands-sdk`"), "{said}");
    }
}
