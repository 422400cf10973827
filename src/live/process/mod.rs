//! Child processes that do not outlive skewlab, whatever ends it.
//!
//! A child is started by a *warden*: this program once more, as `skewlab warden -- PROGRAM ARGS`, in a process group of
//! its own. The warden watches whoever started it and ends the group when that is gone, which no destructor of a killed
//! process could do. Output is drained by skewlab; the end of it is kept for error messages, the whole goes to a log.

mod tail;
mod warden;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use tail::Tail;
pub use warden::{WARDEN, keep_watch};

/// Lines of a child that wait for whoever reads them. A driver that says more is held up, not lost.
const WAITING_LINES: usize = 64 * 1024;

/// How long a child may take to end after it was asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A child process that could not be started, or did not do what it was started for.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program is not there or may not be run.
    #[error("cannot start {}: {error}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Its log cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It ended, or closed its input, before it was asked to.
    #[error("{what} ended {how}{}", last_words(said))]
    Ended {
        /// What it is to skewlab: `agent-server 1.58.2`.
        what: String,
        /// `with exit status 1`, say.
        how: String,
        /// The last lines that it wrote.
        said: Vec<String>,
    },
}

/// The last lines as the end of an error message.
fn last_words(said: &[String]) -> String {
    match said {
        [] => ", and wrote nothing".to_owned(),
        lines => format!("; its last lines:\n  {}", lines.join("\n  ")),
    }
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What it is to skewlab, for messages.
    pub what: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Where everything that it writes goes.
    pub log: PathBuf,
    /// Lines of its standard output that begin with this are handed to [`Running::line`] without it; the rest is log.
    pub mark: Option<&'static str>,
}

/// A child under its warden. Dropping it kills the whole group.
#[derive(Debug)]
pub struct Running {
    what: String,
    warden: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    tail: Arc<Mutex<Tail>>,
}

impl Launch {
    /// Starts it under a warden. `warden` is the skewlab program; see [`warden_program`].
    pub fn start(self, warden: &Path) -> Result<Running, ProcessError> {
        let log =
            Tail::create(&self.log).map_err(|error| ProcessError::Log { path: self.log.clone(), error })?;
        let failed = |error| ProcessError::Start { program: self.program.clone(), error };
        // The warden would report a missing program as an end of the child; better to say it at once.
        if self.program.is_absolute() {
            std::fs::metadata(&self.program).map_err(failed)?;
        }
        let mut command = Command::new(warden);
        command.arg(WARDEN).arg(std::process::id().to_string()).arg("--").arg(&self.program).args(&self.args);
        command.env_clear().envs(self.env.iter().cloned()).current_dir(&self.cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = pid.ok_or_else(|| failed(std::io::Error::other("it ended at once")))?;
        let tail = Arc::new(Mutex::new(log));
        let (sender, lines) = mpsc::channel(WAITING_LINES);
        if let Some(out) = child.stdout.take() {
            tokio::spawn(drain(out, tail.clone(), self.mark.map(|mark| (mark, sender))));
        }
        if let Some(err) = child.stderr.take() {
            tokio::spawn(drain(err, tail.clone(), None));
        }
        let stdin = child.stdin.take();
        Ok(Running { what: self.what, warden: child, group, stdin, lines, tail })
    }
}

/// The skewlab program, which the warden is: this one, or for a test that links the library what `SKEWLAB_WARDEN` names.
pub fn warden_program() -> std::io::Result<PathBuf> {
    match std::env::var_os("SKEWLAB_WARDEN") {
        Some(path) => Ok(path.into()),
        None => std::env::current_exe(),
    }
}

/// Reads to the end, so that no child ever waits for a full pipe.
async fn drain(
    from: impl AsyncRead + Unpin,
    tail: Arc<Mutex<Tail>>,
    marked: Option<(&'static str, mpsc::Sender<String>)>,
) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await.is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        match marked.as_ref().and_then(|(mark, sender)| Some((text.strip_prefix(mark)?, sender))) {
            // Nobody listens any more when the child is being dropped.
            Some((said, sender)) => drop(sender.send(said.to_owned()).await),
            None => tail.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write(text),
        }
        line.clear();
    }
}

impl Running {
    /// The process group, for looking.
    pub fn group(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// Process id of the child itself, below the warden; `None` when it is gone.
    pub fn child(&self) -> Option<u32> {
        let group = self.group();
        let path = format!("/proc/{group}/task/{group}/children");
        std::fs::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
    }

    /// The next marked line; `None` when the child has closed its output.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Writes one line to the child's standard input.
    pub async fn tell(&mut self, line: &str) -> Result<(), ProcessError> {
        let told = match &mut self.stdin {
            Some(stdin) => match stdin.write_all(format!("{line}\n").as_bytes()).await {
                Ok(()) => stdin.flush().await.is_ok(),
                Err(_) => false,
            },
            None => false,
        };
        if told { Ok(()) } else { Err(self.ended().await) }
    }

    /// Whether it has ended, and how.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.warden.try_wait().ok().flatten()
    }

    /// The error that says how it ended and what it wrote last.
    pub async fn ended(&mut self) -> ProcessError {
        let how = match timeout(GRACE, self.warden.wait()).await {
            Ok(Ok(status)) => format!("with {status}"),
            Ok(Err(error)) => format!("in a way that nobody saw ({error})"),
            Err(_) => "without ending: it closed its input".to_owned(),
        };
        ProcessError::Ended { what: self.what.clone(), how, said: self.last_lines() }
    }

    /// The last lines that it wrote and that were not marked.
    pub fn last_lines(&self) -> Vec<String> {
        self.tail.lock().unwrap_or_else(std::sync::PoisonError::into_inner).last()
    }

    /// Asks the group to end, and kills it when it does not.
    pub async fn stop(mut self) {
        drop(self.stdin.take());
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = timeout(GRACE, self.warden.wait()).await;
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A group that is gone already is what was wanted.
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}
