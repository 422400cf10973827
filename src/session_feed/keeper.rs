//! The store's end of the bus: a listener of the log that hands every event to the coordinator.

use std::cell::RefCell;
use std::rc::Rc;

use super::bus::{Listener, Payload, SessionId, Thrown};
use super::harness::{Harness, Timed};
use super::store::{Coordinator, Store, StoreError};

/// Keeps one session.
pub struct Keeper<S> {
    session: SessionId,
    coordinator: RefCell<Coordinator<S>>,
    failed: RefCell<Option<StoreError>>,
}

impl<S: Store> Keeper<S> {
    /// A keeper of `session`.
    pub fn new(session: SessionId, coordinator: Coordinator<S>) -> Rc<Keeper<S>> {
        Rc::new(Keeper { session, coordinator: RefCell::new(coordinator), failed: RefCell::default() })
    }

    /// Writes everything that is pending, as the end of a session does. A failure is kept like any other.
    pub fn close(&self) {
        let written = self.coordinator.borrow_mut().barrier();
        self.noted(written);
    }

    /// The first failure of the store, if there was one; it is asked for once.
    pub fn take_failure(&self) -> Option<StoreError> {
        self.failed.borrow_mut().take()
    }

    /// Looks at the coordinator.
    pub fn with<T>(&self, look: impl FnOnce(&Coordinator<S>) -> T) -> T {
        look(&self.coordinator.borrow())
    }

    /// The first failure of the store, if there was one.
    pub fn failure(&self) -> Option<String> {
        self.failed.borrow().as_ref().map(ToString::to_string)
    }

    fn noted(&self, outcome: Result<(), StoreError>) {
        if let Err(error) = outcome {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }
}

impl<S: Store> Listener for Keeper<S> {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        if let Payload::Logged { session, event } = what
            && session == self.session
        {
            let offered = self.coordinator.borrow_mut().offer(event.clone(), harness.now());
            // A store that fails never throws into the session: the events stay pending.
            self.noted(offered);
        }
        Ok(())
    }
}

impl<S: Store> Timed for Keeper<S> {
    fn tick(&self, _: &Harness, now: u64) {
        let ticked = self.coordinator.borrow_mut().tick(now);
        self.noted(ticked);
    }

    fn due(&self) -> Option<u64> {
        self.coordinator.borrow().due()
    }
}
