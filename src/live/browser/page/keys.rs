//! Typing a message as a person does: focus, text, Enter.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::Page;
use crate::live::browser::error::BrowserError;

/// How long the page may take to show what was typed, and to take it.
const WAIT: Duration = Duration::from_secs(10);

const LOOK: Duration = Duration::from_millis(10);

const FOCUS: &str = "(() => { const input = document.querySelector('[data-testid=\"chat-input\"]'); \
    input?.focus(); return !!input && document.activeElement === input; })()";

/// The text in the input, after two frames in which the page could react to it.
const TEXT: &str = "new Promise((done) => { \
    const read = () => done(document.querySelector('[data-testid=\"chat-input\"]')?.textContent ?? ''); \
    setTimeout(read, 100); requestAnimationFrame(() => requestAnimationFrame(read)); })";

impl Page {
    /// Types a text into the chat input and sends it with Enter. Comes back when the input is empty again, which is
    /// how the front ends show that they took it.
    pub async fn say(&self, text: &str) -> Result<(), BrowserError> {
        if self.evaluate("focusing the chat input", FOCUS).await? != true {
            return Err(self.not_taken("the chat input cannot be focused").await);
        }
        self.call("Input.insertText", json!({"text": text})).await?;
        // Line ends become elements, so the length is all that can be compared.
        let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).count();
        if !self.input(|shown| letters(shown) >= letters(text)).await? {
            return Err(self.not_taken("the text did not appear in the chat input").await);
        }
        for kind in ["keyDown", "keyUp"] {
            let mut key = json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13});
            if kind == "keyDown" {
                key["text"] = Value::from("\r");
            }
            self.call("Input.dispatchKeyEvent", key).await?;
        }
        if !self.input(|shown| shown.trim().is_empty()).await? {
            return Err(self.not_taken("Enter did not send it: the text is still in the chat input").await);
        }
        Ok(())
    }

    /// Whether the input comes to hold what is wanted.
    async fn input(&self, wanted: impl Fn(&str) -> bool) -> Result<bool, BrowserError> {
        let until = Instant::now() + WAIT;
        loop {
            let shown = self.evaluate("reading the chat input", TEXT).await?;
            if wanted(shown.as_str().unwrap_or_default()) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            sleep(LOOK).await;
        }
    }

    async fn not_taken(&self, why: &str) -> BrowserError {
        let (url, why) = (self.url.clone(), why.to_owned());
        BrowserError::NotTaken { url, why, said: self.trouble().await }
    }
}
