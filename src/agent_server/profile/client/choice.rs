//! What a client's name asks for: a profile, and the callback list after a slash.

use super::ClientTraits;
use crate::agent_server::profile::{Profile, ProfileError, Shelf};

/// A client profile and how its application listens.
#[derive(Debug, Clone)]
pub struct ClientChoice {
    /// The profile, with the traits of exactly the release asked for.
    pub profile: Profile<ClientTraits>,
    /// The callback list asked for; `None` for the one that an application of that era uses.
    pub list: Option<String>,
}

impl ClientChoice {
    /// What `name` asks for, `python-1.47.0` or `python-1.47.0/token_callbacks`.
    pub(in crate::agent_server::profile) fn find(
        shelf: &Shelf,
        name: &str,
    ) -> Result<ClientChoice, ProfileError> {
        let (client, list) = match name.split_once('/') {
            Some((client, list)) => (client, Some(list)),
            None => (name, None),
        };
        let profile: Profile<ClientTraits> = shelf.resolve(client)?;
        if let Some(list) = list {
            profile.list(list)?;
        }
        Ok(ClientChoice { profile, list: list.map(str::to_owned) })
    }
}

impl Profile<ClientTraits> {
    /// What the callback list `name` is to a delta.
    pub fn list(&self, name: &str) -> Result<super::Listening, ProfileError> {
        let listen = &self.traits.listen;
        listen.lists.get(name).copied().ok_or_else(|| ProfileError::List {
            client: self.release_name.clone(),
            list: name.to_owned(),
            known: listen.known(),
        })
    }
}
