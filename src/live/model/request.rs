//! A request, as far as the model cares: which API, a stream or not, and what the person said last.

use serde::Serialize;
use serde_json::Value;

/// The API that a request calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1/responses`.
    Responses,
}

/// A request that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) api: Api,
    pub(super) model: String,
    pub(super) stream: bool,
    /// Whether a chat stream ends with a chunk of token counts. The Responses API always says them.
    pub(super) usage: bool,
    /// Words in the text of all messages: what is reported as prompt tokens.
    pub(super) words: usize,
    /// The text of the last message of the user.
    pub(super) user: String,
    /// Results of tools that came after it.
    pub(super) results: usize,
}

impl Ask {
    /// Reads a request; the error says what was expected.
    pub(super) fn read(api: Api, body: &[u8]) -> Result<Ask, String> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|e| format!("the body is no JSON: {e}; expected an object"))?;
        let key = match api {
            Api::Chat => "messages",
            Api::Responses => "input",
        };
        let said: Vec<(bool, String)> = match &body[key] {
            Value::Array(messages) => {
                messages.iter().map(|m| (m["role"] == "user", text(&m["content"]))).collect()
            }
            Value::String(input) if api == Api::Responses => vec![(true, input.clone())],
            _ => return Err(format!("the body has no `{key}`; expected a list of messages")),
        };
        let results = body[key].as_array().map_or(0, |messages| {
            let after = messages.iter().rev().take_while(|m| m["role"] != "user");
            after.filter(|m| m["role"] == "tool" || m["type"] == "function_call_output").count()
        });
        let words = said.iter().map(|(_, text)| text.split_whitespace().count()).sum();
        let user =
            said.into_iter().rev().find(|(by_user, _)| *by_user).map(|(_, text)| text).unwrap_or_default();
        Ok(Ask {
            api,
            model: body["model"].as_str().unwrap_or("skewlab").to_owned(),
            stream: body["stream"] == true,
            usage: body["stream_options"]["include_usage"] == true,
            words,
            user,
            results,
        })
    }

    /// The tag of the marker `[[skewlab:TAG]]` in the last message of the user; the last marker if there are several.
    pub(super) fn tag(&self) -> Option<&str> {
        let (_, after) = self.user.rsplit_once(MARK)?;
        after.split_once("]]").map(|(tag, _)| tag)
    }
}

/// What a marker begins with.
pub(super) const MARK: &str = "[[skewlab:";

/// The text of a message: a string, or the text of every part that has one.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(api: Api, body: &str) -> Result<Ask, String> {
        Ask::read(api, body.as_bytes())
    }

    #[test]
    fn the_marker_of_the_last_message_of_the_user_counts() {
        let body = r#"{"model":"m","stream":true,"messages":[
            {"role":"user","content":"[[skewlab:old]]"},
            {"role":"assistant","content":"[[skewlab:not-mine]]"},
            {"role":"user","content":[{"type":"text","text":"a [[skewlab:x/1]]"},{"type":"image_url"},{"type":"text","text":"b"}]},
            {"role":"tool","content":"[[skewlab:no]]"}]}"#;
        let ask = ask(Api::Chat, body).unwrap();
        assert_eq!((ask.tag(), ask.stream, ask.usage, ask.words), (Some("x/1"), true, false, 6));
        assert_eq!(ask.results, 1);
    }

    #[test]
    fn input_of_the_responses_api_is_a_text_or_a_list() {
        let plain = ask(Api::Responses, r#"{"input":"hi [[skewlab:t]]"}"#).unwrap();
        let list = r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"[[skewlab:t]]"}]}]}"#;
        assert_eq!((plain.tag(), ask(Api::Responses, list).unwrap().tag()), (Some("t"), Some("t")));
    }

    #[test]
    fn what_is_no_request_is_refused_with_what_was_expected() {
        assert!(ask(Api::Chat, "{").unwrap_err().contains("no JSON"));
        assert!(ask(Api::Chat, r#"{"input":"hi"}"#).unwrap_err().contains("`messages`"));
        assert!(ask(Api::Chat, r#"{"messages":"hi"}"#).unwrap_err().contains("`messages`"));
        assert!(ask(Api::Responses, "{}").unwrap_err().contains("`input`"));
    }
}
