//! Lets the faults of a cell happen when they are due, and knows which of them came.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::handled::Handled;
use crate::agent_server::fault::{Conditions, Fault, Kind, Mark, Moment};
use crate::agent_server::link::Target;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::rest;
use crate::agent_server::server::{Pulse, Server, Stage, StreamFault};
use crate::probe::ledger::Endpoint;
use crate::record::Hop;

/// What the faults of a cell act on.
#[derive(Clone)]
pub(super) struct Set {
    pub(super) stage: Stage,
    /// Who stands on it first, and shares with whoever comes next what is to go wrong.
    pub(super) first: Server,
    /// The way that no fault is on.
    pub(super) target: Target,
    /// The ways of the subscribers, in their order.
    pub(super) ways: Vec<Arc<Conditions>>,
    pub(super) endpoint: Endpoint,
    /// The server that comes back, by fault: another one for a swap, the same for a restart.
    pub(super) successors: Vec<Option<Arc<Profile<ServerTraits>>>>,
    /// Frames that the applications of all subscribers took.
    pub(super) handled: Handled,
    /// Which subscribers may come, by moment of joining.
    pub(super) doors: Vec<watch::Sender<bool>>,
}

/// The faults of a cell at work.
pub(super) struct Director {
    faults: Arc<Vec<Fault>>,
    set: Set,
    fired: Arc<Mutex<BTreeSet<usize>>>,
    schedule: Option<JoinHandle<()>>,
}

/// Those that the turn does itself, with their numbers.
pub(super) fn stream_faults(faults: &[Fault]) -> Vec<StreamFault> {
    let all = faults.iter().enumerate();
    let own = all.filter(|(_, fault)| {
        fault.kind.in_turn() || matches!(fault.kind, Kind::Lossy { .. } | Kind::ReplayDeltas { .. })
    });
    own.map(|(number, fault)| StreamFault { number, fault: fault.clone() }).collect()
}

/// Whether the director has something to do for it while the cell runs.
fn directed(fault: &Fault) -> bool {
    stream_faults(std::slice::from_ref(fault)).is_empty() && !slow_from_the_start(fault)
}

fn slow_from_the_start(fault: &Fault) -> bool {
    matches!(fault.kind, Kind::SlowSink { .. }) && fault.moment == Moment::Start
}

/// Sinks that are slow from the beginning are so before there is a conversation, which may post as soon as it is opened.
pub(super) fn slow_sinks(faults: &[Fault], server: &Server) {
    for (number, fault) in faults.iter().enumerate().filter(|(_, fault)| slow_from_the_start(fault)) {
        if let Kind::SlowSink { latency, lasts } = fault.kind {
            server.slow_sink(number, latency, lasts);
        }
    }
}

impl Director {
    /// Whoever is there from the beginning acts at once; the rest waits for [`Director::begin`].
    pub(super) async fn new(faults: &[Fault], set: Set) -> Director {
        let director =
            Director { faults: Arc::new(faults.to_vec()), set, fired: Arc::default(), schedule: None };
        for (number, fault) in director.faults.iter().enumerate() {
            if fault.moment == Moment::Start && directed(fault) {
                director.act(number).await;
            }
        }
        director
    }

    /// The person's first message is sent now. Every other fault waits for its moment from here on.
    pub(super) fn begin(&mut self, pulse: &watch::Receiver<Pulse>) {
        let now = Instant::now();
        self.set.first.begins(now);
        let waits = |(_, fault): &(usize, &Fault)| fault.moment != Moment::Start && directed(fault);
        let pending = self
            .faults
            .iter()
            .enumerate()
            .filter(waits)
            .map(|(number, fault)| (number, Due::of(fault.moment, now)));
        let (faults, set, fired) = (self.faults.clone(), self.set.clone(), self.fired.clone());
        let act =
            move |number| Act { number, faults: faults.clone(), set: set.clone(), fired: fired.clone() };
        self.schedule = Some(tokio::spawn(scheduled(pending.collect(), pulse.clone(), act)));
    }

    async fn act(&self, number: usize) {
        let (faults, set, fired) = (self.faults.clone(), self.set.clone(), self.fired.clone());
        Act { number, faults, set, fired }.now().await;
    }

