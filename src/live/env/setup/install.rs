//! An installer at work: under a warden, its output in a log, its failure in its own words.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Workshop;
use crate::live::env::error::EnvError;
use crate::live::process::{Launch, warden_program};

/// How often the end is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// Lines of an installer's failure that are shown.
const SHOWN: usize = 12;

/// Variables that would send an installer to another environment than the one it is told.
const NOT_INHERITED: [&str; 7] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "PYTHONHOME",
    "UV_PROJECT_ENVIRONMENT",
    "UV_TARGET",
    "UV_PYTHON",
];

/// Variables that name a proxy for downloads.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// One run of an installer.
pub(super) struct Job<'a> {
    /// The environment.
    pub(super) name: &'a str,
    /// What it does, for people: `installing fastapi<0.130`.
    pub(super) step: String,
    /// Name of its log, without ending.
    pub(super) log: &'static str,
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// On top of skewlab's own environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: &'a Path,
}

/// How long one program may work. A download that stands still is given up by its installer much earlier.
const LIMIT: Duration = Duration::from_mins(30);

/// What came of it, when it ended at all.
pub(super) struct Ended {
    pub(super) well: bool,
    pub(super) how: String,
    pub(super) log: PathBuf,
    pub(super) output: String,
}

impl Workshop<'_> {
    /// Runs an installer to its end, which must be a good one.
    pub(super) async fn install(&mut self, job: Job<'_>) -> Result<(), EnvError> {
        let (name, step) = (job.name.to_owned(), job.step.clone());
        let ended = self.run(job).await?;
        if ended.well {
            return Ok(());
        }
        let mut said = shortened(&ended.output);
        if is_of_the_network(&ended.output) {
            said.extend(proxy());
        }
        Err(EnvError::Installer { name, step, how: ended.how, said, log: ended.log })
    }

    /// Runs a program to its end. Only a full disk is an error here; the rest is for the caller to judge.
    pub(super) async fn run(&mut self, job: Job<'_>) -> Result<Ended, EnvError> {
        self.steps.step(job.name, &job.step);
        let log = self.cache.logs(job.name).join(format!("{}.log", job.log));
        let mut env: Vec<(OsString, OsString)> =
            std::env::vars_os().filter(|(name, _)| !NOT_INHERITED.iter().any(|not| name == not)).collect();
        env.push(("NO_COLOR".into(), "1".into()));
        env.extend(job.env);
        let fault = |error: std::io::Error| EnvError::Io { path: job.program.clone(), error };
        let launch = Launch {
            what: job.step,
            program: job.program.clone(),
            args: job.args,
            env,
            cwd: job.cwd.to_owned(),
            log: log.clone(),
            mark: None,
        };
        let warden = warden_program().map_err(fault)?;
        let mut running =
            launch.start(&warden).map_err(|error| fault(std::io::Error::other(error.to_string())))?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = running.exited() {
                break Some(status);
            }
            if begun.elapsed() > LIMIT {
                running.stop().await;
                break None;
            }
            tokio::time::sleep(PAUSE).await;
            self.steps.tick(running.last_lines().last().map(String::as_str));
        };
        let output = settled(&log).await;
        if is_of_the_disk(&output) {
            return Err(EnvError::Full { name: job.name.to_owned(), path: self.cache.root().to_owned() });
        }
        let how = status
            .map_or_else(|| format!("no end within {} s", LIMIT.as_secs()), |status| status.to_string());
        Ok(Ended { well: status.is_some_and(|status| status.success()), how, log, output })
    }
}

/// The log, once its last lines have come through the pipe.
async fn settled(log: &Path) -> String {
    let mut before = None;
    loop {
        tokio::time::sleep(PAUSE / 2).await;
        let now = std::fs::read(log).unwrap_or_default();
        if before.as_ref() == Some(&now) {
            return String::from_utf8_lossy(&now).into_owned();
        }
        before = Some(now);
    }
}

/// The lines of an installer's output that say what went wrong: from its first word of an error on.
pub(super) fn shortened(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let fault = |line: &&str| {
        let line = line.trim_start().to_lowercase();
        ["error", "× ", "npm error", "npm err!", "fatal", "traceback"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let end = lines.len().saturating_sub(SHOWN);
    let first = lines.iter().position(fault).unwrap_or(end);
    // A traceback says at its end what it is about.
    let first = if lines.get(first).is_some_and(|line| line.starts_with("Traceback")) {
        first.max(end)
    } else {
        first
    };
    let shown = lines.iter().skip(first).take(SHOWN).map(|line| line.chars().take(300).collect());
    let mut shown: Vec<String> = shown.collect();
    let left = lines.len().saturating_sub(first + shown.len());
    if left > 0 {
        shown.push(format!("… and {left} more lines"));
    }
    if shown.is_empty() { vec!["it wrote nothing".to_owned()] } else { shown }
}

fn is_of_the_disk(output: &str) -> bool {
    ["No space left on device", "os error 28", "ENOSPC", "Disk quota exceeded"]
        .iter()
        .any(|w| output.contains(w))
}

pub(super) fn is_of_the_network(output: &str) -> bool {
    let output = output.to_lowercase();
    ["proxy", "tunnel", "connect", "econn", "dns", "timed out", "network"].iter().any(|w| output.contains(w))
}

/// A line on the proxy that downloads go through, without what may be a password.
pub(super) fn proxy() -> Option<String> {
    let (name, value) = PROXIES.iter().find_map(|name| Some((name, std::env::var(name).ok()?)))?;
    let place = value.rsplit_once('@').map_or(value.as_str(), |(_, place)| place);
    (!place.is_empty())
        .then(|| format!("{name} is set: downloads go through {place}, which may not let them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_shown_from_its_first_word_on_and_not_whole() {
        let mut output =
            "Using Python 3.12.1\nResolved 3 packages\n\nerror: Failed to install: a.whl\n".to_owned();
        output.push_str("  Caused by: not a zip\n");
        assert_eq!(shortened(&output), ["error: Failed to install: a.whl", "  Caused by: not a zip"]);
        output.push_str(&"more\n".repeat(40));
        let shown = shortened(&output);
        assert_eq!((shown.len(), shown[12].as_str()), (13, "… and 30 more lines"));
        assert_eq!(shortened("\n"), ["it wrote nothing"]);
        let trace = format!("Traceback (most recent call last):\n{}NameError: x\n", "  File\n".repeat(20));
        assert_eq!(shortened(&trace).last().map(String::as_str), Some("NameError: x"));
        let plain = "a\n".repeat(20) + "b\n";
        assert_eq!(shortened(&plain).last().map(String::as_str), Some("b"));
    }
}
