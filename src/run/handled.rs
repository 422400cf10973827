//! Frames that applications have taken, for whoever waits until a slow one has taken all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use crate::agent_server::client::Incoming;
use crate::agent_server::link::Onlooker;

/// An application that has not taken all within an hour of its clock is left to it.
const PATIENCE: Duration = Duration::from_hours(1);

/// A count that clients and whoever waits for them share.
#[derive(Debug, Clone, Default)]
pub(super) struct Handled(Arc<AtomicU64>);

impl Handled {
    /// One more.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until applications that are `busy` for so long with what they take took all that there is: until none took anything
    /// for twice that time, and a moment. Those that are never busy are not waited for.
    pub(super) async fn out(&self, busy: Duration) {
        if busy.is_zero() {
            return;
        }
        let step = busy * 2 + Duration::from_millis(500);
        let (mut waited, mut before) = (Duration::ZERO, self.0.load(Ordering::Relaxed));
        while waited < PATIENCE {
            sleep(step).await;
            waited += step;
            let now = self.0.load(Ordering::Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }
}

impl Onlooker for Handled {
    fn frame(&mut self, _: Incoming<'_>) {
        self.add();
    }
}
