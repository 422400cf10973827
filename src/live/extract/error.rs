//! Why a package could not be read.

use std::path::PathBuf;

use crate::probe::NoScratch;

/// A package that could not be read. Every variant names the file or the program that it is about.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The interpreter has other packages than those asked for.
    #[error("{}: has {has}, and {wanted} was asked for", python.display())]
    OtherVersion {
        /// The interpreter.
        python: PathBuf,
        /// The version that it has.
        has: String,
        /// The version asked for.
        wanted: String,
    },
    /// What was asked for is neither a release nor a file nor a folder.
    #[error(
        "`{word}` is nothing to extract: expected a release such as 1.58.2, a wheel file, `path:DIR`, or a stored \
         document that ends in .json"
    )]
    Word {
        /// What was typed.
        word: String,
    },
    /// A wheel or a source tree without an `OpenHands` package in it.
    #[error("{}: {problem}", path.display())]
    Tree {
        /// The wheel or the folder.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A program that could not be started.
    #[error("cannot run {}: {error}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// The interpreter ended without a document.
    #[error("{} ended {how} without a document{said}", program.display())]
    Ended {
        /// The interpreter.
        program: PathBuf,
        /// `with exit status: 1`, say.
        how: String,
        /// Its last lines, ready to print.
        said: String,
    },
    /// The interpreter took too long.
    #[error("{} gave no document within {seconds} s", program.display())]
    Slow {
        /// The interpreter.
        program: PathBuf,
        /// The time limit.
        seconds: u64,
    },
    /// A document that is none, or of another version of skewlab.
    #[error("{name}: {problem}")]
    Document {
        /// The file, or the interpreter that printed it.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
}

impl From<NoScratch> for ExtractError {
    fn from(NoScratch { path, error }: NoScratch) -> ExtractError {
        ExtractError::File { path, error }
    }
}
