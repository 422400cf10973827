//! One clock for everything that is noted about a live run, whatever process notes it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The run's clock: seconds since the run began, on the machine's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct RunClock {
    began: Instant,
    unix: f64,
}

impl RunClock {
    /// A clock that starts now.
    pub fn start() -> RunClock {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
        RunClock { began: Instant::now(), unix }
    }

    /// Seconds since it started.
    pub fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// What a moment in Unix time, seconds, is on this clock. Another process on this machine shares the calendar.
    pub fn of_unix(&self, unix: f64) -> f64 {
        unix - self.unix
    }

    /// What a moment on the monotonic clock is on this one.
    pub fn of_instant(&self, at: Instant) -> f64 {
        match at.checked_duration_since(self.began) {
            Some(after) => after.as_secs_f64(),
            None => -self.began.duration_since(at).as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_and_the_monotonic_clock_agree() {
        let clock = RunClock::start();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        assert!((clock.of_unix(unix) - clock.now()).abs() < 0.05);
        assert!((clock.of_instant(Instant::now()) - clock.now()).abs() < 0.05);
    }
}
