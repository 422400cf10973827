//! When a page can take a message: the input is open, and the server's state has arrived on the conversation's socket.
//!
//! The input alone is not enough. Deltas are not replayed, so a message sent before the socket is subscribed loses the
//! first of them, and other sockets (`bash-events`) open earlier (both measured).

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Page;
use super::book::path_of;
use super::data::{Frame, Way};
use crate::live::browser::error::BrowserError;

/// How often the input is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What the input says of itself.
const INPUT: &str = "(() => { const input = document.querySelector('[data-testid=\"chat-input\"]'); \
    return input ? input.getAttribute('contenteditable') ?? 'absent' : null; })()";

impl Page {
    /// Waits until a message can be typed and its deltas would be seen, at most for `deadline`.
    pub async fn ready(&self, deadline: Duration) -> Result<(), BrowserError> {
        let until = Instant::now() + deadline;
        loop {
            // Between two documents there is nothing that could be asked.
            let input = match self.evaluate("looking at the chat input", INPUT).await {
                Err(BrowserError::Cdp(crate::live::browser::CdpError::Refused { .. })) => Value::Null,
                other => other?,
            };
            let state = self.state();
            if input == "true" && state.is_none() {
                return Ok(());
            }
            let crashed = self.book().crashed;
            if crashed || Instant::now() >= until {
                let missing = input_missing(&input).into_iter().chain(state).collect();
                let said = self.trouble().await;
                return Err(BrowserError::NotReady { url: self.url.clone(), after: deadline, missing, said });
            }
            sleep(LOOK).await;
        }
    }

    /// What is missing of the conversation's state; `None` when its frame has come.
    fn state(&self) -> Option<String> {
        let book = self.book();
        let id = conversation_of(&self.url);
        let ours = |url: &str| path_of(url).starts_with("/sockets/") && plain(path_of(url)).ends_with(&id);
        if book.frames.iter().any(|f| ours(&f.socket) && is_full_state(f)) {
            return None;
        }
        let sockets: Vec<_> = book.sockets.iter().filter(|s| ours(&s.url)).collect();
        let how = match sockets.last() {
            None => "no socket of this conversation was opened",
            Some(s) if s.status == Some(101) && s.closed.is_none() => "its socket is open",
            Some(s) if s.status == Some(101) => "its socket was opened and closed again",
            Some(_) => "its socket was not opened",
        };
        Some(format!("no `full_state` frame came for the conversation ({how})"))
    }
}

fn input_missing(input: &Value) -> Option<String> {
    match input.as_str() {
        Some("true") => None,
        Some(other) => Some(format!("the chat input is not open (contenteditable is {other})")),
        None => Some("there is no chat input".to_owned()),
    }
}

/// The last segment of the address, as ids are compared.
fn conversation_of(url: &str) -> String {
    plain(path_of(url).trim_end_matches('/').rsplit('/').next().unwrap_or_default())
}

/// Servers take ids with and without hyphens.
fn plain(id: &str) -> String {
    id.replace('-', "").to_ascii_lowercase()
}

fn is_full_state(frame: &Frame) -> bool {
    frame.way == Way::Received
        && frame.text.contains("full_state")
        && serde_json::from_str::<Value>(&frame.text).is_ok_and(|event| event["key"] == "full_state")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_with_and_without_hyphens() {
        let url = "http://127.0.0.1:1/conversations/0A1B-2c?x=1#y";
        assert_eq!(conversation_of(url), "0a1b2c");
        assert!(
            plain(path_of("ws://127.0.0.1:1/sockets/events/0a1b2c?key=k")).ends_with(&conversation_of(url))
        );
    }

    #[test]
    fn only_a_received_state_counts() {
        let frame =
            |way, text: &str| Frame { at: 0.0, way, socket: "".into(), text: text.into(), binary: false };
        assert!(is_full_state(&frame(Way::Received, r#"{"key":"full_state","value":{}}"#)));
        assert!(!is_full_state(&frame(Way::Sent, r#"{"key":"full_state","value":{}}"#)));
        assert!(!is_full_state(&frame(Way::Received, r#"{"content":"\"key\":\"full_state\""}"#)));
    }
}
