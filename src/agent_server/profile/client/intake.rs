//! How fast an application takes what its socket brings, and what becomes of the rest meanwhile.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Seconds;

/// Between the socket and the application. The defaults are an application that takes each frame at once, as every released
/// client does whose callbacks cost nothing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IntakeTraits {
    /// Seconds that the application is busy after each time it took something; 0 for never.
    pub handle_s: Seconds,
    /// Where frames wait while it is busy.
    pub queue: ReceiveQueue,
    /// Frames that a bounded queue holds, 1 or more: at so many the socket is not read. Says nothing of any other queue.
    pub queue_frames: NonZeroU64,
    /// How much it takes at a time.
    pub takes: Takes,
}

impl Default for IntakeTraits {
    fn default() -> IntakeTraits {
        IntakeTraits {
            handle_s: Seconds::default(),
            queue: ReceiveQueue::default(),
            queue_frames: NonZeroU64::MIN.saturating_add(63),
            takes: Takes::default(),
        }
    }
}

impl IntakeTraits {
    /// Whether anything ever waits for the application.
    pub fn is_slow(&self) -> bool {
        !self.handle_s.is_zero()
    }
}

/// Where frames wait while the application is busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveQueue {
    /// On the wire: the socket is not read and nothing of the client's own is done, and whoever sends is held up (a callback
    /// that is called from the loop that reads).
    #[default]
    None,
    /// In the client, up to a limit; beyond it on the wire.
    Bounded,
    /// In the client, however many there are (a channel without a bound, a callback that nobody awaits, a browser's event
    /// loop).
    Unbounded,
}

/// How much an application takes at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// One frame.
    #[default]
    One,
    /// All that wait, at the cost of one.
    All,
}
