//! The rig's own load, and whether its figures may be believed.

use std::time::Duration;

use super::lane::{BlockCost, Cut};
use super::readers::{Memory, ReadersSeen};
use crate::probe::cpu::MachineTime;
use crate::probe::delay::Delays;
use crate::probe::noise::Noise;
use crate::record::bench::{Quantiles, RigReport, Settings};

/// A generator that is later than this for one chunk in a hundred, and later than the time between two chunks, has not
/// held its rate.
const LATE: Duration = Duration::from_millis(20);

/// Share of a core from which the subscribers' thread, in an open loop, has no room left: what it sees late may have
/// come in time.
const READER_FULL: f64 = 0.9;

/// From here on a fixed piece of work takes so different a time that no figure of the same machine compares.
const NOISY: f64 = 0.5;

/// Share of a block's time that a server may be ready to run and not run. Alone on its core it hardly ever is (0 %
/// seen); with as many busy processes as cores beside it, half of the time. Its CPU suffers less than its delays.
const WAITED: f64 = 0.25;

/// Share of the machine that its host may take away.
const STOLEN: f64 = 0.3;

/// Looks at the machine between two rounds, a millisecond each.
const LOOKS: u32 = 3;

/// Collects the load while blocks run.
pub(super) struct Rig {
    cores: u32,
    descriptors: u64,
    generator: Duration,
    took: Duration,
    server_delay: Option<Duration>,
    server_took: Duration,
    lag: Delays,
    refused: u64,
    noise: Noise,
    machine: Option<MachineTime>,
    loop_lag: Vec<Quantiles>,
    server_bytes: Option<f64>,
    client_bytes: Option<f64>,
    shared_bytes: Option<u64>,
}

impl Rig {
    pub(super) fn new(descriptors: u64, cores: u32) -> Rig {
        Rig {
            cores,
            descriptors,
            generator: Duration::ZERO,
            took: Duration::ZERO,
            server_delay: Some(Duration::ZERO),
            server_took: Duration::ZERO,
            lag: Delays::new(),
            refused: 0,
            noise: Noise::with_room(1024),
            machine: MachineTime::now(),
            loop_lag: Vec::new(),
            server_bytes: None,
            client_bytes: None,
            shared_bytes: None,
        }
    }

    /// Connections were made; the figure of the largest number of them counts.
    pub(super) fn connected(&mut self, memory: Option<Memory>) {
        if let Some(memory) = memory {
            self.server_bytes = memory.server.or(self.server_bytes);
            self.client_bytes = Some(memory.client);
            self.shared_bytes = Some(memory.shared);
        }
    }

    pub(super) fn block(&mut self, cost: &BlockCost) {
        self.took += cost.took;
        if let Some((before, after)) = &cost.readings {
            self.server_took += cost.took;
            let waited = after.run_delay.zip(before.run_delay).map(|(a, b)| a.saturating_sub(b));
            self.server_delay = self.server_delay.zip(waited).map(|(all, more)| all + more);
        }
        if let Some(emitted) = &cost.emitted {
            self.generator += emitted.cpu;
            self.lag.merge(&emitted.lag);
            self.refused += emitted.refused;
        }
    }

    /// Looks at the machine, while no block runs.
    pub(super) fn sample(&mut self) {
        for _ in 0..LOOKS {
            self.noise.sample();
        }
    }

    pub(super) fn loop_lag(&mut self, lag: Quantiles) {
        self.loop_lag.push(lag);
    }

    pub(super) fn report(&self, settings: &Settings, readers: &ReadersSeen, cut: Option<&Cut>) -> RigReport {
        let share = |part: Duration, of: Duration| {
            if of.is_zero() { 0.0 } else { part.as_secs_f64() / of.as_secs_f64() }
        };
        // The latest loop of all: one that was late is not made up for by the others.
        let server_loop_lag =
            self.loop_lag.iter().copied().max_by_key(|q| (q.p99_ns, q.max_ns)).unwrap_or_default();
        let mut report = RigReport {
            valid: true,
            reason: None,
            cores: self.cores,
            generator_cpu: share(self.generator, self.took),
            generator_lag: settings.rate.map(|_| self.lag.quantiles()),
            reader_cpu: share(readers.cpu, self.took),
            server_loop_lag,
            server_run_delay: self.server_delay.map(|delay| share(delay, self.server_took)),
            steal: self
                .machine
                .as_ref()
                .zip(MachineTime::now())
                .and_then(|(then, now)| now.stolen_since(then)),
            noise: self.noise.score(),
            server_bytes_per_connection: self.server_bytes,
            client_bytes_per_connection: self.client_bytes,
            client_shared_bytes: self.shared_bytes,
            descriptors: self.descriptors,
        };
        report.reason = self.fault(settings, &report, readers, cut);
        report.valid = report.reason.is_none();
        report
    }

