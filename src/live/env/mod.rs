//! Environments: one folder for each released version, set up once and found again without the network.
//!
//! | file | what it knows |
//! |---|---|
//! | `wanted` | what can be typed: a release, `latest-1`, `path:DIR`, a wheel |
//! | `recipe` | what a release needs beside itself (`scenarios/environments.toml`) |
//! | `source` | what is in no index: a checkout, a wheel |
//! | `cache` | where everything is |
//! | `ready` | the note that a set-up leaves when it came to its end, and nothing else does |
//! | `index` | which versions exist, as a set-up last heard it |
//! | `find` | from what was typed to a folder that may be used |
//! | `ask` | a question to a program, and its answer within a time limit |
//! | `tools` | Python, uv, node, npm, git and Chromium on this machine |
//! | `setup` | the only part that downloads |
//! | `doctor` | what is missing, and the one command that mends it |
//!
//! A folder without a valid `READY.json` is never handed out: [`setup()`] removes it and begins again.

mod ask;
mod cache;
mod doctor;
mod error;
mod find;
mod index;
mod ready;
mod recipe;
mod setup;
mod source;
mod tools;
mod wanted;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::unit::Release;

pub use cache::Cache;
pub use doctor::{Check, State, doctor};
pub use error::EnvError;
pub use find::{Resolved, find, find_canvas, find_typescript, resolve};
pub use ready::{Base, Ready};
pub use recipe::{Overlay, Pin, Recipes};
pub use setup::{Done, Silent, Steps, setup};
pub use tools::{Chromium, Interpreter, Program, find_chromium};
pub use wanted::{Kind, Version, Wanted};

/// A Python environment with the four packages of one release: it runs the server and the Python client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The release in it, without stages. Of a source checkout or a wheel: the numbers of its version.
    pub release: Release,
    /// Its interpreter, absolute.
    pub python: PathBuf,
    /// What has to be in `PYTHONPATH`, when the release is laid over the environment of another one.
    pub pythonpath: Option<PathBuf>,
    /// Every installed package and its version.
    pub packages: BTreeMap<String, String>,
    /// What a reader has to know: that it runs on another release's dependencies, or from when `latest` is.
    pub note: Option<String>,
    /// SHA-256 over the interpreter's version, the packages and the files of the four packages, in hexadecimal.
    pub hash: String,
}

/// The TypeScript client with what it needs, as npm installed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePackage {
    /// Its release.
    pub release: Release,
    /// The folder that holds `node_modules`, absolute.
    pub dir: PathBuf,
    /// The node that runs it.
    pub node: PathBuf,
    /// Every installed package and its version.
    pub packages: BTreeMap<String, String>,
    /// From when `latest` is, say.
    pub note: Option<String>,
    /// SHA-256 over the packages and npm's own hashes of them, in hexadecimal.
    pub hash: String,
}

/// A published front end: static files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    /// Its release.
    pub release: Release,
    /// The folder with `index.html`, absolute.
    pub build: PathBuf,
    /// From when `latest` is, say.
    pub note: Option<String>,
    /// SHA-256 over npm's own hash of the package, in hexadecimal.
    pub hash: String,
}
