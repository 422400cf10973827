//! A released agent-server as a child process: a folder, a home and a configuration of its own, on loopback.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use super::process::{Launch, ProcessError, Running};
use super::rest::Rest;

/// How long a server may take to answer for the first time. Without bytecode on a busy machine it is half a minute.
const UP_WITHIN: Duration = Duration::from_mins(2);

/// How often it is asked.
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// A server that did not come up.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Its folder cannot be made.
    #[error("cannot write {}: {error}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No port is free.
    #[error("no free port on 127.0.0.1: {0}")]
    Port(std::io::Error),
    /// It could not be started, or ended.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It runs and does not answer.
    #[error("{what} did not answer within {within} s; its log is {}{said}", log.display())]
    Silent {
        /// `agent-server 1.58.2`.
        what: String,
        /// How long it was given, seconds.
        within: u64,
        /// Its log.
        log: PathBuf,
        /// Its last lines.
        said: String,
    },
}

/// What to start.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// The release, for messages.
    pub release: String,
    /// The environment's Python.
    pub python: PathBuf,
    /// What is laid over its packages.
    pub overlay: Option<PathBuf>,
    /// The stage program and the stages that it lays over the package in memory.
    pub stages: Option<(PathBuf, String)>,
    /// The folder that it gets for itself; emptied first.
    pub folder: PathBuf,
    /// Session API key.
    pub key: String,
    /// Webhook base URLs.
    pub webhooks: Vec<String>,
    /// Port on loopback; 0 takes a free one.
    pub port: u16,
}

/// A server that answers.
#[derive(Debug)]
pub struct LiveServer {
    /// Its REST side.
    pub rest: Rest,
    /// Where conversations may work.
    pub workspace: PathBuf,
    process: Running,
}

impl LiveServer {
    /// Starts it and waits until it answers. `warden` is the skewlab program.
    pub async fn start(spec: ServerSpec, warden: &Path) -> Result<LiveServer, ServerError> {
        let began = Instant::now();
        let folder = Folder::make(&spec)?;
        let port = match spec.port {
            0 => free_port().map_err(ServerError::Port)?,
            port => port,
        };
        let what = format!("agent-server {}", spec.release);
        let log = spec.folder.join("server.log");
        let mut args: Vec<OsString> = Vec::new();
        if let Some((program, stages)) = &spec.stages {
            args.extend([program.into(), stages.into()]);
        }
        args.extend(["-m", "openhands.agent_server", "--host", "127.0.0.1", "--port"].map(OsString::from));
        args.push(port.to_string().into());
        let launch = Launch {
            what: what.clone(),
            program: spec.python.clone(),
            args,
            env: environment(&spec, &folder),
            cwd: spec.folder.clone(),
            log: log.clone(),
            mark: None,
        };
        let mut process = launch.start(warden)?;
        let rest = Rest { addr: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), key: spec.key.clone() };
        while !rest.healthy().await {
            if process.exited().is_some() {
                return Err(process.ended().await.into());
            }
            if began.elapsed() > UP_WITHIN {
                let said = process.last_lines().join("\n  ");
                let said = if said.is_empty() { said } else { format!("; its last lines:\n  {said}") };
                return Err(ServerError::Silent { what, within: UP_WITHIN.as_secs(), log, said });
            }
            sleep(ASKED_EVERY).await;
        }
        Ok(LiveServer { rest, workspace: folder.workspace, process })
    }

    /// The server's own process, for its CPU and memory.
    pub fn pid(&self) -> Option<u32> {
        self.process.child()
    }

    /// What it wrote last, if it is gone; `None` while it runs.
    pub fn last_words(&self) -> Option<Vec<String>> {
        self.process.child().is_none().then(|| self.process.last_lines())
    }

    /// Ends it.
    pub async fn stop(self) {
        self.process.stop().await;
    }
}

struct Folder {
    home: PathBuf,
    workspace: PathBuf,
    config: PathBuf,
}

impl Folder {
    fn make(spec: &ServerSpec) -> Result<Folder, ServerError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| ServerError::Folder { path, error }
        };
        // What an earlier server left there would be found by this one.
        if spec.folder.exists() {
            std::fs::remove_dir_all(&spec.folder).map_err(failed(&spec.folder))?;
        }
        let (home, workspace) = (spec.folder.join("home"), spec.folder.join("workspace"));
        for folder in [&home, &workspace] {
            std::fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let config = spec.folder.join("config.json");
        let webhooks: Vec<_> = spec.webhooks.iter().map(|url| json!({"base_url": url})).collect();
        let text = json!({
            "session_api_keys": [spec.key],
            "conversations_path": spec.folder.join("conversations"),
            "workspace_path": workspace,
            "bash_events_dir": spec.folder.join("bash"),
            "enable_vscode": false, "enable_vnc": false, "preload_tools": false,
            "webhooks": webhooks,
            "secret_key": "skewlab-skewlab-skewlab-skewlab-",
        });
        std::fs::write(&config, text.to_string()).map_err(failed(&config))?;
        Ok(Folder { home, workspace, config })
    }
}

/// The whole environment: nothing of the caller's, so that a run is the same on every machine.
fn environment(spec: &ServerSpec, folder: &Folder) -> Vec<(OsString, OsString)> {
    let mut env: Vec<(OsString, OsString)> = vec![
        // It needs git.
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), folder.home.clone().into()),
        ("OPENHANDS_AGENT_SERVER_CONFIG_PATH".into(), folder.config.clone().into()),
        // Else litellm fetches its price list, and waits for a network that is not there.
        ("LITELLM_LOCAL_MODEL_COST_MAP".into(), "True".into()),
        ("OPENHANDS_SUPPRESS_BANNER".into(), "1".into()),
        ("PYTHONUNBUFFERED".into(), "1".into()),
        ("LANG".into(), "C.UTF-8".into()),
    ];
    if let Some(overlay) = &spec.overlay {
        env.push(("PYTHONPATH".into(), overlay.into()));
    }
    env
}

/// A port that was free a moment ago.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
