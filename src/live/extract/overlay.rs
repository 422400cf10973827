//! A wheel or a source tree laid over an environment, through the path that Python looks for modules on.
//!
//! `openhands` is a namespace package: its parts may come from several places, and the first one that has a module wins.

use std::path::{Path, PathBuf};

use super::ExtractError;
use super::run::output;
use crate::probe::Scratch;

/// Folders that go before an environment's own packages.
#[derive(Debug)]
pub struct Overlay {
    /// The folders, first one first.
    pub paths: Vec<PathBuf>,
    /// The version that the wheel's name or the source tree says, if it says one. The environment below may have another.
    pub version: Option<String>,
    /// Holds an unpacked wheel.
    _unpacked: Option<Scratch>,
}

impl Overlay {
    /// Unpacks a wheel, with the interpreter that will read it.
    ///
    /// Errors when the file is no archive, or holds no `OpenHands` package.
    pub async fn of_wheel(wheel: &Path, python: &Path) -> Result<Overlay, ExtractError> {
        if !wheel.is_file() {
            return Err(tree(wheel, "there is no such file"));
        }
        let dir = Scratch::new("extract")?;
        let args =
            ["-m".as_ref(), "zipfile".as_ref(), "-e".as_ref(), wheel.as_os_str(), dir.path().as_os_str()];
        let done = output(python, &args, &[], None).await?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let last = said.lines().rfind(|l| !l.trim().is_empty()).unwrap_or("it said nothing").trim();
            return Err(tree(wheel, &format!("cannot be unpacked: {last}")));
        }
        if !dir.path().join("openhands").is_dir() {
            return Err(tree(wheel, "holds no package `openhands`"));
        }
        let version = version_of(wheel);
        Ok(Overlay { paths: vec![dir.path().to_owned()], version, _unpacked: Some(dir) })
    }

    /// Finds the packages of a source tree: `DIR/openhands`, or `DIR/*/openhands` as in the monorepo.
    ///
    /// Errors when the folder has none, or its packages have several versions.
    pub fn of_tree(dir: &Path) -> Result<Overlay, ExtractError> {
        let read = |error: std::io::Error| ExtractError::File { path: dir.to_owned(), error };
        // The interpreter runs in a folder of its own, where a relative path would name nothing.
        let dir = &std::path::absolute(dir).map_err(read)?;
        let mut homes = vec![dir.clone()];
        for entry in std::fs::read_dir(dir).map_err(read)? {
            homes.push(entry.map_err(read)?.path());
        }
        homes.sort();
        homes.retain(|home| home.join("openhands").is_dir());
        if homes.is_empty() {
            return Err(tree(dir, "has no folder `openhands`, and none of its folders has one"));
        }
        let mut versions: Vec<String> = homes.iter().filter_map(|home| version_in(home)).collect();
        versions.sort();
        versions.dedup();
        if versions.len() > 1 {
            return Err(tree(dir, &format!("its packages have several versions: {}", versions.join(", "))));
        }
        Ok(Overlay { paths: homes, version: versions.pop(), _unpacked: None })
    }
}

fn tree(path: &Path, problem: &str) -> ExtractError {
    ExtractError::Tree { path: path.to_owned(), problem: problem.to_owned() }
}

/// The version in a wheel's name: `NAME-VERSION-…`, where neither part has a dash.
fn version_of(wheel: &Path) -> Option<String> {
    let version = wheel.file_stem()?.to_str()?.split('-').nth(1)?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

/// The version in a folder's `pyproject.toml`. One that is computed when the package is built says nothing here.
fn version_in(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join("pyproject.toml")).ok()?;
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("project")?.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(dir: &Path, name: &str, version: &str) {
        std::fs::create_dir_all(dir.join(name).join("openhands/sdk")).unwrap();
        let text = format!("[project]\nname = \"{name}\"\nversion = \"{version}\"\n");
        std::fs::write(dir.join(name).join("pyproject.toml"), text).unwrap();
    }

    #[test]
    fn a_wheel_says_its_version_in_its_name() {
        let version = |name: &str| version_of(Path::new(name));
        assert_eq!(version("d-x/openhands_sdk-1.59.0rc1-py3-none-any.whl").as_deref(), Some("1.59.0rc1"));
        assert_eq!(version("openhands.whl"), None);
    }

    #[test]
    fn a_source_tree_is_one_folder_or_several() {
        let dir = tempfile::tempdir().unwrap();
        let error = Overlay::of_tree(dir.path()).unwrap_err().to_string();
        assert!(error.contains("has no folder `openhands`"), "{error}");
        package(dir.path(), "openhands-sdk", "1.59.0");
        package(dir.path(), "openhands-agent-server", "1.59.0");
        std::fs::create_dir(dir.path().join("docs")).unwrap();
        let found = Overlay::of_tree(dir.path()).unwrap();
        let names: Vec<_> = found.paths.iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["openhands-agent-server", "openhands-sdk"]);
        assert_eq!(found.version.as_deref(), Some("1.59.0"));
        let one = Overlay::of_tree(&dir.path().join("openhands-sdk")).unwrap();
        assert_eq!((one.paths.len(), one.version.as_deref()), (1, Some("1.59.0")));
        package(dir.path(), "openhands-tools", "1.60.0");
        let error = Overlay::of_tree(dir.path()).unwrap_err().to_string();
        assert!(error.contains("several versions: 1.59.0, 1.60.0"), "{error}");
        let gone = Overlay::of_tree(&dir.path().join("gone")).unwrap_err().to_string();
        assert!(gone.contains("gone: No such file"), "{gone}");
    }
}
