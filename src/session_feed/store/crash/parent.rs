//! The side that kills.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::super::load::{LoadError, Loaded, load};
use super::Told;

/// The word on the command line that makes this program a writer: `skewlab feed-writer FILE`. It is in no help text: nobody
/// but skewlab starts one.
pub const FEED_WRITER: &str = "feed-writer";

/// How long a writer may take to stop where its plan says.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long a writer that has closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// When a writer is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kill {
    /// Once it has stopped where its plan says.
    WhenStopped,
    /// So long after it was started, wherever it is.
    After(Duration),
}

/// What a killed writer left, and what it had said.
#[derive(Debug)]
pub struct Survived {
    /// Events that it said it had appended.
    pub appended: u64,
    /// Events that it said were durable.
    pub durable: u64,
    /// What is in its file; none if there is no file, as nothing was ever durable.
    pub loaded: Option<Loaded>,
}

/// A crash that did not happen as it should.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// The writer cannot be started.
    #[error("cannot start {}: {error}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It ended by itself.
    #[error("the writer of {} ended by itself, {how}: {said}", file.display())]
    Ended {
        /// Its file.
        file: PathBuf,
        /// How: `exit status: 1`.
        how: String,
        /// What it wrote to standard error.
        said: String,
    },
    /// It closed its output and never said that it had stopped where its plan says.
    #[error("the writer of {} closed its output before it had stopped: {said}", file.display())]
    Silent {
        /// Its file.
        file: PathBuf,
        /// What it wrote to standard error.
        said: String,
    },
    /// It did not stop in time.
    #[error("the writer of {} did not stop within {} s", file.display(), PATIENCE.as_secs())]
    Slow {
        /// Its file.
        file: PathBuf,
    },
    /// It was killed, and its file is no log any more.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Starts `program`, which is skewlab, as a writer of the new file `file` by a plan of one line, ends it with SIGKILL and loads
/// what it left.
pub(in crate::session_feed) fn killed_child(
    program: &Path,
    plan: &str,
    file: &Path,
    kill: Kill,
) -> Result<Survived, CrashError> {
    let start = |error| CrashError::Start { program: program.to_owned(), error };
    let mut command = Command::new(program);
    command.arg(FEED_WRITER).arg(file).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(start)?;
    let told = listen(&mut child);
    // It waits at the end of its input, so the pipe stays open until it is dead. One that has ended has closed it.
    let stdin = child.stdin.take().map(|mut stdin| (writeln!(stdin, "{plan}"), stdin));
    let (patience, wait) = match kill {
        Kill::WhenStopped => (PATIENCE, true),
        Kill::After(time) => (time, false),
    };
    let stopped = told.stopped.recv_timeout(patience);
    // Whoever ends by himself closes his output first. He is given the time to, so that the error can say how he ended.
    if stopped == Err(RecvTimeoutError::Disconnected) {
        let since = Instant::now();
        while since.elapsed() < LAST_BREATH && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let killed = child.kill().and_then(|()| child.wait());
    drop(stdin);
    let (appended, durable) = told.last.recv().unwrap_or_default();
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    match killed {
        Ok(status) if status.signal() == Some(Signal::KILL.as_raw()) => {}
        ended => {
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(CrashError::Ended { file: file.to_owned(), how, said: said.trim().to_owned() });
        }
    }
    // Where it has to stop first, nothing but its own word that it has will do: what is in the file of one that was killed
    // anywhere else is no evidence.
    match stopped {
        Err(RecvTimeoutError::Timeout) if wait => return Err(CrashError::Slow { file: file.to_owned() }),
        Err(RecvTimeoutError::Disconnected) if wait => {
            return Err(CrashError::Silent { file: file.to_owned(), said: said.trim().to_owned() });
        }
        _ => {}
    }
    let loaded = if file.exists() { Some(load(file)?) } else { None };
    Ok(Survived { appended, durable, loaded })
}

/// What a thread that reads a writer's output hands over.
struct Listening {
    /// That it stopped; closed when its output is.
    stopped: mpsc::Receiver<()>,
    /// The last it said of what is appended and what is durable.
    last: mpsc::Receiver<(u64, u64)>,
}

fn listen(child: &mut Child) -> Listening {
    let (stop, stopped) = mpsc::channel();
    let (end, last) = mpsc::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let (mut appended, mut durable) = (0_u64, 0_u64);
        // Of a line that the kill has cut, the number may be smaller than it was to be.
        for line in stdout.into_iter().flat_map(|out| BufReader::new(out).split(b'\n')).map_while(Result::ok)
        {
            match str::from_utf8(&line).ok().and_then(Told::read) {
                Some(Told::Appended(n)) => appended = n.max(appended),
                Some(Told::Durable(n)) => durable = n.max(durable),
                Some(Told::Stopped) => drop(stop.send(())),
                None => {}
            }
        }
        drop(stop);
        let _ = end.send((appended, durable));
    });
    Listening { stopped, last }
}
