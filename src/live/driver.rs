//! A released client library under a driver of ours: commands go in as lines, reports come out as marked lines.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::clock::RunClock;
use super::process::{Launch, ProcessError, Running};
use super::report::{MARK, Report, Said};

/// How long importing a package may take. On a busy machine without bytecode it was seen to take 54 s.
const IMPORT_WITHIN: Duration = Duration::from_mins(3);

/// How long leaving may take. The driver gives itself 10 s.
const LEAVE_WITHIN: Duration = Duration::from_secs(15);

/// A driver that did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// It could not be started, or ended.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It wrote a marked line that is no report.
    #[error("{what} wrote a line that is no report: {error}: {line}")]
    NoReport {
        /// The client.
        what: String,
        /// The line.
        line: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// It could not do what it was told.
    #[error("{what} could not do what it was told: {error}")]
    Refused {
        /// The client.
        what: String,
        /// Why.
        error: String,
    },
    /// It said nothing for too long.
    #[error("{what} hung: no {waited_for} within {within} s{said}")]
    Hung {
        /// The client.
        what: String,
        /// What it was to report.
        waited_for: &'static str,
        /// How long it was given, seconds.
        within: u64,
        /// Its last lines.
        said: String,
    },
}

/// What a client is told to attend.
#[derive(Debug, Clone)]
pub struct Attend<'a> {
    /// The cell.
    pub cell: &'a str,
    /// The server, or the tap before it.
    pub server: SocketAddr,
    /// Session API key.
    pub key: &'a str,
    /// Where the conversation may work.
    pub folder: &'a Path,
    /// Base URL of the model.
    pub model: &'a str,
    /// Name of the model.
    pub model_name: &'a str,
    /// The conversation to attend; `None` has the client open one, as an application does.
    pub conversation: Option<&'a str>,
}

/// A driver that is up.
#[derive(Debug)]
pub struct Driver {
    what: String,
    process: Running,
    clock: RunClock,
    /// Seconds to add to the driver's times to be on the run's clock.
    offset: f64,
    /// What the package says of itself.
    hello: Report,
}

/// How a driver is started: program, arguments, and the environment that it gets.
#[derive(Debug, Clone)]
pub struct DriverSpec {
    /// `python-1.58.2`, for messages.
    pub what: String,
    /// The interpreter.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// A folder of its own; made if it is not there.
    pub folder: PathBuf,
}

impl Driver {
    /// Starts it and waits until the package is imported.
    pub async fn start(spec: DriverSpec, warden: &Path, clock: RunClock) -> Result<Driver, DriverError> {
        let failed = |error| ProcessError::Log { path: spec.folder.clone(), error };
        std::fs::create_dir_all(&spec.folder).map_err(failed)?;
        let launch = Launch {
            what: spec.what.clone(),
            program: spec.program,
            args: spec.args,
            env: spec.env,
            cwd: spec.folder.clone(),
            log: spec.folder.join(format!("{}.log", spec.what)),
            mark: Some(MARK),
        };
        let process = launch.start(warden)?;
        let hello = Report::Hello {
            package: String::new(),
            version: String::new(),
            epoch: 0.0,
            import_s: None,
            stages: String::new(),
        };
        let mut driver = Driver { what: spec.what, process, clock, offset: 0.0, hello };
        let mut said = Vec::new();
        driver.until("hello", IMPORT_WITHIN, &mut said, |r| matches!(r, Report::Hello { .. })).await?;
        if let Some(Said { what: hello @ Report::Hello { epoch, .. }, .. }) = said.pop() {
            driver.offset = driver.clock.of_unix(epoch);
            driver.hello = hello;
        }
        Ok(driver)
    }

    /// Package and version, as the package itself says.
    pub fn package(&self) -> String {
        match &self.hello {
            Report::Hello { package, version, stages, .. } if stages.is_empty() => {
                format!("{package} {version}")
            }
            Report::Hello { package, version, stages, .. } => {
                format!("{package} {version} with stages {stages}")
            }
            _ => self.what.clone(),
        }
    }

