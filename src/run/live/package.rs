//! Which package stands behind each name of a plan.

use std::path::PathBuf;

use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::scenario::Cell;

/// A Python environment with one release in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonPackage {
    /// Its interpreter.
    pub python: PathBuf,
    /// What is laid over its packages on disk.
    pub overlay: Option<PathBuf>,
    /// The stages that are laid over it in memory: `AB`.
    pub stages: Option<String>,
    /// What it is, for the record: `openhands-agent-server 1.58.2`, and what it runs on when that is not its own.
    pub ran: String,
}

/// What runs behind a server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPackage {
    /// Our emulation of that era.
    Emulated,
    /// The released server.
    Python(PythonPackage),
}

/// What runs behind a client's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientPackage {
    /// Our emulation of that era.
    Emulated,
    /// The released Python client.
    Python(PythonPackage),
    /// The released TypeScript client.
    Node {
        /// The node that runs it.
        node: PathBuf,
        /// The folder that holds `node_modules`.
        folder: PathBuf,
        /// Whether it gets what it needs on Node: without, its socket never opens.
        shim: bool,
        /// What it is, for the record.
        ran: String,
    },
    /// The released front end in a browser.
    Canvas {
        /// The folder with `index.html`.
        build: PathBuf,
        /// What it is, for the record.
        ran: String,
    },
}

impl PythonPackage {
    fn is(&self, other: &PythonPackage) -> bool {
        (&self.python, &self.overlay, &self.stages) == (&other.python, &other.overlay, &other.stages)
    }
}

impl ServerPackage {
    /// Whether the same program would run, whatever it is called.
    pub fn is(&self, other: &ServerPackage) -> bool {
        match (self, other) {
            (ServerPackage::Python(one), ServerPackage::Python(other)) => one.is(other),
            _ => self == other,
        }
    }
}

impl ClientPackage {
    /// Whether the same program would run, whatever it is called.
    pub fn is(&self, other: &ClientPackage) -> bool {
        match (self, other) {
            (ClientPackage::Python(one), ClientPackage::Python(other)) => one.is(other),
            _ => self == other,
        }
    }
}

/// One live cell of a plan, with everything that it needs to run.
#[derive(Debug, Clone)]
pub struct Task {
    /// The cell; its server and client are named as they were asked for.
    pub cell: Cell,
    /// What runs as the server.
    pub server: ServerPackage,
    /// What runs as the client.
    pub client: ClientPackage,
    /// The server's profile: how the emulation behaves.
    pub server_profile: Profile<ServerTraits>,
    /// The client's profile and callback list: what the client is meant to do.
    pub choice: ClientChoice,
    /// The names by which the catalogue knows both: of a package that nobody has described yet its stand-in's.
    pub known_as: [String; 2],
}

impl Task {
    /// The client's name without its callback list: cells of one name share a driver.
    pub(super) fn client_name(&self) -> &str {
        self.cell.client.split('/').next().unwrap_or_default()
    }
}
