//! What a client does when a connection ends.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Seconds;

/// When and how a client connects again. A client without any of it stays away once a connection has ended.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReconnectTraits {
    /// After a close with 1000 or 1001.
    pub clean: Retry,
    /// After any other end: another code, or none.
    pub abnormal: Retry,
    /// After an upgrade that was refused, or a handshake that failed.
    pub refused: Retry,
    /// Close codes after which it never connects again.
    pub fatal: Vec<u16>,
    /// Seconds of the first wait.
    pub first_s: Seconds,
    /// How many times longer each further wait is, until a connection opens.
    pub factor: u32,
    /// Seconds of the longest wait.
    pub most_s: Seconds,
    /// Up to so many hundredths of the wait are added at random.
    pub jitter_percent: u32,
    /// Seconds after which a handshake counts as failed; 0 for never.
    pub open_timeout_s: Seconds,
    /// Whether durable events are read over REST after a reconnect, and who gets those that were missed.
    pub reconcile: Reconcile,
    /// Whether it reads the durable events over REST once more when a run has ended.
    pub rereads: bool,
    /// Pings of its own.
    pub keepalive: Option<Keepalive>,
}

impl Default for ReconnectTraits {
    fn default() -> ReconnectTraits {
        let second = Seconds::from_secs(1);
        ReconnectTraits {
            clean: Retry::Never,
            abnormal: Retry::Never,
            refused: Retry::Never,
            fatal: Vec::new(),
            first_s: second,
            factor: 1,
            most_s: second,
            jitter_percent: 0,
            open_timeout_s: Seconds::from_secs(0),
            reconcile: Reconcile::Nothing,
            rereads: false,
            keepalive: None,
        }
    }
}

/// Whether a client connects again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// No.
    #[default]
    Never,
    /// Yes, without any wait.
    AtOnce,
    /// Yes, after a wait that grows.
    Backoff,
}

/// What a client does about durable events that it may have missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reconcile {
    /// Nothing.
    #[default]
    Nothing,
    /// It reads them over REST into its list, after the first state update (Python 1.35.0).
    List,
    /// The same, and callbacks get those that are new (Python 1.56.0).
    Callbacks,
}

/// Pings that a client sends by itself.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keepalive {
    /// Seconds between two pings.
    pub every_s: Seconds,
    /// Seconds that it waits for the pong before it closes with 1011.
    pub timeout_s: Seconds,
}

impl ReconnectTraits {
    /// What it does after a connection that ended with that code.
    pub fn after(&self, code: u16) -> Retry {
        match code {
            _ if self.fatal.contains(&code) => Retry::Never,
            1000 | 1001 => self.clean,
            _ => self.abnormal,
        }
    }

    /// The wait before the n-th attempt since a connection last opened, from 0, without jitter.
    pub fn wait(&self, attempt: u32) -> Duration {
        let most = self.most_s.duration();
        let factor = self.factor.max(1).saturating_pow(attempt.min(16));
        self.first_s.duration().saturating_mul(factor).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit() {
        let traits =
            ReconnectTraits { factor: 2, most_s: Seconds::from_secs(30), ..ReconnectTraits::default() };
        let waits: Vec<u64> = (0..7).map(|n| traits.wait(n).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(traits.wait(u32::MAX).as_secs(), 30);
    }

    #[test]
    fn a_fatal_code_is_fatal_whatever_its_kind_allows() {
        let traits = ReconnectTraits {
            clean: Retry::AtOnce,
            abnormal: Retry::Backoff,
            fatal: vec![4001],
            ..ReconnectTraits::default()
        };
        let after = [1000, 1001, 1006, 1011, 4001].map(|code| traits.after(code));
        assert_eq!(after, [Retry::AtOnce, Retry::AtOnce, Retry::Backoff, Retry::Backoff, Retry::Never]);
    }
}
