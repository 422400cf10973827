//! Which package stands behind each name of a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

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

/// The packages of a plan, by the name that its cells use; a client's without its callback list.
#[derive(Debug, Clone, Default)]
pub struct Packages {
    /// Servers.
    pub servers: BTreeMap<String, ServerPackage>,
    /// Clients.
    pub clients: BTreeMap<String, ClientPackage>,
}

impl Packages {
    /// What runs behind a server's name; an emulation where nothing else was named.
    pub(super) fn server(&self, name: &str) -> ServerPackage {
        self.servers.get(name).cloned().unwrap_or(ServerPackage::Emulated)
    }

    /// The same of a client, whatever callback list its application uses.
    pub(super) fn client(&self, name: &str) -> ClientPackage {
        let name = name.split('/').next().unwrap_or(name);
        self.clients.get(name).cloned().unwrap_or(ClientPackage::Emulated)
    }
}
