//! The settings that a front end reads before it shows anything: the person's own, and the profiles of models.
//!
//! They are kept and read back; a turn streams its script whatever they say. A new server is set up: it has an active
//! profile, and the person was asked about analytics and said no (there is nothing here that could send any).

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The one agent profile; its id never changes, so that the ids of a run do not depend on it.
pub(super) const AGENT_PROFILE: &str = "00000000-0000-4000-8000-0000000000a9";

/// What a request asked for cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No such profile.
    NoProfile(String),
    /// The request changes nothing.
    Nothing,
}

/// Settings and profiles of one server.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    agent: Value,
    conversation: Value,
    misc: Value,
    /// What each profile configures, by name.
    profiles: BTreeMap<String, Value>,
    active: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        let llm = json!({"model": "skewlab/script", "api_key": "-", "base_url": null, "stream": true});
        Settings {
            agent: json!({"agent_kind": "openhands", "agent": "CodeActAgent", "llm": llm, "mcp_config": {}}),
            conversation: json!({"max_iterations": 500, "confirmation_mode": false, "security_analyzer": "llm"}),
            misc: json!({"app_preferences": {"user_consents_to_analytics": false}}),
            profiles: BTreeMap::from([("default".to_owned(), llm)]),
            active: Some("default".to_owned()),
        }
    }
}

impl Settings {
    /// What `GET /api/settings` answers (shape measured on 1.58.2).
    pub(super) fn shown(&self) -> Value {
        let mut agent = self.agent.clone();
        let key = has_key(&agent["llm"]);
        agent["llm"]["api_key"] = if key { "**********".into() } else { Value::Null };
        json!({
            "agent_settings": agent,
            "conversation_settings": self.conversation,
            "llm_api_key_is_set": key,
            "active_profile": self.active,
            "active_agent_profile_id": AGENT_PROFILE,
            "misc_settings": self.misc,
        })
    }

    /// `PATCH /api/settings`: each difference is merged, nested objects too; a profile may be made the active one.
    pub(super) fn patch(&mut self, request: &Value) -> Result<(), Refusal> {
        let name = request.get("active_profile").and_then(Value::as_str);
        let targets = [
            ("agent_settings_diff", &mut self.agent),
            ("conversation_settings_diff", &mut self.conversation),
            ("misc_settings_diff", &mut self.misc),
        ];
        if name.is_none() && targets.iter().all(|(field, _)| !request[*field].is_object()) {
            return Err(Refusal::Nothing);
        }
        for (field, target) in targets {
            if request[field].is_object() {
                merge(target, &request[field]);
            }
        }
        name.map_or(Ok(()), |name| self.activate(name))
    }

    /// Makes a profile the active one; the agent gets its model.
    pub(super) fn activate(&mut self, name: &str) -> Result<(), Refusal> {
        self.agent["llm"] = self.profile(name)?.clone();
        self.active = Some(name.to_owned());
        Ok(())
    }

    /// Adds or replaces a profile.
    pub(super) fn save(&mut self, name: &str, llm: Value) {
        self.profiles.insert(name.to_owned(), llm);
    }

    /// Takes a profile away.
    pub(super) fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        self.profiles.remove(name).ok_or_else(|| Refusal::NoProfile(name.to_owned()))?;
        self.active.take_if(|active| active == name);
        Ok(())
    }

    /// What `GET /api/profiles` answers.
    pub(super) fn profiles(&self) -> Value {
        let listed = self.profiles.iter().map(|(name, llm)| {
            json!({
                "name": name,
                "model": llm["model"],
                "base_url": llm["base_url"],
                "provider_connection_id": null,
                "provider_connection_broken": false,
                "api_key_set": has_key(llm),
            })
        });
        json!({"profiles": listed.collect::<Value>(), "active_profile": self.active})
    }

    /// What `GET /api/profiles/{name}` answers.
    pub(super) fn profile_shown(&self, name: &str) -> Result<Value, Refusal> {
        let mut config = self.profile(name)?.clone();
        let key = has_key(&config);
        config["api_key"] = Value::Null;
        Ok(json!({"name": name, "config": config, "api_key_set": key}))
    }

    fn profile(&self, name: &str) -> Result<&Value, Refusal> {
        self.profiles.get(name).ok_or_else(|| Refusal::NoProfile(name.to_owned()))
    }
}

fn has_key(llm: &Value) -> bool {
    llm["api_key"].as_str().is_some_and(|key| !key.is_empty())
}

/// Lays `difference` over `target`, nested objects too.
fn merge(target: &mut Value, difference: &Value) {
    match (target, difference) {
        (Value::Object(target), Value::Object(difference)) => {
            for (name, value) in difference {
                merge(target.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (target, difference) => *target = difference.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_merged_and_leave_the_rest() {
        let mut settings = Settings::default();
        settings.patch(&json!({"misc_settings_diff": {"app_preferences": {"language": "de"}}})).unwrap();
        settings.patch(&json!({"agent_settings_diff": {"llm": {"api_key": ""}}})).unwrap();
        let shown = settings.shown();
        assert_eq!(
            shown["misc_settings"]["app_preferences"],
            json!({"user_consents_to_analytics": false, "language": "de"})
        );
        assert_eq!(
            (&shown["llm_api_key_is_set"], &shown["agent_settings"]["llm"]["stream"]),
            (&false.into(), &true.into())
        );
        assert_eq!(settings.patch(&json!({"other": 1})), Err(Refusal::Nothing));
    }

    #[test]
    fn an_active_profile_gives_the_agent_its_model() {
        let mut settings = Settings::default();
        settings.save("fast", json!({"model": "m2", "api_key": "sk-x"}));
        settings.activate("fast").unwrap();
        let shown = settings.shown();
        assert_eq!(shown["agent_settings"]["llm"], json!({"model": "m2", "api_key": "**********"}));
        assert_eq!((&shown["active_profile"], &shown["llm_api_key_is_set"]), (&"fast".into(), &true.into()));
        assert_eq!(settings.profiles()["profiles"][1]["name"], "fast");
        assert_eq!(settings.profile_shown("fast").unwrap()["config"]["api_key"], Value::Null);
        settings.delete("fast").unwrap();
        assert_eq!(settings.profiles()["active_profile"], Value::Null);
        assert_eq!(settings.activate("fast"), Err(Refusal::NoProfile("fast".into())));
    }
}
