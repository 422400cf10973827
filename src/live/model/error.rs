//! What can be wrong with a fake model, or with a reply that it is to stream.

use std::time::Duration;

use crate::live::loopback::LoopbackError;

/// A model that does not run, or a reply that it cannot stream. Every variant of a reply names its tag.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] LoopbackError),
    /// The tag could not be found again in a message or in a path.
    #[error("`{tag}` is no tag: expected letters, digits and any of . _ : + ~ / -")]
    Tag {
        /// What was given.
        tag: String,
    },
    /// The reply contradicts itself.
    #[error("reply `{tag}`: {fault}")]
    Reply {
        /// Its tag.
        tag: String,
        /// What is wrong.
        fault: ReplyFault,
    },
}

/// Why a reply cannot be streamed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplyFault {
    /// The rate is no rate.
    #[error("{0} parts a second; expected 0.000001 to 1000000")]
    Rate(f64),
    /// A time that nobody waits for.
    #[error("{what} of {time:?}; expected at most a year")]
    Long {
        /// `a stall`, say.
        what: &'static str,
        /// The time.
        time: Duration,
    },
    /// Something after the error that ends the stream.
    #[error("part {0} ends the stream with an error; nothing can follow it")]
    AfterError(usize),
    /// A status when the stream has begun.
    #[error(
        "part {0} answers with an HTTP status; that is only possible instead of a stream, as the first part"
    )]
    LateStatus(usize),
    /// No status of an error.
    #[error("HTTP status {0}; expected 400 to 599")]
    Status(u16),
}

/// `; did you mean …?` for the names nearest to `wanted`, or an empty string.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let scored = names.map(|name| (strsim::jaro_winkler(wanted, name), name));
    match scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, name)) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}
