//! The programs on this machine: found, asked for their version, never installed here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ask::ask;
use super::cache::Cache;
use super::error::EnvError;

/// A program that says its version answers within this time, also on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(30);

/// Names that a Chromium has on `PATH`.
const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A program and what it says its version is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its version, in its own words.
    pub version: String,
}

/// A Chromium that starts.
pub type Chromium = Program;

/// A Python that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// `3.12.1`.
    pub version: String,
    /// How it names its bytecode files: `cpython-312`.
    pub tag: String,
}

/// The first file of that name on `PATH` that may be run.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| runs(file))
}

fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

pub(super) fn no_node() -> EnvError {
    missing("node", "PATH", "install Node.js 20 or newer")
}

fn missing(program: &'static str, looked: &str, mend: &str) -> EnvError {
    EnvError::NoProgram { program, looked: looked.to_owned(), mend: mend.to_owned() }
}

/// The uv on `PATH`, in the folders where its installers put it, or the one that skewlab installed for itself.
pub(super) fn uv(cache: &Cache) -> Option<PathBuf> {
    let homes = [".local/bin/uv", ".cargo/bin/uv"];
    let homes = home().into_iter().flat_map(|home| homes.map(|below| home.join(below)));
    on_path("uv").or_else(|| homes.chain([cache.own_uv().join("bin/uv")]).find(|file| runs(file)))
}

/// A program's answer to `--version`, its first line.
pub(super) async fn version(path: &Path) -> Result<Program, String> {
    let answer = ask(path, &["--version"], &[], LIMIT).await?;
    let first =
        |text: &str| text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    if answer.well {
        Ok(Program { path: path.to_owned(), version: first(&answer.out) })
    } else {
        Err(format!("{} does not run: {}", path.display(), first(&(answer.err + &answer.out))))
    }
}

/// A program on `PATH` and its version.
pub(super) async fn program(name: &'static str, mend: &str) -> Result<Program, EnvError> {
    let path = on_path(name).ok_or_else(|| missing(name, "PATH", mend))?;
    version(&path).await.map_err(|said| missing(name, &said, mend))
}

/// The Chromium named on the command line, else `SKEWLAB_CHROMIUM`, else the first one on `PATH`; one that was named is
/// not replaced by another.
pub async fn find_chromium(named: Option<&Path>) -> Result<Chromium, EnvError> {
    let mend =
        "install Chromium (apt-get install chromium), or name one with --chromium FILE or SKEWLAB_CHROMIUM";
    let set = std::env::var_os("SKEWLAB_CHROMIUM").filter(|v| !v.is_empty()).map(PathBuf::from);
    let path = match named.map(Path::to_owned).or(set) {
        Some(path) => path,
        None => CHROMIUM.iter().find_map(|name| on_path(name)).ok_or_else(|| {
            missing("Chromium", &format!("SKEWLAB_CHROMIUM and, on PATH, {}", CHROMIUM.join(", ")), mend)
        })?,
    };
    version(&path).await.map_err(|said| missing("Chromium", &said, mend))
}

/// A Python of one of these minor versions, the first one preferred. A named one is taken or refused.
pub(super) async fn python(
    named: Option<&Path>,
    minors: &[String],
    uv: Option<&Path>,
) -> Result<Interpreter, EnvError> {
    let mend = format!("install Python {}, or name one with --python FILE", minors.join(" or "));
    let fits =
        |found: &Interpreter| minors.iter().any(|minor| found.version.starts_with(&format!("{minor}.")));
    if let Some(named) = named {
        let looked = match probe(named).await {
            Ok(found) if fits(&found) => return Ok(found),
            Ok(found) => format!("{}, which is {}", named.display(), found.version),
            Err(said) => said,
        };
        return Err(EnvError::NoProgram { program: "fitting Python", looked, mend });
    }
    for candidate in candidates(minors) {
        // What refuses to run, as a version manager's stand-in does for a version that is not chosen, is passed over.
        if let Ok(found) = probe(&candidate).await
            && fits(&found)
        {
            return Ok(found);
        }
    }
    for minor in minors {
        let Some(uv) = uv else { break };
        let args = ["python", "find", "--no-python-downloads", "--no-project", "--system", minor];
        if let Ok(answer) = ask(uv, &args, &[], LIMIT).await
            && answer.well
            && let Ok(found) = probe(Path::new(answer.out.trim())).await
        {
            return Ok(found);
        }
    }
    let looked = "PATH, ~/.pyenv/versions and what uv knows".to_owned();
    Err(EnvError::NoProgram { program: "Python 3.12 or newer", looked, mend })
}

/// Where a Python may be: by minor version, on `PATH` and under a version manager, then whatever `python3` is.
fn candidates(minors: &[String]) -> Vec<PathBuf> {
    let root =
        std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| home().map(|home| home.join(".pyenv")));
    let managed = root.and_then(|root| std::fs::read_dir(root.join("versions")).ok());
    let mut managed: Vec<String> =
        managed.into_iter().flatten().flatten().map(|e| e.path().display().to_string()).collect();
    managed.sort();
    let mut found = Vec::new();
    for minor in minors {
        found.extend(on_path(&format!("python{minor}")));
        let of = |path: &&String| {
            path.rsplit('/').next().is_some_and(|name| name.starts_with(&format!("{minor}.")))
        };
        found.extend(managed.iter().rev().filter(of).map(|path| Path::new(path).join("bin/python")));
    }
    found.extend(["python3", "python"].iter().filter_map(|name| on_path(name)));
    found
}

/// Runs an interpreter and asks what it is.
pub(super) async fn probe(path: &Path) -> Result<Interpreter, String> {
    const SCRIPT: &str = "import sys, platform; print(sys.executable, platform.python_version(), \
                          sys.implementation.cache_tag, sep='\\n')";
    let answer = ask(path, &["-I", "-c", SCRIPT], &[], LIMIT).await?;
    let mut lines = answer.out.lines();
    match (lines.next(), lines.next(), lines.next()) {
        (Some(path), Some(version), Some(tag)) if answer.well => {
            Ok(Interpreter { path: path.into(), version: version.to_owned(), tag: tag.to_owned() })
        }
        _ => Err(format!("{} does not run: {}", path.display(), answer.err.trim())),
    }
}
