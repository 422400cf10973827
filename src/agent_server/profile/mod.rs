//! Profiles: one era of a server or a client as orthogonal traits, in TOML under `scenarios/`.
//!
//! A file may extend another (`extends = "1.43.1"`) and then states only what changed. Within the releases
//! that an era `covers`, `[[since]]` tables change single traits from a release on. Every top-level trait
//! names its source in `[source]`.

pub mod client;
mod embedded;
mod error;
pub mod server;
mod shelf;

pub use client::{ClientChoice, ClientTraits};
pub use embedded::{CLIENT_FILES, SERVER_FILES};
pub use error::{ProfileError, nearest};
pub use server::ServerTraits;
pub use shelf::{About, Profile, Shelf};

use std::path::Path;

/// Every profile that can be named: those in the binary, and a user's own.
#[derive(Debug, Clone)]
pub struct Catalogue {
    servers: Shelf,
    clients: Shelf,
}

impl Catalogue {
    /// The profiles that come with skewlab.
    pub fn embedded() -> Result<Catalogue, ProfileError> {
        Ok(Catalogue {
            servers: Shelf::of("server", SERVER_FILES)?,
            clients: Shelf::of("client", CLIENT_FILES)?,
        })
    }

    /// Adds a user's profiles: `DIR/servers/*.toml` and `DIR/clients/*.toml`.
    ///
    /// Errors when a file cannot be read, does not parse, or takes a name that exists.
    pub fn with_dir(mut self, dir: &Path) -> Result<Catalogue, ProfileError> {
        self.servers.add_dir(&dir.join("servers"))?;
        self.clients.add_dir(&dir.join("clients"))?;
        Ok(self)
    }

    /// The servers, by name.
    pub fn servers(&self) -> &Shelf {
        &self.servers
    }

    /// The server that `name` asks for: a profile, or any release that one of them covers.
    pub fn server(&self, name: &str) -> Result<Profile<ServerTraits>, ProfileError> {
        self.servers.resolve(name)
    }

    /// The clients, by name.
    pub fn clients(&self) -> &Shelf {
        &self.clients
    }

    /// The client that `name` asks for: a profile or any release that one of them covers, and after a slash
    /// the callback list that its application uses (`python-1.58.2/token_callbacks`).
    pub fn client(&self, name: &str) -> Result<ClientChoice, ProfileError> {
        ClientChoice::find(&self.clients, name)
    }
}