    /// Waits until every fault that can still come has come.
    pub(super) async fn done(&mut self, limit: Duration) {
        let Some(schedule) = self.schedule.take() else { return };
        let abort = schedule.abort_handle();
        if tokio::time::timeout(limit, schedule).await.is_err() {
            abort.abort();
        }
    }

    /// The faults that never came, in words.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut fired = self.fired.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        fired.extend(self.set.first.fired());
        let came = |number: &usize, fault: &Fault| match &fault.kind {
            Kind::NoPong => self.ways(fault).any(|way| way.eaten() > 0),
            // What is in force from its moment on has come once something met it.
            _ => fired.contains(number) || self.ways(fault).any(|way| way.met(*number)),
        };
        let all = self.faults.iter().enumerate();
        all.filter(|(number, fault)| !came(number, fault)).map(|(_, fault)| fault.to_string()).collect()
    }

    fn ways(&self, fault: &Fault) -> impl Iterator<Item = &Arc<Conditions>> {
        ways(&self.set, fault)
    }
}

fn ways<'a>(set: &'a Set, fault: &Fault) -> impl Iterator<Item = &'a Arc<Conditions>> {
    let fault = fault.clone();
    (1..).zip(&set.ways).filter(move |(n, _)| fault.concerns(*n)).map(|(_, way)| way)
}

/// When a fault is due, as far as that is known.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// With that many chunks.
    Chunks(u64),
    /// So long after that.
    After(Mark, Duration),
    /// Then.
    At(Instant),
}

impl Due {
    /// `began` is when the person's first message was sent.
    fn of(moment: Moment, began: Instant) -> Due {
        match moment {
            Moment::Start => Due::At(began),
            Moment::Time(at) => Due::At(began + at),
            Moment::Token(n) => Due::Chunks(n),
            Moment::After(mark, wait) => Due::After(mark, wait),
        }
    }

    /// The same with what has happened by now.
    fn after(self, pulse: &Pulse, now: Instant) -> Due {
        let happened = |mark| match mark {
            Mark::FirstDelta => pulse.deltas > 0,
            Mark::Reply => pulse.replies > 0,
            Mark::Turn => pulse.turns > 0,
        };
        match self {
            Due::Chunks(n) if pulse.chunks >= n => Due::At(now),
            Due::After(mark, wait) if happened(mark) => Due::At(now + wait),
            other => other,
        }
    }
}

/// Lets faults happen, those of one moment in the order of the file: whoever waits for one pulse is woken in any order, so only
/// one does.
async fn scheduled(
    mut pending: Vec<(usize, Due)>,
    mut pulse: watch::Receiver<Pulse>,
    act: impl Fn(usize) -> Act,
) {
    let mut acts = Vec::new();
    loop {
        let (seen, now) = (*pulse.borrow_and_update(), Instant::now());
        let mut come = Vec::new();
        pending.retain_mut(|(number, due)| {
            *due = due.after(&seen, now);
            let is_due = matches!(due, Due::At(at) if *at <= now);
            come.extend(is_due.then_some(*number));
            !is_due
        });
        for number in come {
            let mut happening = Box::pin(act(number).now());
            // What can happen at once does, before anybody else does anything; only what takes time goes on beside the rest.
            if poll_fn(|cx| Poll::Ready(happening.as_mut().poll(cx))).await.is_pending() {
                acts.push(tokio::spawn(happening));
            }
        }
        if pending.is_empty() {
            break;
        }
        let next =
            pending.iter().filter_map(|(_, due)| if let Due::At(at) = due { Some(*at) } else { None }).min();
        tokio::select! {
            biased;
            changed = pulse.changed() => {
                if changed.is_err() {
                    break;
                }
            }
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
        }
    }
    for act in acts {
        // One that panicked has not come.
        let _ = act.await;
    }
}

/// One fault that happens.
struct Act {
    number: usize,
    faults: Arc<Vec<Fault>>,
    set: Set,
    fired: Arc<Mutex<BTreeSet<usize>>>,
}

