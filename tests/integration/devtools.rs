//! One page of a headless Chromium, asked over its debugging socket: what a test needs beside the live browser party.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use skewlab::live::browser::Chromium;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// A Chromium on this machine.
pub(crate) fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

pub(crate) struct Browser {
    chromium: Chromium,
    socket: WebSocketStream<TcpStream>,
    session: Option<String>,
    last: u64,
    /// Everything that Chromium told of the page since it was opened.
    pub(crate) events: Vec<Value>,
}

impl Browser {
    /// Starts one below `dir`, with an empty page.
    pub(crate) async fn start(program: &Path, dir: &Path) -> Browser {
        let warden = Path::new(env!("CARGO_BIN_EXE_skewlab"));
        let (profile, log) = (dir.join("profile"), dir.join("chromium.log"));
        let chromium = Chromium::launch(program, warden, profile.clone(), log).await.unwrap();
        let place = std::fs::read_to_string(profile.join("DevToolsActivePort")).unwrap();
        let (port, path) = place.split_once('\n').unwrap();
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
        let url = format!("ws://127.0.0.1:{port}{}", path.trim_end());
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let mut browser = Browser { chromium, socket, session: None, last: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", attach).await;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        browser.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        browser
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut said = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            said["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(said.to_string())).await.unwrap();
        let answer = async {
            loop {
                let message = self.socket.next().await.unwrap().unwrap();
                let Message::Text(text) = message else { continue };
                let heard: Value = serde_json::from_str(&text).unwrap();
                if heard["id"] == id {
                    assert!(heard.get("error").is_none(), "{method}: {heard}");
                    return heard["result"].clone();
                }
                self.events.push(heard);
            }
        };
        tokio::time::timeout(Duration::from_mins(1), answer)
            .await
            .unwrap_or_else(|_| panic!("{method}: no answer"))
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) async fn open(&mut self, url: &str) {
        // A change of the fragment alone would load nothing.
        self.call("Page.navigate", json!({"url": "about:blank"})).await;
        self.call("Page.navigate", json!({"url": url})).await;
        self.until("location.protocol === 'file:' && document.readyState === 'complete'").await;
    }

    /// The value of an expression of ours.
    pub(crate) async fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) async fn until(&mut self, expression: &str) {
        for _ in 0..600 {
            if self.value(expression).await == true {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("never: {expression}");
    }

    /// Presses a key.
    pub(crate) async fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", params).await;
        }
    }

    /// Addresses that the page asked for, and what its console says of failures.
    pub(crate) fn told(&self) -> (Vec<String>, Vec<String>) {
        let (mut asked, mut failures) = (Vec::new(), Vec::new());
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    asked.push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
                }
                "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => failures.push(params.to_string()),
                "Log.entryAdded" if params["entry"]["level"] == "error" => failures.push(params.to_string()),
                _ => {}
            }
        }
        (asked, failures)
    }

    pub(crate) async fn stop(self) {
        self.chromium.stop().await;
    }
}
