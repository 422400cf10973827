//! What answers at an address: a server, the one that took its place, or for a while nobody.

use std::sync::{Arc, Mutex};

use super::{Server, lock};

/// Where a server stands. Cheap to clone; all clones are one place.
#[derive(Debug, Clone)]
pub struct Stage(Arc<Mutex<Option<Server>>>);

impl Stage {
    /// A place where that server stands.
    pub fn of(server: &Server) -> Stage {
        Stage(Arc::new(Mutex::new(Some(server.clone()))))
    }

    /// Who stands there now.
    pub fn server(&self) -> Option<Server> {
        lock(&self.0).clone()
    }

    /// Nobody stands there any more. What was connected stays so.
    pub fn clear(&self) {
        *lock(&self.0) = None;
    }

    /// That server stands there from now on.
    pub fn enter(&self, server: &Server) {
        *lock(&self.0) = Some(server.clone());
    }
}
