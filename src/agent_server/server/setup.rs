//! What a conversation was created with, as far as clients read it back. The model that answers is the script all the
//! same: an agent and its tools are kept, shown, and never run.

use serde_json::{Map, Value, json};

/// Fields of a create request (`POST /api/conversations`) that the conversation's state carries on (read in 1.30.0 and
/// 1.58.2).
const KEPT: [&str; 11] = [
    "agent",
    "workspace",
    "max_iterations",
    "stuck_detection",
    "confirmation_policy",
    "security_analyzer",
    "hook_config",
    "tags",
    "client_tools",
    "tool_module_qualnames",
    "user_id",
];

/// Fields of an agent, at any depth, that never leave the server.
const SECRET: [&str; 4] = ["api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/// The state that a conversation has from its creation, and that its own endpoints change.
#[derive(Debug, Clone)]
pub(super) struct Setup(Map<String, Value>);

impl Default for Setup {
    fn default() -> Setup {
        let Value::Object(fields) = json!({
            "agent": {
                "llm": {"model": "skewlab/script", "api_key": "-", "stream": true, "usage_id": "agent"},
                "tools": [],
                "include_default_tools": ["FinishTool", "ThinkTool"],
                "kind": "Agent",
            },
            "workspace": {"working_dir": "/workspace", "kind": "LocalWorkspace"},
            "max_iterations": 500,
            "stuck_detection": true,
            "confirmation_policy": {"kind": "NeverConfirm"},
            "tags": {},
        }) else {
            return Setup(Map::new());
        };
        Setup(fields)
    }
}

impl Setup {
    /// Reads a create request. The error is the name of the field that is missing or not an object.
    pub(super) fn read(request: &Value) -> Result<Setup, &'static str> {
        if !request["workspace"].is_object() {
            return Err("workspace");
        }
        let mut setup = Setup::default();
        for field in KEPT {
            match request.get(field) {
                None | Some(Value::Null) => {}
                Some(value) => setup.set(field, value.clone()),
            }
        }
        // A front end sends its settings and lets the server make the agent of them.
        if let (None | Some(Value::Null), Some(Value::Object(settings))) =
            (request.get("agent"), request.get("agent_settings"))
        {
            let mut agent = setup.0.get("agent").cloned().unwrap_or_default();
            for field in ["llm", "tools", "condenser"] {
                if let Some(value) = settings.get(field).filter(|v| !v.is_null()) {
                    agent[field] = value.clone();
                }
            }
            setup.set("agent", agent);
        }
        if !setup.0.get("agent").is_some_and(Value::is_object) {
            return Err("agent");
        }
        Ok(setup)
    }

    /// Changes a field.
    pub(super) fn set(&mut self, field: &str, value: Value) {
        self.0.insert(field.to_owned(), value);
    }

    /// The fields, with `mask` in place of every secret.
    pub(super) fn shown(&self, mask: &Value) -> Map<String, Value> {
        let mut fields = self.0.clone();
        fields.values_mut().for_each(|value| hide(value, mask));
        fields
    }
}

fn hide(value: &mut Value, mask: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if SECRET.contains(&name.as_str()) && value.is_string() {
                    *value = mask.clone();
                } else {
                    hide(value, mask);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, mask)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_kept_and_its_key_is_not_shown() {
        let request = json!({
            "agent": {"kind": "Agent", "llm": {"model": "m", "api_key": "sk-x"}, "tools": [{"params": {"api_key": "y"}}]},
            "workspace": {"working_dir": "/w"},
            "max_iterations": 5,
            "confirmation_policy": null,
            "observability_tags": ["not kept"],
        });
        let setup = Setup::read(&request).unwrap();
        let shown = setup.shown(&Value::Null);
        assert_eq!(shown["agent"]["llm"], json!({"model": "m", "api_key": null}));
        assert_eq!(shown["agent"]["tools"][0]["params"]["api_key"], Value::Null);
        assert_eq!((&shown["max_iterations"], &shown["stuck_detection"]), (&json!(5), &json!(true)));
        assert_eq!(shown["confirmation_policy"]["kind"], "NeverConfirm");
        assert!(!shown.contains_key("observability_tags"));
        assert_eq!(setup.shown(&"**********".into())["agent"]["llm"]["api_key"], "**********");
    }

    #[test]
    fn settings_make_an_agent() {
        let settings = json!({"agent_settings": {"llm": {"model": "m"}, "tools": null}, "workspace": {}});
        let shown = Setup::read(&settings).unwrap().shown(&Value::Null);
        assert_eq!(shown["agent"]["llm"]["model"], "m");
        assert_eq!((&shown["agent"]["kind"], &shown["agent"]["tools"]), (&json!("Agent"), &json!([])));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(Setup::read(&json!({})).err(), Some("workspace"));
        assert_eq!(Setup::read(&json!({"workspace": {}, "agent": 1})).err(), Some("agent"));
    }
}
