//! All subscribers of all servers, on one thread that costs as little as it can.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::FanOutError;
use super::generator::Schedule;
use super::lane::{Lane, Party};
use crate::record::bench::Quantiles;
use crate::swarm::{Block, Conduct, ConnectReport, Pace, Report, SocketSpec, Swarm};

/// How long frames that are out may take to be read, without one arriving, before they count as lost.
const DRAIN: Duration = Duration::from_secs(5);

/// The same for a group that had frames lost already: it is not believed for so long again.
const SHORT_DRAIN: Duration = Duration::from_millis(250);

/// Heap bytes per connection, on both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// On the server's thread; absent for the reference.
    pub(super) server: Option<f64>,
    /// On the subscribers' thread.
    pub(super) client: f64,
    /// What that thread holds for all of them together.
    pub(super) shared: u64,
}

/// What one server's subscribers saw since everything was last forgotten.
#[derive(Debug, Clone)]
pub(super) struct GroupSeen {
    pub(super) deltas: u64,
    pub(super) missing: u64,
    pub(super) duplicated: u64,
    pub(super) reordered: u64,
    pub(super) first_delta: Quantiles,
    pub(super) frame_gap: Quantiles,
    pub(super) token_gap: Quantiles,
    pub(super) delay: Quantiles,
}

/// What became of the subscribers' thread.
#[derive(Debug)]
pub(super) struct ReadersSeen {
    /// Its CPU while rounds ran.
    pub(super) cpu: Duration,
    /// Connections that ended before the bench did, by reason.
    pub(super) failed: BTreeMap<String, u64>,
}

/// The subscribers.
pub(super) struct Readers {
    swarm: Swarm,
    /// Connections of each group.
    open: Vec<u32>,
    /// Deltas that each group had when its block began.
    before: Vec<u64>,
    cpu: Duration,
    cpu_before: Duration,
    /// Healthy connections that ended, by reason.
    failed: BTreeMap<String, u64>,
    /// Groups that did not get all that was due.
    short: Vec<bool>,
}

impl Readers {
    pub(super) fn start(groups: usize) -> Result<Readers, FanOutError> {
        let swarm = Swarm::spawn(groups + 1)?;
        let (open, before) = (vec![0; groups], vec![0; groups]);
        let (cpu, cpu_before, failed) = (Duration::ZERO, Duration::ZERO, BTreeMap::new());
        let short = vec![false; groups];
        Ok(Readers { swarm, open, before, cpu, cpu_before, failed, short })
    }

    /// Connects subscribers that do not read as they should. They are in a group that nobody measures.
    pub(super) fn connect_unhealthy(&mut self, lane: &Lane, conducts: &[Conduct]) -> Result<(), FanOutError> {
        let Party::Server(host) = &lane.party else { return Ok(()) };
        let group = self.open.len();
        let path = format!("/sockets/events/{}", host.conversation);
        let spec = |conduct: &Conduct| SocketSpec {
            addr: host.addr,
            path_and_query: path.clone(),
            auth_frame: None,
            group,
            conduct: *conduct,
        };
        let specs: Vec<SocketSpec> = conducts.iter().map(spec).collect();
        let report = self.swarm.connect(specs, Pace::default())?;
        made(&report, conducts.len())
    }

    /// Deltas that a group got since its block began.
    pub(super) fn got(&self, group: usize) -> u64 {
        self.swarm.progress(group).deltas.saturating_sub(self.before[group])
    }

    /// Brings a lane to that many subscribers. Says what each cost if there are new ones.
    pub(super) fn connect(&mut self, lane: &Lane, subscribers: u32) -> Result<Option<Memory>, FanOutError> {
        let new = subscribers.saturating_sub(self.open[lane.group]);
        if new == 0 {
            return Ok(None);
        }
        let (addr, path) = match &lane.party {
            Party::Server(host) => (host.addr, format!("/sockets/events/{}", host.conversation)),
            Party::Raw(writer) => (writer.addr, "/".to_owned()),
        };
        let spec = SocketSpec {
            addr,
            path_and_query: path,
            auth_frame: None,
            group: lane.group,
            conduct: Conduct::Healthy,
        };
        let before = match &lane.party {
            Party::Server(host) => Some(host.read()?.allocations),
            Party::Raw(_) => None,
        };
        let accepted = match &lane.party {
            Party::Server(_) => None,
            Party::Raw(writer) => Some(writer.accept(new as usize)),
        };
        let report = self.swarm.connect(vec![spec; new as usize], Pace::default())?;
        made(&report, new as usize)?;
        if let Some(accepted) = accepted {
            let gone = || FanOutError::Reference(std::io::Error::other("its thread ended"));
            accepted.recv().map_err(|_| gone())?.map_err(FanOutError::Reference)?;
        }
        self.open[lane.group] = subscribers;
        let server = match (&lane.party, before) {
            (Party::Server(host), Some(before)) => {
                let held = host.read()?.allocations.since(&before).live_bytes;
                Some(whole(held.max(0).cast_unsigned()) / f64::from(new))
            }
            _ => None,
        };
        let memory = self.swarm.report()?.memory;
        let client = whole(memory.socket_bytes) / whole(memory.sockets.max(1));
        Ok(Some(Memory { server, client, shared: memory.shared_bytes }))
    }