    /// Why these figures may not be quoted, and what to change.
    fn fault(
        &self,
        settings: &Settings,
        report: &RigReport,
        readers: &ReadersSeen,
        cut: Option<&Cut>,
    ) -> Option<String> {
        let rate = settings.rate.unwrap_or_default();
        match cut {
            Some(Cut::Interrupted) => return Some("stopped before the end: run it again".into()),
            Some(Cut::Overloaded { behind, after }) => {
                return Some(format!(
                    "{rate} chunks a second could not be held: {behind} behind after {:.1} s; lower --rate or \
                     --subscribers",
                    after.as_secs_f64()
                ));
            }
            Some(Cut::Stuck { out, of }) => {
                return Some(format!(
                    "nothing moved for a long time, with {out} of {of} chunks of a block published: a subscriber does \
                     not read, or the server hangs"
                ));
            }
            None => {}
        }
        if report.cores < 2 {
            return Some("server and subscribers share one core: use a machine with two or more".into());
        }
        if self.refused > 0 {
            return Some(format!(
                "{} chunks did not get into the server's feed: use fewer --tokens",
                self.refused
            ));
        }
        if !readers.failed.is_empty() {
            let list =
                readers.failed.iter().map(|(why, n)| format!("{n} × {why}")).collect::<Vec<_>>().join(", ");
            return Some(format!("connections ended before the bench did: {list}"));
        }
        let late = LATE.max(Duration::from_secs_f64(if rate > 0.0 { 1.0 / rate } else { 0.0 }));
        let lag = report.generator_lag.map(|l| Duration::from_nanos(l.p99_ns)).unwrap_or_default();
        if lag > late {
            return Some(format!(
                "the generator was {} ms late for one chunk in a hundred: lower --rate, or free a core",
                lag.as_millis()
            ));
        }
        if settings.rate.is_some() && report.reader_cpu > READER_FULL {
            return Some(format!(
                "the subscribers' thread used {:.0} % of its core: lower --rate or --subscribers",
                report.reader_cpu * 100.0
            ));
        }
        if report.server_run_delay.is_some_and(|waited| waited > WAITED) {
            let percent = report.server_run_delay.unwrap_or_default() * 100.0;
            return Some(format!(
                "the servers waited for their core for {percent:.0} % of the time: stop what else runs here"
            ));
        }
        if report.noise.is_some_and(|noise| noise > NOISY) {
            let percent = report.noise.unwrap_or_default() * 100.0;
            return Some(format!(
                "the same work took {percent:.0} % more or less time: stop what else runs here"
            ));
        }
        if report.steal.is_some_and(|steal| steal > STOLEN) {
            let percent = report.steal.unwrap_or_default() * 100.0;
            return Some(format!(
                "the machine's host took {percent:.0} % of its time: try again later, or elsewhere"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settings(rate: Option<f64>) -> Settings {
        Settings {
            server: "1.58.2".into(),
            subscribers: vec![1],
            stalled: 0,
            tokens: 10,
            payload_bytes: 16,
            batch: 1,
            rate,
            repeats: 5,
            seed: 1,
        }
    }

    fn readers(failed: &[(&str, u64)]) -> ReadersSeen {
        let failed: BTreeMap<String, u64> = failed.iter().map(|(why, n)| ((*why).to_owned(), *n)).collect();
        ReadersSeen { cpu: Duration::ZERO, failed }
    }

    /// A rig that is loaded as far as it may be, and not farther.
    fn at_its_limits() -> RigReport {
        let lag = Quantiles { p99_ns: 20_000_000, ..Quantiles::default() };
        RigReport {
            cores: 2,
            generator_lag: Some(lag),
            reader_cpu: READER_FULL,
            server_run_delay: Some(WAITED),
            steal: Some(STOLEN),
            noise: Some(NOISY),
            ..RigReport::default()
        }
    }

    #[test]
    fn a_rig_at_its_limits_is_valid() {
        let rig = Rig::new(0, 2);
        for rate in [None, Some(100.0)] {
            assert_eq!(rig.fault(&settings(rate), &at_its_limits(), &readers(&[]), None), None);
        }
        // Chunks that are seconds apart may be late by more than those that are not.
        let slow = Quantiles { p99_ns: 400_000_000, ..Quantiles::default() };
        let slow = RigReport { generator_lag: Some(slow), ..at_its_limits() };
        assert_eq!(rig.fault(&settings(Some(2.0)), &slow, &readers(&[]), None), None);
    }

    #[test]
    fn each_fault_says_what_to_change() {
        let fine = at_its_limits;
        let late = Quantiles { p99_ns: 21_000_000, ..Quantiles::default() };
        for (report, said) in [
            (RigReport { cores: 1, ..fine() }, "two or more"),
            (RigReport { generator_lag: Some(late), ..fine() }, "lower --rate"),
            (RigReport { reader_cpu: 0.95, ..fine() }, "lower --rate or --subscribers"),
            (RigReport { server_run_delay: Some(0.37), ..fine() }, "37 % of the time"),
            (RigReport { noise: Some(0.6), ..fine() }, "60 %"),
            (RigReport { steal: Some(0.4), ..fine() }, "40 %"),
        ] {
            let fault = Rig::new(0, 2).fault(&settings(Some(100.0)), &report, &readers(&[]), None);
            assert!(fault.as_ref().is_some_and(|f| f.contains(said)), "{said}: {fault:?}");
        }
        let mut refusing = Rig::new(0, 2);
        refusing.refused = 3;
        let fault = refusing.fault(&settings(None), &fine(), &readers(&[]), None);
        assert!(fault.unwrap().contains("3 chunks"));
        let fault = Rig::new(0, 2).fault(&settings(None), &fine(), &readers(&[("closed 1013", 2)]), None);
        assert!(fault.unwrap().contains("2 × closed 1013"));
        // Flat out, a reader without room is no fault: what it sees late is not judged.
        let full = RigReport { reader_cpu: 1.0, ..fine() };
        assert_eq!(Rig::new(0, 2).fault(&settings(None), &full, &readers(&[]), None), None);
    }

    #[test]
    fn a_bench_that_was_cut_short_says_by_what() {
        let after = Duration::from_millis(1100);
        for (cut, said) in [
            (Cut::Interrupted, "stopped"),
            (Cut::Overloaded { behind: 90, after }, "90 behind after 1.1 s"),
            (Cut::Stuck { out: 3, of: 10 }, "3 of 10"),
        ] {
            let fault =
                Rig::new(0, 2).fault(&settings(Some(100.0)), &at_its_limits(), &readers(&[]), Some(&cut));
            assert!(fault.as_ref().is_some_and(|f| f.contains(said)), "{said}: {fault:?}");
        }
    }
}
