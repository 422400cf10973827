//! The parties of a plan, resolved once: a profile is read for the first cell and shared by the rest.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::agent_server::client::Client;
use crate::agent_server::fault::Kind;
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Catalogue, Profile, ProfileError, ServerTraits};
use crate::scenario::{Cell, FeedCell};
use crate::session_feed::profile::VariantError;
use crate::session_feed::{Variant, Variants};

/// Every server and client that a plan names.
#[derive(Debug, Default)]
pub struct Parties {
    /// By name and the traits laid over it.
    servers: BTreeMap<(String, String), Arc<Profile<ServerTraits>>>,
    clients: BTreeMap<String, Arc<ClientChoice>>,
    /// The servers of the clients' own releases, by client; only a Python client has one.
    own: BTreeMap<String, Arc<Profile<ServerTraits>>>,
    /// Variants of the session feed, by name and the traits laid over it.
    variants: BTreeMap<(String, String), Arc<Variant>>,
}

impl Parties {
    /// Resolves what the cells name.
    pub fn of<'a>(
        cells: impl IntoIterator<Item = &'a Cell>,
        catalogue: &Catalogue,
    ) -> Result<Parties, ProfileError> {
        let mut parties = Parties::default();
        for cell in cells {
            if let Entry::Vacant(place) = parties.servers.entry(key(cell)) {
                place.insert(Arc::new(catalogue.server_with(&cell.server, &cell.traits)?));
            }
            for fault in cell.faults.iter() {
                let Kind::Swap { server, .. } = &fault.kind else { continue };
                if let Entry::Vacant(place) = parties.servers.entry((server.clone(), cell.traits.to_string()))
                {
                    place.insert(Arc::new(catalogue.server_with(server.as_str(), &cell.traits)?));
                }
            }
            if !parties.clients.contains_key(&cell.client) {
                let choice = catalogue.client(&cell.client)?;
                // A client that cannot be built is an error of its profile, not of the cells that name it.
                Client::new(&choice.profile, choice.list.as_deref())?;
                if let Some(release) = own_release(&cell.client)
                    && let Ok(own) = catalogue.server(release)
                {
                    parties.own.insert(cell.client.clone(), Arc::new(own));
                }
                parties.clients.insert(cell.client.clone(), Arc::new(choice));
            }
        }
        Ok(parties)
    }

    /// Resolves what cells of the session feed name, too.
    pub fn with_feeds<'a>(
        mut self,
        cells: impl IntoIterator<Item = &'a FeedCell>,
        variants: &Variants,
    ) -> Result<Parties, VariantError> {
        for cell in cells {
            if let Entry::Vacant(place) = self.variants.entry(laid(cell)) {
                place.insert(Arc::new(variants.with(&cell.variant, &cell.traits)?));
            }
        }
        Ok(self)
    }

    pub(super) fn variant(&self, cell: &FeedCell) -> Option<&Variant> {
        self.variants.get(&laid(cell)).map(Arc::as_ref)
    }

    pub(super) fn server(&self, cell: &Cell) -> Option<&Profile<ServerTraits>> {
        self.servers.get(&key(cell)).map(Arc::as_ref)
    }

    /// The server of that name, with the cell's traits laid over it.
    pub(super) fn successor(&self, cell: &Cell, name: &str) -> Option<Arc<Profile<ServerTraits>>> {
        self.servers.get(&(name.to_owned(), cell.traits.to_string())).cloned()
    }

    /// The server that the client was released with, if there is a profile of it.
    pub(super) fn own_server(&self, client: &str) -> Option<&Profile<ServerTraits>> {
        self.own.get(client).map(Arc::as_ref)
    }

    pub(super) fn client(&self, name: &str) -> Option<&ClientChoice> {
        self.clients.get(name).map(Arc::as_ref)
    }
}

/// The release of a Python client, which is its server's too: `1.43.1+AB` of `python-1.43.1+AB/token_callbacks`.
fn own_release(client: &str) -> Option<&str> {
    let release = client.strip_prefix("python-")?;
    Some(release.split_once('/').map_or(release, |(release, _)| release))
}

fn laid(cell: &FeedCell) -> (String, String) {
    (cell.variant.clone(), cell.traits.to_string())
}

fn key(cell: &Cell) -> (String, String) {
    (cell.server.clone(), cell.traits.to_string())
}