impl Act {
    async fn now(self) {
        let Some(fault) = self.faults.get(self.number) else { return };
        if self.does(fault).await {
            self.fired.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(self.number);
        }
    }

    /// Lets it happen; false when there was nothing that it could happen to, and for what has come only once something meets it.
    async fn does(&self, fault: &Fault) -> bool {
        let (set, by) = (&self.set, self.number);
        let each = |what: &dyn Fn(&Conditions)| ways(set, fault).inspect(|way| what(way)).count() > 0;
        let in_force = |what: &dyn Fn(&Conditions)| {
            ways(set, fault).for_each(|way| what(way));
            false
        };
        let told = |what: &dyn Fn(&Server)| {
            what(&set.first);
            false
        };
        match &fault.kind {
            Kind::Abort => each(&Conditions::cut),
            Kind::Silence { lasts } => each(&|way| way.silence(*lasts)),
            Kind::Stall { lasts } => each(&|way| way.stall(*lasts)),
            Kind::Slow { bytes_per_s } => in_force(&|way| way.slow(by, *bytes_per_s)),
            Kind::Buffer { hold } => in_force(&|way| way.hold(by, *hold)),
            Kind::Lifetime { every } => in_force(&|way| way.lifetime(by, *every)),
            Kind::Handshake { lasts, times } => in_force(&|way| way.handshakes(by, *lasts, *times)),
            Kind::Fragment { bytes } if fault.hop == Hop::Sent => told(&|server| server.fragment(by, *bytes)),
            Kind::Fragment { bytes } => in_force(&|way| way.chop(by, *bytes)),
            Kind::NoPong => in_force(&Conditions::eat_pongs),
            Kind::Join => {
                let doors = (1..).zip(&set.doors).filter(|(n, _)| fault.concerns(*n));
                doors.filter(|(_, door)| !door.send_replace(true)).count() > 0
            }
            Kind::Close { code, reason } => self.close(fault, *code, reason).await,
            Kind::Refuse { status, times } => told(&|server| server.refuse(by, *status, *times)),
            Kind::SlowSink { latency, lasts } => told(&|server| server.slow_sink(by, *latency, *lasts)),
            Kind::Inject { frame } => match set.stage.server() {
                // A client may break the connection over it; it has come all the same.
                Some(server) => {
                    let there = server.attending(&set.target.conversation, set.endpoint) > 0;
                    server.inject(&set.target.conversation, set.endpoint, frame).await;
                    there
                }
                None => false,
            },
            Kind::Say { text, run } => rest::post_message(&set.target, text, *run).await.is_ok(),
            Kind::Block { lasts } => set.stage.server().map(|server| server.block(*lasts)).is_some(),
            Kind::FailAppend { times } => told(&|server| server.fail_appends(by, *times)),
            Kind::Restart { down } | Kind::Swap { down, .. } => self.replace(*down).await,
            // The turn does these.
            Kind::Duplicate { .. }
            | Kind::Reorder { .. }
            | Kind::Late
            | Kind::Delay { .. }
            | Kind::Lossy { .. }
            | Kind::Final { .. }
            | Kind::ReplayDeltas { .. }
            | Kind::Tool { .. }
            | Kind::ProviderError { .. }
            | Kind::Cancel
            | Kind::Retry => false,
        }
    }

    async fn close(&self, fault: &Fault, code: u16, reason: &str) -> bool {
        let Some(server) = self.set.stage.server() else { return false };
        if fault.subscriber.is_none() {
            return server.hang_up(None, code, reason).await > 0;
        }
        let mut closed = 0;
        for way in ways(&self.set, fault) {
            if let Some(peer) = way.peer() {
                closed += server.hang_up(Some(peer), code, reason).await;
            }
        }
        closed > 0
    }

    /// The server goes, and after a while somebody takes its place.
    async fn replace(&self, down: Duration) -> bool {
        let successor = self.set.successors.get(self.number).and_then(Option::as_ref);
        let (Some(old), Some(profile)) = (self.set.stage.server(), successor) else { return false };
        self.set.stage.clear();
        old.die();
        if !down.is_zero() {
            sleep(down).await;
        }
        self.set.stage.enter(&old.succeed(profile).await);
        true
    }
}
