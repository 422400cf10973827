//! `skewlab model`: the fake model alone, for any client that speaks to an OpenAI-compatible provider.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::args::Model as ModelArgs;
use super::error::CliError;
use super::plan::catalogue;
use super::serve::workload;
use crate::agent_server::server::Finish;
use crate::judge::ExitCode;
use crate::live::model::{Model, Part, Reply};
use crate::scenario::Workload;

pub(super) fn run(args: &ModelArgs) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let reply = Reply {
        tail: args.tail,
        chunk_bytes: args.chunk_bytes,
        ..reply(&*workload(&args.script, &catalogue)?)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| CliError::Start(e.to_string()))?;
    runtime.block_on(async {
        let model = Model::start(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port))).await?;
        model.set_default(reply)?;
        model.take_orders();
        {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{}", model.base_url())?;
            out.flush()?;
        }
        tokio::signal::ctrl_c().await.map_err(|e| CliError::Start(e.to_string()))?;
        Ok(ExitCode::AllAsExpected)
    })
}

/// A workload as a reply of the model. A turn that ends with the finish tool ends with a call of it. As providers do, the
/// role is sent by itself.
fn reply(load: &Workload) -> Reply {
    let mut reply = Reply { role_chunk: true, ..crate::run::live::reply(load, Duration::ZERO) };
    if load.finish == Finish::FinishTool {
        let said: String = load.tokens.iter().filter_map(|t| t.text.as_deref()).collect();
        let arguments = serde_json::json!({"message": said}).to_string();
        reply.parts.push(Part::ToolCall { name: "finish".to_owned(), arguments });
    }
    reply
}

/// A silence on the command line: none is one.
pub(super) fn silence(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|fault| format!("no length of time ({fault}); write it as in 0s, 500ms or 2m"))
}
