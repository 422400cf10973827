//! Events of Chromium about one page become plain data here, as they come in.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::data::{Alert, Closed, Console, Frame, Socket, Way};
use super::observer::{Record, TELL, Told};

/// Bytes of frames kept for a page. A reply of ten thousand tokens is 1.5 MB.
pub(super) const FRAME_BYTES: usize = 128 * 1024 * 1024;

/// Lines of console kept for a page, and characters of one.
const LINES: usize = 2000;
const WIDTH: usize = 2000;

/// Dialogs kept for a page.
const DIALOGS: usize = 100;

/// Everything that was noted of one page.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) frames: Vec<Frame>,
    bytes: usize,
    /// A frame came that is not kept.
    pub(super) full: bool,
    pub(super) sockets: Vec<Socket>,
    /// Index into `sockets`, by Chromium's own id.
    by_request: HashMap<String, usize>,
    pub(super) console: Vec<Console>,
    pub(super) dialogs: Vec<Alert>,
    /// Records of documents that the page has left.
    pub(super) left: Vec<Record>,
    pub(super) crashed: bool,
    /// Unix seconds at the zero of Chromium's monotonic clock.
    origin: Option<f64>,
}

impl Book {
    /// Notes one event. The answer is a command that the page needs at once.
    pub(super) fn note(&mut self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
        match method {
            "Network.webSocketCreated" => self.created(params),
            "Network.webSocketWillSendHandshakeRequest" => {
                // The only event of a socket that has both clocks.
                if let (Some(wall), Some(clock)) = (params["wallTime"].as_f64(), params["timestamp"].as_f64())
                {
                    self.origin = Some(wall - clock);
                }
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let status = params["response"]["status"].as_u64().and_then(|s| u16::try_from(s).ok());
                if let Some(socket) = self.socket(params) {
                    socket.status = status;
                }
            }
            "Network.webSocketFrameSent" => self.frame(Way::Sent, params),
            "Network.webSocketFrameReceived" => self.frame(Way::Received, params),
            "Network.webSocketFrameError" => self.failed(params),
            "Network.webSocketClosed" => {
                let at = self.time(params);
                if let Some(socket) = self.socket(params) {
                    // The page may have told the code already.
                    socket.closed.get_or_insert(Closed { at, code: None, reason: String::new() });
                }
            }
            "Runtime.consoleAPICalled" => {
                let said: Vec<String> = params["args"].as_array().into_iter().flatten().map(shown).collect();
                self.line(&params["timestamp"], params["type"].as_str().unwrap_or("log"), &said.join(" "));
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                self.line(&params["timestamp"], "exception", &exception(details));
            }
            "Log.entryAdded" => {
                let entry = &params["entry"];
                let text = [&entry["text"], &entry["url"]].map(|t| t.as_str().unwrap_or_default()).join(" ");
                self.line(&entry["timestamp"], entry["level"].as_str().unwrap_or("log"), text.trim_end());
            }
            "Runtime.bindingCalled" if params["name"] == TELL => self.told(params),
            "Inspector.targetCrashed" => self.crashed = true,
            "Page.javascriptDialogOpening" => {
                let text = params["message"].as_str().unwrap_or_default().to_owned();
                if self.dialogs.len() < DIALOGS {
                    self.dialogs.push(Alert { at: now(), mark: "dialog".to_owned(), error: true, text });
                }
                // It would hold the page until somebody answers.
                return Some(("Page.handleJavaScriptDialog", json!({"accept": true})));
            }
            _ => {}
        }
        None
    }

    /// Refused and failed sockets, alerts of the browser and lines of the console that are errors, for messages.
    pub(super) fn trouble(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.crashed {
            said.push("the page crashed".to_owned());
        }
        for socket in &self.sockets {
            let path = path_of(&socket.url);
            match (socket.status, &socket.error, &socket.closed) {
                (Some(101), None, None | Some(Closed { code: Some(1000 | 1001 | 1005), .. })) => {}
                (Some(101), _, Some(Closed { code: Some(code), reason, .. })) => {
                    said.push(format!("socket {path} was closed with {code} {reason}").trim_end().to_owned());
                }
                (Some(status), _, _) if status != 101 => {
                    said.push(format!("socket {path} was refused with HTTP {status}"));
                }
                (_, Some(error), _) => said.push(format!("socket {path} failed: {error}")),
                (None, None, None) => said.push(format!("socket {path} has no answer yet")),
                (_, None, Some(_)) => said.push(format!("socket {path} ended without a code")),
                _ => {}
            }
        }
        let dialogs = self.dialogs.iter().map(|d| format!("dialog: {}", d.text));
        let errors = self.console.iter().filter(|line| line.is_error());
        said.extend(dialogs.chain(errors.map(|line| format!("console {}: {}", line.level, line.text))));
        said
    }

