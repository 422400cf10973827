//! What all live cells of a run share: the model, the clock, our programs inside foreign processes, and a folder.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::live::clock::RunClock;
use crate::live::drivers::{self, Drivers};
use crate::live::model::{Failure, Model, Part, Reply};
use crate::live::process::warden_program;
use crate::record::observation::Piece;
use crate::run::CellFault;
use crate::scenario::{Does, Workload};

/// Silence between the last token and the end of the stream in front of a browser, so that what the chat showed before
/// the reply is told from what it shows because of it. Old front ends were seen to draw for 1.3 s on a busy machine.
pub(in crate::run) const BROWSER_TAIL: Duration = Duration::from_secs(2);

/// The name of the model; litellm takes it as one that speaks chat completions.
pub(in crate::run) const MODEL: &str = "openai/fake";

/// What all cells share.
#[derive(Debug)]
pub(in crate::run) struct Rig {
    pub(in crate::run) clock: RunClock,
    pub(in crate::run) model: Model,
    pub(in crate::run) drivers: Drivers,
    pub(in crate::run) warden: PathBuf,
    /// Everything that the parties write; the caller's to remove.
    pub(in crate::run) folder: PathBuf,
    /// Session API key of every server.
    pub(in crate::run) key: String,
    pub(in crate::run) chromium: Option<PathBuf>,
}

impl Rig {
    pub(in crate::run) async fn start(folder: PathBuf, chromium: Option<PathBuf>) -> Result<Rig, CellFault> {
        let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
        std::fs::create_dir_all(&folder).map_err(|e| setup(&format!("{}: {e}", folder.display())))?;
        let folder = folder.canonicalize().map_err(|e| setup(&format!("{}: {e}", folder.display())))?;
        let drivers = drivers::unpack(&folder.join("drivers")).map_err(|e| setup(&e))?;
        let model = Model::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.map_err(|e| setup(&e))?;
        // Servers that name a conversation ask without a marker.
        model.set_default(Reply::short("A title")).map_err(|e| setup(&e))?;
        let warden = warden_program().map_err(|e| setup(&e))?;
        Ok(Rig { clock: RunClock::start(), model, drivers, warden, folder, key: "rig".to_owned(), chromium })
    }

    /// Has the model answer a message with that tag as the workload says, and returns the message.
    pub(in crate::run) fn rehearse(
        &self,
        tag: &str,
        load: &Workload,
        tail: Duration,
    ) -> Result<String, CellFault> {
        let reply = reply(load, tail);
        self.model.register(tag, reply).map_err(|e| CellFault::Setup(e.to_string()))?;
        Ok(format!("{} {}", load.user, Model::marker(tag)))
    }

    /// Whether the model was asked under that tag.
    pub(in crate::run) fn asked(&self, tag: &str) -> bool {
        self.model.streamed(tag).is_some_and(|streamed| streamed.requests > 0)
    }

    /// The chunks that the model sent under that tag.
    pub(in crate::run) fn sent(&self, tag: &str) -> Vec<Vec<Piece>> {
        let Some(streamed) = self.model.streamed(tag) else { return Vec::new() };
        let mut pieces = streamed.produced.into_iter();
        streamed.parts.iter().map(|part| pieces.by_ref().take(part.pieces).collect()).collect()
    }
}

/// A workload as the model's answer: after a tool call the rest is its answer to the tool's result.
pub fn reply(load: &Workload, tail: Duration) -> Reply {
    let mut answers: Vec<Vec<Part>> = vec![Vec::new()];
    let mut add = |part: Part, ends: bool| {
        if let Some(parts) = answers.last_mut() {
            parts.push(part);
        }
        if ends {
            answers.push(Vec::new());
        }
    };
    for place in 0..=load.tokens.len() {
        for aside in load.asides.iter().filter(|aside| aside.before == place) {
            match aside.what.clone() {
                Does::Stall(time) => add(Part::Stall(time), false),
                Does::Tool { name, arguments } => add(Part::ToolCall { name, arguments }, true),
                Does::Fail { status: Some(status), message } => {
                    add(Part::Error(Failure::Status { status, message }), false);
                }
                Does::Fail { status: None, message } => add(Part::Error(Failure::InStream(message)), false),
            }
        }
        if let Some(token) = load.tokens.get(place) {
            add(Part::Delta { text: token.text.clone(), reasoning: token.reasoning.clone() }, false);
        }
    }
    // A workload is exactly what the model streams: the chunk with the role is one of its tokens, or there is none.
    let one = |parts: Vec<Part>, then: Option<Reply>| Reply {
        parts,
        rate: load.rate,
        tail,
        role_chunk: false,
        chunk_bytes: load.chunk_bytes,
        then: then.map(Box::new),
        ..Reply::default()
    };
    answers.into_iter().rev().fold(None, |then, parts| Some(one(parts, then))).unwrap_or_default()
}

/// How long a workload streams.
pub(in crate::run) fn length(load: &Workload) -> Duration {
    let tokens = u32::try_from(load.tokens.len()).unwrap_or(u32::MAX);
    let stalled: Duration = load.stalls().into_iter().map(|(_, time)| time).sum();
    Duration::from_secs_f64(f64::from(tokens) / load.rate.max(1e-6)).saturating_add(stalled)
}
