//! What can go wrong with a browser, said so that the next step is clear.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::cdp::CdpError;
use crate::live::process::ProcessError;

/// A browser or a page that did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// Chromium could not be started, or ended early.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Its profile folder cannot be made.
    #[error("cannot make the browser's profile {}: {error}", path.display())]
    Profile {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It started and never said where its debugging port is.
    #[error("Chromium wrote no usable {} within {after:?}; its last lines:\n  {}", path.display(), said.join("\n  "))]
    NoPort {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        after: Duration,
        /// What Chromium said last.
        said: Vec<String>,
    },
    /// The debugging connection failed.
    #[error(transparent)]
    Cdp(#[from] CdpError),
    /// The page could not be loaded at all.
    #[error("cannot open {url}: {why}")]
    Navigation {
        /// Where to.
        url: String,
        /// What Chromium said.
        why: String,
    },
    /// The page did not answer any more. It was closed.
    #[error("{url} did not answer `{what}` within {after:?} and was closed{}", told(said))]
    Hung {
        /// The page.
        url: String,
        /// What was asked.
        what: &'static str,
        /// How long was waited.
        after: Duration,
        /// Crash, alerts and console errors.
        said: Vec<String>,
    },
    /// The page was not ready for a message in time.
    #[error("{url} was not ready after {after:?}: {}{}", missing.join("; "), told(said))]
    NotReady {
        /// The page.
        url: String,
        /// How long was waited.
        after: Duration,
        /// Which of the two things is missing: the chat input, the `full_state` frame, or both.
        missing: Vec<String>,
        /// Alerts, console errors and refused sockets.
        said: Vec<String>,
    },
    /// The message could not be typed or was not taken.
    #[error("{url} did not take the message: {why}{}", told(said))]
    NotTaken {
        /// The page.
        url: String,
        /// At which step.
        why: String,
        /// Alerts, console errors and refused sockets.
        said: Vec<String>,
    },
    /// A frame that was waited for did not come.
    #[error("{url} got no {what} within {after:?}{}", told(said))]
    NoFrame {
        /// The page.
        url: String,
        /// Which frame.
        what: &'static str,
        /// How long was waited.
        after: Duration,
        /// Alerts, console errors and refused sockets.
        said: Vec<String>,
    },
    /// Our own script failed in the page.
    #[error("`{what}` failed in {url}: {why}")]
    Script {
        /// The page.
        url: String,
        /// What was asked.
        what: &'static str,
        /// What the page said.
        why: String,
    },
    /// More was seen than is kept. A record with a hole would be judged wrongly, so there is none.
    #[error("{url}: more {what} than are kept ({limit})")]
    TooMuch {
        /// The page.
        url: String,
        /// Of what.
        what: &'static str,
        /// The bound.
        limit: String,
    },
    /// The server cannot be reached or does not answer.
    #[error("{request} on {server}: {why}")]
    Rest {
        /// `POST /api/profiles/default`, say.
        request: String,
        /// Where.
        server: SocketAddr,
        /// What happened.
        why: String,
    },
}

/// What the page said, as the end of an error message.
fn told(said: &[String]) -> String {
    match said {
        [] => "; no alert, no console error, no refused socket".to_owned(),
        lines => format!("; seen:\n  {}", lines.join("\n  ")),
    }
}
