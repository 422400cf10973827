//! What a front end asks about the machine around a conversation: models, files, skills, a shell.
//!
//! There is none of it here. Each answer is the real one of a server that has nothing to show (measured on 1.58.2), so
//! that a page comes up without an error on it; a command is refused the way a shell refuses one.

use std::sync::Arc;

use hyper::Method;
use serde_json::json;

use super::error::ApiError;
use super::{Asked, Reply, ok};
use crate::agent_server::server::Inner;

/// The exit status of a shell that does not find a command.
const NOT_FOUND: u8 = 127;

pub(super) fn answer(server: &Arc<Inner>, asked: &Asked, path: &[&str]) -> Result<Reply, ApiError> {
    Ok(match (&asked.method, path) {
        (&Method::GET, ["llm", "models"]) => ok(&json!({"models": ["skewlab/script"]})),
        (&Method::GET, ["llm", "models", "verified"]) => ok(&json!({"models": {"skewlab": ["script"]}})),
        (&Method::GET, ["llm", "providers"]) => ok(&json!({"providers": ["skewlab"]})),
        (&Method::GET, ["file", "home"]) => {
            ok(&json!({"home": "/workspace", "favorites": [], "locations": [{"label": "/", "path": "/"}]}))
        }
        (&Method::POST, ["skills"]) => {
            let none =
                json!({"sandbox": 0, "registered_marketplaces": 0, "sdk_base": 0, "org": 0, "project": 0});
            ok(&json!({"skills": [], "sources": none}))
        }
        (&Method::GET, ["workspaces"]) => ok(&json!({"workspaces": [], "workspaceParents": []})),
        (&Method::GET, ["canvas-extensions", "installed"]) => ok(&json!({"canvas_extensions": []})),
        (&Method::GET, ["git", "changes"]) => ok(&json!([])),
        (&Method::POST, ["bash", "execute_bash_command"]) => {
            let request = asked.json()?;
            let command = request["command"]
                .as_str()
                .ok_or_else(|| ApiError::unusable("body", "command", "a command is expected"))?;
            let word = command.split_whitespace().next().unwrap_or_default();
            // Bash events have ids without hyphens.
            let id = || server.next_id().replace('-', "");
            ok(&json!({
                "id": id(),
                "timestamp": server.clock.timestamp() + "Z",
                "command_id": id(),
                "order": 0,
                "exit_code": NOT_FOUND,
                "stdout": null,
                "stderr": format!("{word}: an emulated server runs no commands\n"),
                "kind": "BashOutput",
            }))
        }
        _ => return Err(ApiError::NoPath),
    })
}
