//! Why a batch was not written.

use std::io;

use super::super::event::Seq;

/// A batch that is not durable. The store is as it was before, unless it says that it is [`Broken`](StoreError::Broken).
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is a file already, and a log is never written over another one.
    #[error("{place} exists; a session log is never written over another file")]
    Exists {
        /// The file.
        place: String,
    },
    /// The batch does not go on where the last one ended.
    #[error("{place}: the batch does not continue the log: expected seq {expected}, found {found}")]
    Hole {
        /// The file, or `memory`.
        place: String,
        /// The seq that comes next.
        expected: Seq,
        /// The one that came.
        found: Seq,
    },
    /// The operating system said no.
    #[error("cannot write {place}: {error}")]
    Io {
        /// The file, or `memory`.
        place: String,
        /// Its words.
        error: io::Error,
    },
    /// A failed batch could not be taken back, so nothing may be written after it.
    #[error("{place} takes no more batches: a failed one could not be taken back ({error})")]
    Broken {
        /// The file, or `memory`.
        place: String,
        /// Why it could not.
        error: String,
    },
    /// The database said no.
    #[error("cannot write {place}: {message}")]
    Database {
        /// The file.
        place: String,
        /// Its words.
        message: String,
    },
}