    fn created(&mut self, params: &Value) {
        let url = params["url"].as_str().unwrap_or_default().into();
        let id = params["requestId"].as_str().unwrap_or_default().to_owned();
        self.by_request.insert(id, self.sockets.len());
        self.sockets.push(Socket { url, status: None, closed: None, error: None });
    }

    fn socket(&mut self, params: &Value) -> Option<&mut Socket> {
        let index = *self.by_request.get(params["requestId"].as_str()?)?;
        self.sockets.get_mut(index)
    }

    fn frame(&mut self, way: Way, params: &Value) {
        let at = self.time(params);
        let response = &params["response"];
        let text = response["payloadData"].as_str().unwrap_or_default();
        if self.bytes + text.len() > FRAME_BYTES {
            self.full = true;
            return;
        }
        self.bytes += text.len();
        let socket = self.socket(params).map_or_else(|| Arc::from("unknown"), |s| s.url.clone());
        let binary = response["opcode"].as_u64() == Some(2);
        self.frames.push(Frame { at, way, socket, text: text.into(), binary });
    }

    fn failed(&mut self, params: &Value) {
        let error = params["errorMessage"].as_str().unwrap_or("without a reason").to_owned();
        // A refused handshake has no response event; its status stands in the text alone (Chromium 148).
        let status =
            error.rsplit_once("Unexpected response code: ").and_then(|(_, code)| code.trim().parse().ok());
        if let Some(socket) = self.socket(params) {
            socket.status = socket.status.or(status);
            socket.error = Some(error);
        }
    }

    fn told(&mut self, params: &Value) {
        // The page's own scripts could call the binding too; what is not ours is a line of its console.
        let payload = params["payload"].as_str().unwrap_or_default();
        match serde_json::from_str(payload) {
            Ok(Told::Left(record)) => self.left.push(record),
            Ok(Told::Closed { url, code, reason }) => {
                // Of sockets with one address the newest is meant: a page that connects again was told first.
                let same =
                    |s: &&mut Socket| *s.url == *url && !matches!(&s.closed, Some(c) if c.code.is_some());
                if let Some(socket) = self.sockets.iter_mut().rev().find(same) {
                    let at = socket.closed.as_ref().map_or_else(now, |c| c.at);
                    socket.closed = Some(Closed { at, code: Some(code), reason });
                }
            }
            Err(error) => {
                self.line(&Value::Null, "error", &format!("the observer told something else: {error}"));
            }
        }
    }

    /// Chromium gives milliseconds here.
    fn line(&mut self, at: &Value, level: &str, text: &str) {
        if self.console.len() < LINES {
            let at = at.as_f64().map_or_else(now, |ms| ms / 1000.0);
            let text = text.chars().take(WIDTH).collect();
            self.console.push(Console { at, level: level.to_owned(), text });
        }
    }

    /// Unix seconds of an event that only has the monotonic clock.
    fn time(&self, params: &Value) -> f64 {
        match (self.origin, params["timestamp"].as_f64()) {
            (Some(origin), Some(clock)) => origin + clock,
            _ => now(),
        }
    }
}

/// Unix seconds.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// An address without what may hold a key.
pub(super) fn path_of(url: &str) -> &str {
    let path =
        url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or(url);
    path.split(['?', '#']).next().unwrap_or(path)
}

/// An argument of a console call as the console shows it.
fn shown(arg: &Value) -> String {
    match (&arg["value"], arg["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(text)) => text.to_owned(),
        (Value::Null, None) => arg["type"].as_str().unwrap_or("null").to_owned(),
        (value, _) => value.to_string(),
    }
}

/// What an exception says, with its stack where there is one.
pub(super) fn exception(details: &Value) -> String {
    let said = details["exception"]["description"].as_str();
    said.or(details["text"].as_str()).unwrap_or("an exception without a text").to_owned()
}
