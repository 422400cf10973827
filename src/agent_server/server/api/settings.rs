//! `/api/settings`, `/api/profiles`, `/api/agent-profiles` and `/api/auth`: what a front end asks before it shows
//! anything.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::error::ApiError;
use super::{Asked, Reply, empty, json_reply, ok};
use crate::agent_server::server::settings::{AGENT_PROFILE, Refusal};
use crate::agent_server::server::{Inner, lock};

pub(super) fn answer(server: &Arc<Inner>, asked: &Asked, path: &[&str]) -> Result<Reply, ApiError> {
    let mut settings = lock(&server.settings);
    Ok(match (&asked.method, path) {
        (&Method::GET, ["settings"]) => ok(&settings.shown()),
        (&Method::PATCH, ["settings"]) => {
            settings.patch(&asked.json()?).map_err(refused)?;
            ok(&settings.shown())
        }
        // The values of secrets are for tools, and a script calls none: none are kept.
        (&Method::GET, ["settings", "secrets"]) => ok(&json!({"secrets": []})),
        (&Method::GET, ["profiles"]) => ok(&settings.profiles()),
        (&Method::GET, ["profiles", name]) => ok(&settings.profile_shown(name).map_err(refused)?),
        (&Method::POST, ["profiles", name]) => {
            let llm = asked.json()?.get("llm").cloned().unwrap_or_default();
            if !llm["model"].is_string() {
                return Err(ApiError::unusable("body", "llm", "the name of its model is expected"));
            }
            settings.save(name, llm);
            json_reply(StatusCode::CREATED, &said(name, "saved"))
        }
        (&Method::DELETE, ["profiles", name]) => {
            settings.delete(name).map_err(refused)?;
            ok(&said(name, "deleted"))
        }
        (&Method::POST, ["profiles", name, "activate"]) => {
            settings.activate(name).map_err(refused)?;
            let mut answer = said(name, "activated and applied to current settings");
            answer["llm_applied"] = true.into();
            ok(&answer)
        }
        (&Method::GET, ["agent-profiles"]) => ok(&json!({
            "profiles": [{
                "id": AGENT_PROFILE,
                "name": "default",
                "agent_kind": "openhands",
                "revision": 0,
                "llm_profile_ref": "default",
                "mcp_server_refs": null,
            }],
            "active_agent_profile_id": AGENT_PROFILE,
        })),
        // The cookie that it would set is for files of the workspace, of which there are none.
        (&Method::POST | &Method::DELETE, ["auth", "workspace-session"]) => empty(StatusCode::NO_CONTENT),
        _ => return Err(ApiError::NoPath),
    })
}

fn said(name: &str, what: &str) -> Value {
    json!({"name": name, "message": format!("Profile '{name}' {what}")})
}

fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::NoProfile(name) => ApiError::NotFound(format!("Profile '{name}' not found")),
        Refusal::Nothing => ApiError::BadRequest(
            "At least one of agent_settings_diff, conversation_settings_diff, misc_settings_diff or active_profile must \
             be provided",
        ),
    }
}
