//! What real clients ask over REST before, during and after a turn, by requests written by hand. The answers are those
//! that the real 1.58.2 gave to the same requests, as far as a client reads them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::Served;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
const HI: &str = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":false}"#;

/// A create request as the Python client writes it, shortened.
fn create() -> Value {
    json!({
        "agent": {
            "kind": "Agent",
            "llm": {"usage_id": "agent", "model": "openai/fake", "api_key": "sk-x", "stream": true},
            "tools": [],
            "include_default_tools": [],
        },
        "initial_message": null,
        "max_iterations": 5,
        "stuck_detection": false,
        "workspace": {"working_dir": "/w", "kind": "LocalWorkspace"},
        "tool_module_qualnames": {},
        "agent_definitions": [],
        "plugins": null,
        "tags": {"a": "b"},
    })
}

impl Served {
    fn get(&self, path: &str) -> (u16, Value) {
        self.http("GET", path, "", "")
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.http("POST", path, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// Creates a conversation and returns its id.
    fn created(&self, request: &Value) -> String {
        let (status, info) = self.post("/api/conversations", request);
        assert_eq!(status, 201, "{info}");
        info["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the conversation has that status.
    fn until(&self, id: &str, status: &str) {
        let began = Instant::now();
        while self.get(&format!("/api/conversations/{id}")).1["execution_status"] != status {
            assert!(began.elapsed() < Duration::from_secs(20), "never {status}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn kinds(&self, id: &str, query: &str) -> Vec<String> {
        let (status, page) = self.get(&format!("/api/conversations/{id}/events/search{query}"));
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap().iter();
        items.map(|e| e["key"].as_str().or(e["kind"].as_str()).unwrap().to_owned()).collect()
    }
}

#[test]
fn a_conversation_is_what_it_was_created_with_and_shows_no_key() {
    let served = Served::start(&["--server", "1.58.2"]);
    let (status, info) = served.post("/api/conversations", &create());
    assert_eq!(status, 201, "{info}");
    assert_eq!(info["agent"]["llm"]["model"], "openai/fake");
    assert_eq!(info["agent"]["llm"]["api_key"], Value::Null);
    assert_eq!((&info["max_iterations"], &info["workspace"]["working_dir"]), (&json!(5), &json!("/w")));
    assert_eq!((&info["execution_status"], &info["tags"]), (&json!("idle"), &json!({"a": "b"})));
    let id = info["id"].as_str().unwrap();
    let (status, read) = served.get(&format!("/api/conversations/{id}"));
    assert_eq!((status, &read), (200, &info));
    assert_eq!(
        served.get(&format!("/api/conversations/{}", id.replace('-', ""))).1["id"],
        id,
        "without hyphens"
    );
    assert!(!served.get("/api/conversations/search").1.to_string().contains("sk-x"));
    // A client may bring the id; the second time it is not created again.
    let mut named = create();
    named["conversation_id"] = NOBODY.into();
    assert_eq!(served.created(&named), NOBODY);
    named["max_iterations"] = 7.into();
    let (status, again) = served.post("/api/conversations", &named);
    assert_eq!((status, &again["max_iterations"]), (200, &json!(5)));
    // The front end sends its settings instead of an agent.
    let settings = json!({"agent_settings": {"llm": {"model": "m2"}}, "workspace": {"working_dir": "/w"}});
    assert_eq!(served.post("/api/conversations", &settings).1["agent"]["llm"]["model"], "m2");
}

#[test]
fn a_message_waits_for_the_run_and_a_first_message_does_not() {
    let served = Served::start(&["--server", "1.58.2"]);
    let id = served.created(&create());
    let path = format!("/api/conversations/{id}");
    let without_run = HI.replace(r#","run":false"#, "");
    for message in [HI, &without_run] {
        assert_eq!(served.http("POST", &format!("{path}/events"), "", message).0, 200);
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(served.get(&path).1["execution_status"], "idle", "only a run runs");
    assert_eq!(served.post(&format!("{path}/run"), &Value::Null), (200, json!({"success": true})));
    let (status, refused) = served.http("POST", &format!("{path}/run"), "", "");
    let detail = "Conversation already running. Wait for completion or pause first.";
    assert_eq!((status, &refused["detail"]), (409, &json!(detail)));
    served.until(&id, "finished");
    let (_, reply) = served.get(&format!("{path}/agent_final_response"));
    assert!(reply["response"].as_str().unwrap().contains("漢字😀"), "{reply}");
    let info = served.get(&path).1;
    let said = served.get(&format!("{path}/events/search?kind=MessageEvent&source=user")).1;
    assert_eq!(info["last_user_message_id"], said["items"][1]["id"]);
    assert!(info["leaf_event_id"].is_string());
    // To run again with nothing said adds nothing.
    let count = served.get(&format!("{path}/events/count")).1;
    assert_eq!(served.post(&format!("{path}/run"), &json!({})).0, 200);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(served.get(&format!("{path}/events/count")).1, count);
    // On a conversation that nobody spoke in, it is answered.
    let silent = served.created(&create());
    assert_eq!(served.post(&format!("/api/conversations/{silent}/run"), &json!({})).0, 200);
    served.until(&silent, "finished");
    assert_eq!(served.kinds(&silent, "")[0], "SystemPromptEvent");
    assert_eq!(served.kinds(&silent, "?kind=MessageEvent&source=user"), [""; 0]);
    let mut first = create();
    first["initial_message"] = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let first = served.created(&first);
    served.until(&first, "finished");
    assert_eq!(served.kinds(&first, "?kind=MessageEvent"), ["MessageEvent"; 2]);
}

#[test]
fn a_log_is_searched_by_page_kind_time_and_order() {
    let served = Served::start(&["--server", "1.43.1"]);
    let id = served.conversation.clone();
    let path = format!("/api/conversations/{id}/events");
    served.http("POST", &path, "", &HI.replace("false", "true"));
    served.until(&id, "finished");
    // The run's last event comes behind its status.
    std::thread::sleep(Duration::from_millis(100));
    let all = served.kinds(&id, "");
    assert!(all.len() >= 7, "{all:?}");
    let (_, first) = served.get(&format!("{path}/search?limit=3"));
    let next = first["next_page_id"].as_str().unwrap();
    assert_eq!(served.kinds(&id, "?limit=3"), all[..3]);
    assert_eq!(served.kinds(&id, &format!("?limit=100&page_id={next}")), all[3..]);
    let backwards: Vec<String> = all.iter().rev().cloned().collect();
    assert_eq!(served.kinds(&id, "?sort_order=TIMESTAMP_DESC"), backwards);
    let replied = served.get(&format!("{path}/search?kind=MessageEvent&source=agent")).1["items"][0].clone();
    let at = replied["timestamp"].as_str().unwrap();
    let since = served.kinds(&id, &format!("?timestamp__gte={at}"));
    let before = served.kinds(&id, &format!("?timestamp__lt={at}"));
    assert_eq!([before, since.clone()].concat(), all);
    assert_eq!(since[0], "MessageEvent");
    assert_eq!(served.get(&format!("{path}/count?kind=MessageEvent")).1, 2);
    let event = replied["id"].as_str().unwrap();
    assert_eq!(served.get(&format!("{path}/{event}")), (200, replied.clone()));
    assert_eq!(served.get(&format!("{path}?event_ids={event}&event_ids={NOBODY}")).1, json!([replied, null]));
    for (query, field) in [
        ("limit=101", "limit"),
        ("limit=0", "limit"),
        ("page_id=x", "page_id"),
        ("sort_order=up", "sort_order"),
        ("timestamp__gte=yesterday", "timestamp__gte"),
    ] {
        let (status, refused) = served.get(&format!("{path}/search?{query}"));
        assert_eq!((status, &refused["detail"][0]["loc"]), (422, &json!(["query", field])), "{query}");
    }
}

#[test]
fn conversations_are_found_changed_and_removed() {
    let served = Served::start(&["--server", "1.58.2"]);
    let (first, second) = (served.conversation.clone(), served.created(&create()));
    let (_, found) = served.get("/api/conversations/search?limit=1");
    assert_eq!(
        (&found["items"][0]["id"], &found["next_page_id"]),
        (&json!(second), &json!("1")),
        "newest first"
    );
    let page = found["next_page_id"].as_str().unwrap();
    let (_, rest) = served.get(&format!("/api/conversations/search?page_id={page}"));
    assert_eq!((&rest["items"][0]["id"], &rest["next_page_id"]), (&json!(first), &Value::Null));
    assert_eq!(served.get("/api/conversations/count"), (200, json!(2)));
    let (_, some) = served.get(&format!("/api/conversations?ids={second}&ids={NOBODY}&ids={first}"));
    let ids: Vec<&Value> = some.as_array().unwrap().iter().map(|c| &c["id"]).collect();
    assert_eq!(ids, [&json!(second), &Value::Null, &json!(first)], "in the order of the question");
    assert_eq!(served.get("/api/conversations").0, 422);
    let path = format!("/api/conversations/{second}");
    let changed = json!({"title": "named", "tags": {"c": "d"}}).to_string();
    assert_eq!(served.http("PATCH", &path, "", &changed).0, 200);
    assert_eq!(
        served.post(&format!("{path}/confirmation_policy"), &json!({"policy": {"kind": "AlwaysConfirm"}})).0,
        200
    );
    assert_eq!(served.post(&format!("{path}/security_analyzer"), &json!({"security_analyzer": null})).0, 200);
    assert_eq!(served.post(&format!("{path}/secrets"), &json!({"secrets": {"A": "b"}})).0, 200);
    assert_eq!(
        served.post(&format!("{path}/events/respond_to_confirmation"), &json!({"accept": true})).0,
        200
    );
    let info = served.get(&path).1;
    assert_eq!((&info["title"], &info["tags"]), (&json!("named"), &json!({"c": "d"})));
    assert_eq!(info["confirmation_policy"]["kind"], "AlwaysConfirm");
    assert_eq!(served.http("DELETE", &path, "", ""), (200, json!({"success": true})));
    for (method, path) in [("DELETE", path.as_str()), ("GET", &path), ("POST", &format!("{path}/run"))] {
        assert_eq!(served.http(method, path, "", "").0, 404, "{method} {path}");
    }
    assert_eq!(served.get("/api/conversations/count").1, 1);
}

#[test]
fn what_cannot_be_used_is_named() {
    let served = Served::start(&["--server", "1.58.2"]);
    let one = format!("/api/conversations/{}", served.conversation);
    let with = |field: &str, value: Value| {
        let mut request = create();
        request[field] = value;
        request.to_string()
    };
    for (path, body, place) in [
        ("/api/conversations", "{}".to_owned(), json!(["body", "workspace"])),
        ("/api/conversations", "x".to_owned(), json!(["body", 0])),
        ("/api/conversations", with("agent", json!("a")), json!(["body", "agent"])),
        ("/api/conversations", with("conversation_id", json!(1)), json!(["body", "conversation_id"])),
        ("/api/conversations", with("conversation_id", json!("x")), json!(["path", "conversation_id"])),
        ("/api/conversations", with("initial_message", json!({})), json!(["body", "initial_message"])),
        (&format!("{one}/secrets"), "{}".to_owned(), json!(["body", "secrets"])),
        (
            &format!("{one}/confirmation_policy"),
            r#"{"policy":{"kind":"N"}}"#.to_owned(),
            json!(["body", "policy"]),
        ),
        ("/api/conversations/not-a-uuid/run", String::new(), json!(["path", "conversation_id"])),
        ("/api/profiles/p", "{}".to_owned(), json!(["body", "llm"])),
    ] {
        let (status, refused) = served.http("POST", path, "", &body);
        assert_eq!((status, &refused["detail"][0]["loc"]), (422, &place), "{path} {body}: {refused}");
    }
    for (method, path) in [
        ("GET", "/api/nothing"),
        ("PUT", "/api/conversations"),
        ("POST", &format!("{one}/fork")),
        ("GET", &format!("/api/conversations/{NOBODY}")),
    ] {
        assert_eq!(served.http(method, path, "", "").0, 404, "{method} {path}");
    }
}

#[test]
fn a_front_end_finds_everything_set_up() {
    let served = Served::start(&["--server", "1.58.2", "--key", "k"]);
    let ask =
        |method: &str, path: &str, body: &str| served.http(method, path, "X-Session-API-Key: k\r\n", body);
    assert_eq!(served.get("/api/settings").0, 401);
    let (_, settings) = ask("GET", "/api/settings", "");
    assert_eq!(settings["llm_api_key_is_set"], true);
    assert_eq!(settings["misc_settings"]["app_preferences"]["user_consents_to_analytics"], false);
    let (_, profiles) = ask("GET", "/api/profiles", "");
    assert_eq!(
        (&profiles["active_profile"], &profiles["profiles"][0]["api_key_set"]),
        (&json!("default"), &json!(true))
    );
    let (_, agents) = ask("GET", "/api/agent-profiles", "");
    assert_eq!(agents["profiles"][0]["id"], agents["active_agent_profile_id"]);
    for method in ["POST", "DELETE"] {
        assert_eq!(ask(method, "/api/auth/workspace-session", "{}").0, 204);
    }
    assert_eq!(ask("GET", "/api/settings/secrets", ""), (200, json!({"secrets": []})));
    // What a harness does to a real server before the page opens.
    let llm = r#"{"llm":{"model":"openai/fake","api_key":"sk-x","base_url":"http://127.0.0.1:9/v1"}}"#;
    assert_eq!(ask("POST", "/api/profiles/fake", llm).0, 201);
    let (status, said) = ask("POST", "/api/profiles/fake/activate", "{}");
    assert_eq!((status, &said["llm_applied"]), (200, &json!(true)));
    let diff = r#"{"misc_settings_diff":{"app_preferences":{"language":"de"}}}"#;
    let (status, settings) = ask("PATCH", "/api/settings", diff);
    assert_eq!((status, &settings["active_profile"]), (200, &json!("fake")));
    assert_eq!(settings["agent_settings"]["llm"]["model"], "openai/fake");
    assert_eq!(ask("GET", "/api/settings", "").1, settings);
    assert!(!settings.to_string().contains("sk-x"));
    assert_eq!(ask("GET", "/api/profiles/fake", "").1["config"]["api_key"], Value::Null);
    assert_eq!(ask("PATCH", "/api/settings", "{}").0, 400);
    assert_eq!(ask("DELETE", "/api/profiles/fake", "").0, 200);
    for (method, path) in [
        ("GET", "/api/profiles/fake"),
        ("DELETE", "/api/profiles/fake"),
        ("POST", "/api/profiles/fake/activate"),
    ] {
        assert_eq!(ask(method, path, "").0, 404, "{method} {path}");
    }
}

#[test]
fn a_front_end_finds_an_empty_machine() {
    let served = Served::start(&["--server", "1.58.2"]);
    for (path, field) in [
        ("llm/models", "models"),
        ("llm/models/verified", "models"),
        ("llm/providers", "providers"),
        ("file/home", "home"),
        ("workspaces", "workspaces"),
        ("canvas-extensions/installed", "canvas_extensions"),
    ] {
        let (status, answer) = served.get(&format!("/api/{path}"));
        assert!(status == 200 && answer.get(field).is_some(), "{path}: {answer}");
    }
    assert_eq!(served.get("/api/git/changes?path=/w"), (200, json!([])));
    assert_eq!(served.post("/api/skills", &json!({})).1["skills"], json!([]));
    let (status, output) = served.post("/api/bash/execute_bash_command", &json!({"command": "git status"}));
    assert_eq!((status, &output["exit_code"], &output["kind"]), (200, &json!(127), &json!("BashOutput")));
    assert_eq!(output["stderr"], "git: an emulated server runs no commands\n");
    assert_eq!(served.post("/api/bash/execute_bash_command", &json!({})).0, 422);
}

#[test]
fn two_conversations_at_once_are_two() {
    let served = Served::start(&["--server", "1.58.2"]);
    let ids = [served.created(&create()), served.created(&create())];
    for id in &ids {
        served.http("POST", &format!("/api/conversations/{id}/events"), "", HI);
        assert_eq!(served.post(&format!("/api/conversations/{id}/run"), &json!({})).0, 200);
    }
    for id in &ids {
        served.until(id, "finished");
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(served.kinds(id, "?kind=MessageEvent").len(), 2, "one question and one answer each");
    }
    let replies = ids.map(|id| served.get(&format!("/api/conversations/{id}/agent_final_response")).1);
    assert_eq!(replies[0], replies[1]);
}