    /// Tells a group of the block that is to come.
    pub(super) fn begin(
        &mut self,
        group: usize,
        schedule: Schedule,
        first: u64,
        batch: u32,
    ) -> Result<(), FanOutError> {
        self.before[group] = self.swarm.progress(group).deltas;
        let block = Block { start: schedule.start, gap: schedule.gap, first, batch };
        Ok(self.swarm.begin(group, block)?)
    }

    /// Waits until a group has what is due to it, or until nothing has come for a while.
    pub(super) fn drain(&mut self, group: usize, due: u64, stop: &AtomicBool) {
        let patience = if self.short[group] { SHORT_DRAIN } else { DRAIN };
        let mut last = (0, Instant::now());
        loop {
            let got = self.got(group);
            if got >= due || stop.load(Ordering::Relaxed) {
                return;
            }
            if got != last.0 {
                last = (got, Instant::now());
            } else if last.1.elapsed() > patience {
                self.short[group] = true;
                return;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Forgets what was counted and timed so far, but no connection that ended.
    pub(super) fn forget(&mut self) -> Result<(), FanOutError> {
        let report = self.swarm.report()?;
        self.note_failed(&report);
        self.swarm.forget()?;
        self.cpu_before = self.swarm.report()?.cpu;
        Ok(())
    }

    /// What every group saw since the last [`Readers::forget`].
    pub(super) fn seen(&mut self) -> Result<Vec<GroupSeen>, FanOutError> {
        let report = self.swarm.report()?;
        self.cpu += report.cpu.saturating_sub(self.cpu_before);
        self.cpu_before = report.cpu;
        Ok(seen(&report))
    }

    fn note_failed(&mut self, report: &Report) {
        for (why, n) in report.groups.iter().take(self.open.len()).flat_map(|group| &group.closed) {
            *self.failed.entry(why.to_string()).or_default() += n;
        }
    }

    pub(super) fn stop(mut self) -> Result<ReadersSeen, FanOutError> {
        // The swarm's last report is of what came since everything was last forgotten.
        let report = self.swarm.report()?;
        self.note_failed(&report);
        let report = self.swarm.stop()?;
        let unread: u64 = report.groups.iter().take(self.open.len()).map(|group| group.unread).sum();
        if unread > 0 {
            self.failed.insert("left with bytes unread".to_owned(), unread);
        }
        Ok(ReadersSeen { cpu: self.cpu, failed: self.failed })
    }
}

/// Whether all connections were made; else why not.
fn made(report: &ConnectReport, wanted: usize) -> Result<(), FanOutError> {
    if report.ready == wanted as u64 {
        return Ok(());
    }
    let why: Vec<String> = report.refused.iter().map(|(why, n)| format!("{n} × {why}")).collect();
    let (ready, why) = (report.ready, why.join(", "));
    Err(FanOutError::Connect(format!("{ready} of {wanted} connections were made: {why}")))
}

fn seen(report: &Report) -> Vec<GroupSeen> {
    let group = |group: &crate::swarm::GroupReport| GroupSeen {
        deltas: group.counts.deltas,
        missing: group.counts.missing,
        duplicated: group.counts.duplicated,
        reordered: group.counts.reordered,
        first_delta: group.times.first_delta.quantiles(),
        frame_gap: group.times.frame_gap.quantiles(),
        token_gap: group.times.token_gap.quantiles(),
        delay: group.times.delay.quantiles(),
    };
    report.groups.iter().map(group).collect()
}

#[expect(clippy::cast_precision_loss, reason = "bytes of one process are far below 2^52")]
fn whole(n: u64) -> f64 {
    n as f64
}
