//! What was seen of a page, as plain data. Times are unix seconds of this machine's clock, as the page and Chromium
//! took them; both follow the page's main thread, so they can be compared with each other.

use std::sync::Arc;

/// The agent's bubbles from one moment on until the next [`Seen`].
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// When, in unix seconds.
    pub at: f64,
    /// The text of each bubble, top to bottom, without the markup that it is rendered with. Blanks at the end of a
    /// paragraph and between two of them are lost by Markdown, so compare without them.
    pub bubbles: Vec<Arc<str>>,
}

/// Which way a frame went, seen from the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the page to the server.
    Sent,
    /// From the server to the page.
    Received,
}

/// One data frame on a socket of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// When, in unix seconds. Of a page whose main thread is busy this is late: it is no time of sending.
    pub at: f64,
    /// Which way.
    pub way: Way,
    /// The socket's address, its query included: up to 1.6.1 the key stands in it.
    pub socket: Arc<str>,
    /// The text, or base64 of a binary frame.
    pub text: Arc<str>,
    /// Whether it is a binary frame.
    pub binary: bool,
}

/// One socket that the page opened, or tried to.
#[derive(Debug, Clone, PartialEq)]
pub struct Socket {
    /// Its address, query included.
    pub url: Arc<str>,
    /// HTTP status of the handshake: 101 when it was opened, `None` without an answer.
    pub status: Option<u16>,
    /// How it was closed; `None` while it is open.
    pub closed: Option<Closed>,
    /// What Chromium said of an error.
    pub error: Option<String>,
}

/// The end of a socket.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// When, in unix seconds.
    pub at: f64,
    /// With which code, as the page saw it (1006: none came). `None` when the page was gone before.
    pub code: Option<u16>,
    /// And reason.
    pub reason: String,
}

/// A line of the page's console, an exception, or an entry of the browser's log for the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Console {
    /// When, in unix seconds.
    pub at: f64,
    /// `error`, `warning`, `log` and so on; `exception` for one that nobody caught.
    pub level: String,
    /// What it says, cut after two thousand characters.
    pub text: String,
}

impl Console {
    /// Whether it speaks of a failure.
    pub fn is_error(&self) -> bool {
        matches!(self.level.as_str(), "error" | "exception" | "assert")
    }
}

/// A text that the page put before the person outside of the conversation: an alert, a banner, a toast, a dialog.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// When it was first visible, in unix seconds.
    pub at: f64,
    /// Its test id if it has one, or else its role; `dialog` for one of the browser's own.
    pub mark: String,
    /// Whether it says that something failed: a role of alert, a banner of errors, a toast with the icon of failure, a
    /// dialog. Spinners, notes of progress and toasts of success are not.
    pub error: bool,
    /// The text.
    pub text: String,
}
