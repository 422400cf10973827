//! What every live bench stands on: a model, a folder, and released servers that are up before anything is measured.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::LiveBenchError;
use crate::live::drivers;
use crate::live::model::{Model, Part, Reply};
use crate::live::process::warden_program;
use crate::live::rest::status;
use crate::live::server::{LiveServer, ServerSpec};
use crate::run::live::PythonPackage;
use crate::wire::numbered;

/// The name of the model; litellm takes it as one that speaks chat completions.
const MODEL: &str = "openai/fake";

/// Session API key of every server here.
pub(super) const KEY: &str = "rig";

/// How much longer than its script a turn may take.
const SLACK: Duration = Duration::from_mins(1);

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A released server that takes part.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its name as it was asked for.
    pub name: String,
    /// Its package.
    pub package: PythonPackage,
}

/// The model and the folder.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) model: Model,
    warden: PathBuf,
    folder: PathBuf,
}

/// A server that is up.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) name: String,
    pub(super) server: LiveServer,
}

impl Stage {
    pub(super) async fn open(folder: &Path) -> Result<Stage, LiveBenchError> {
        let start = |e: &dyn std::fmt::Display| LiveBenchError::Start(format!("{}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(|e| start(&e))?;
        let folder = folder.canonicalize().map_err(|e| start(&e))?;
        let model = Model::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        model.set_default(Reply::short("A title"))?;
        let warden = warden_program().map_err(|e| LiveBenchError::Start(e.to_string()))?;
        Ok(Stage { model, warden, folder })
    }

    /// Starts a server without a webhook: a sink is a subscriber too.
    pub(super) async fn start(&self, subject: &Subject) -> Result<Up, LiveBenchError> {
        let stages = match &subject.package.stages {
            Some(stages) => Some((drivers::unpack(&self.folder.join("drivers"))?.stages, stages.clone())),
            None => None,
        };
        let spec = ServerSpec {
            release: subject.name.clone(),
            python: subject.package.python.clone(),
            overlay: subject.package.overlay.clone(),
            stages,
            folder: self.folder.join(format!("server-{}", subject.name)),
            key: KEY.to_owned(),
            webhooks: Vec::new(),
            port: 0,
        };
        let server = LiveServer::start(spec, &self.warden).await?;
        Ok(Up { name: subject.name.clone(), server })
    }

    /// Opens a conversation on a server.
    pub(super) async fn conversation(&self, up: &Up) -> Result<String, LiveBenchError> {
        let folder = up.server.workspace.display().to_string();
        let made = up.server.rest.create(&self.model.base_url(), MODEL, &folder).await;
        made.map_err(|error| up.failed(error))
    }

    /// Has the model answer `tag` with numbered tokens from `first` on.
    pub(super) fn rehearse(
        &self,
        tag: &str,
        first: u64,
        tokens: u32,
        rate: f64,
    ) -> Result<(), LiveBenchError> {
        let parts = (first..).take(tokens as usize).map(|n| Part::text(numbered::text(n, 0))).collect();
        self.model.register(tag, Reply { parts, rate, role_chunk: false, ..Reply::default() })?;
        Ok(())
    }

    /// Says what starts the turn of that tag.
    pub(super) async fn say(&self, up: &Up, conversation: &str, tag: &str) -> Result<(), LiveBenchError> {
        let text = format!("go {}", Model::marker(tag));
        up.server.rest.say(conversation, &text).await.map_err(|error| up.failed(error))
    }

    /// Waits until the model has said all of a tag. Nothing is asked of the server, which is being measured.
    pub(super) async fn said(
        &self,
        up: &Up,
        tag: &str,
        tokens: u32,
        rate: f64,
    ) -> Result<(), LiveBenchError> {
        let within = Duration::from_secs_f64(f64::from(tokens) / rate).saturating_add(SLACK);
        let deadline = Instant::now() + within;
        while self.model.streamed(tag).is_none_or(|streamed| streamed.finished == 0) {
            if Instant::now() > deadline {
                return Err(up.too_long(tokens, within));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}

impl Up {
    pub(super) fn failed(&self, error: crate::live::rest::RestError) -> LiveBenchError {
        LiveBenchError::Rest { server: self.name.clone(), error }
    }

    /// An answer without what is looked for in it.
    pub(super) fn lacks(&self, place: &str, field: &'static str, said: &serde_json::Value) -> LiveBenchError {
        let said = said.to_string().chars().take(300).collect();
        LiveBenchError::Lacks { server: self.name.clone(), place: place.to_owned(), field, said }
    }

    fn too_long(&self, tokens: u32, within: Duration) -> LiveBenchError {
        LiveBenchError::Turn { server: self.name.clone(), tokens, within: within.as_secs() }
    }

    /// CPU of its process so far.
    pub(super) fn cpu(&self) -> Result<Duration, LiveBenchError> {
        let cpu = self.server.pid().and_then(crate::probe::process::cpu);
        cpu.ok_or_else(|| LiveBenchError::Gone { server: self.name.clone() })
    }

    /// Waits until the server says that the turn is over.
    pub(super) async fn over(&self, conversation: &str, tokens: u32) -> Result<(), LiveBenchError> {
        let deadline = Instant::now() + SLACK;
        loop {
            let now = self.server.rest.conversation(conversation).await.map_err(|e| self.failed(e))?;
            if !matches!(status(&now), "running" | "idle") {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(self.too_long(tokens, SLACK));
            }
            sleep(LOOK_EVERY).await;
        }
    }
}