    /// The driver's process, for its memory.
    pub fn pid(&self) -> Option<u32> {
        self.process.child()
    }

    /// Attends a conversation; the id of it once the client is ready, `None` when it could not. Reports are added to `said`.
    pub async fn attend(
        &mut self,
        attend: &Attend<'_>,
        within: Duration,
        said: &mut Vec<Said>,
    ) -> Result<Option<String>, DriverError> {
        let command = json!({
            "do": "attend", "cell": attend.cell, "url": format!("http://{}", attend.server), "key": attend.key,
            "workdir": attend.folder, "llm": attend.model, "model": attend.model_name, "conversation": attend.conversation,
        });
        self.tell(&command).await?;
        let done = |r: &Report| matches!(r, Report::Ready { .. } | Report::Failed { .. });
        self.until("ready client", within, said, done).await?;
        Ok(said.iter().rev().find_map(|s| match &s.what {
            Report::Ready { conversation } => Some(conversation.clone()),
            _ => None,
        }))
    }

    /// Says something and waits until the run returns or raises.
    pub async fn say(
        &mut self,
        cell: &str,
        text: &str,
        within: Duration,
        said: &mut Vec<Said>,
    ) -> Result<(), DriverError> {
        self.tell(&json!({"do": "say", "cell": cell, "text": text, "run": true})).await?;
        let done = |r: &Report| matches!(r, Report::Ran { .. } | Report::Raised { .. });
        self.until("end of the run", within, said, done).await
    }

    /// Collects what is reported within a time.
    pub async fn listen(&mut self, until: Instant, said: &mut Vec<Said>) -> Result<(), DriverError> {
        while let Ok(line) = timeout_at(until, self.process.line()).await {
            let Some(line) = line else { return Err(self.process.ended().await.into()) };
            said.push(self.read(&line)?);
        }
        Ok(())
    }

    /// Leaves the conversation.
    pub async fn leave(&mut self, cell: &str, said: &mut Vec<Said>) -> Result<(), DriverError> {
        self.tell(&json!({"do": "leave", "cell": cell})).await?;
        self.until("leave", LEAVE_WITHIN, said, |r| matches!(r, Report::Left { .. })).await
    }

    /// Tells it something.
    pub async fn tell(&mut self, command: &Value) -> Result<(), DriverError> {
        Ok(self.process.tell(&command.to_string()).await?)
    }

    /// Collects reports until one is `done`.
    pub async fn until(
        &mut self,
        waited_for: &'static str,
        within: Duration,
        said: &mut Vec<Said>,
        done: impl Fn(&Report) -> bool,
    ) -> Result<(), DriverError> {
        let deadline = Instant::now() + within;
        loop {
            let Ok(line) = timeout_at(deadline, self.process.line()).await else {
                let last = self.process.last_lines().join("\n  ");
                let said = if last.is_empty() { last } else { format!("; its last lines:\n  {last}") };
                return Err(DriverError::Hung {
                    what: self.what.clone(),
                    waited_for,
                    within: within.as_secs(),
                    said,
                });
            };
            let Some(line) = line else { return Err(self.process.ended().await.into()) };
            let report = self.read(&line)?;
            if let Report::Refused { error } = &report.what {
                return Err(DriverError::Refused { what: self.what.clone(), error: error.clone() });
            }
            let is_done = done(&report.what);
            said.push(report);
            if is_done {
                return Ok(());
            }
        }
    }

    fn read(&self, line: &str) -> Result<Said, DriverError> {
        let mut said: Said = serde_json::from_str(line).map_err(|error| DriverError::NoReport {
            what: self.what.clone(),
            line: line.chars().take(300).collect(),
            error,
        })?;
        said.at += self.offset;
        Ok(said)
    }

    /// Ends it.
    pub async fn stop(self) {
        self.process.stop().await;
    }
}
