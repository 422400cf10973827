//! The server's idea of now. Under a paused runtime it starts at a fixed moment, so that the same seed
//! writes the same timestamps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDateTime};
use tokio::time::Instant;

/// A monotonic clock with a calendar reading.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    epoch: NaiveDateTime,
}

impl Clock {
    /// Starts at 2026-11-30 07:45:00, whatever the day: for paused runtimes.
    pub fn fixed() -> Clock {
        Clock { start: Instant::now(), epoch: at_unix(1_796_024_700, 0) }
    }

    /// Starts now, in UTC.
    pub fn wall() -> Clock {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Clock { start: Instant::now(), epoch: at_unix(seconds, now.subsec_nanos()) }
    }

    /// Time since the server started.
    pub fn uptime(&self) -> Duration {
        self.start.elapsed()
    }

    /// Now, as the events carry it: naive ISO 8601 with microseconds.
    pub fn timestamp(&self) -> String {
        self.timestamp_at(self.uptime())
    }

    /// The same for a moment after the server started.
    pub(super) fn timestamp_at(&self, uptime: Duration) -> String {
        let micros = i64::try_from(uptime.as_micros()).unwrap_or(i64::MAX);
        let now =
            self.epoch.checked_add_signed(chrono::TimeDelta::microseconds(micros)).unwrap_or(self.epoch);
        now.format("%Y-%m-%dT%H:%M:%S%.6f").to_string()
    }
}

fn at_unix(seconds: i64, nanos: u32) -> NaiveDateTime {
    DateTime::from_timestamp(seconds, nanos).unwrap_or_default().naive_utc()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_fixed_clock_writes_what_the_real_server_writes() {
        let clock = Clock::fixed();
        tokio::time::sleep(Duration::from_micros(123_456)).await;
        assert!(clock.timestamp().starts_with("2026-11-30T07:45:00.12"), "{}", clock.timestamp());
        assert_eq!(clock.timestamp().len(), "2026-11-30T07:45:00.123456".len());
    }
}
