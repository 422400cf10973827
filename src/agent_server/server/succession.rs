//! The end of a server, and who takes its place: its sockets break, its turn dies, and its log stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::conversation::Conversation;
use super::subscriber::Subscriber;
use super::{Inner, PeerId, Pulse, Server, idle, lock};
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::seed::Ids;
use tokio::sync::watch;
use tokio::time::Instant;

impl Server {
    /// How far its turns have come, those of its successors included.
    pub fn pulse(&self) -> watch::Receiver<Pulse> {
        self.0.pulse.subscribe()
    }

    /// The numbers of the faults that have come in the server, those of its predecessors and successors included.
    pub fn fired(&self) -> BTreeSet<usize> {
        self.0.faults.fired()
    }

    /// Closes sockets with that code: the connection `peer`, or all of them. Returns how many there were.
    pub async fn hang_up(&self, peer: Option<PeerId>, code: u16, reason: &str) -> usize {
        let mut closed = 0;
        for conversation in self.0.conversations() {
            for (_, subscriber) in conversation.bus.subscribers().iter() {
                let wanted = |of: PeerId| peer.is_none_or(|only| only == of);
                match &**subscriber {
                    Subscriber::Legacy(socket) if wanted(socket.peer()) => {
                        socket.hang_up(code, reason).await;
                        closed += 1;
                    }
                    Subscriber::Session(socket) if wanted(socket.peer()) => {
                        socket.hang_up(code, reason);
                        closed += 1;
                    }
                    _ => {}
                }
            }
        }
        closed
    }

    /// The person's first message is sent at that moment: the times of its faults count from here. Without this they count from
    /// the beginning of the first turn.
    pub fn begins(&self, at: Instant) {
        self.0.faults.begins(at);
    }

    /// Refuses the next upgrades with that status, behind those that are to be refused already; those of its successors too.
    /// Here and below `by` is the number of the fault, and what it says holds for successors.
    pub fn refuse(&self, by: usize, status: u16, times: u32) {
        self.0.faults.refuse(by, times, status);
    }

    /// Sends the messages of the legacy socket in fragments of so many bytes.
    pub fn fragment(&self, by: usize, bytes: usize) {
        self.0.faults.fragment(by, bytes);
    }

    /// Lets the webhook sinks answer posts that arrive from now on that late, for ever or for that long.
    pub fn slow_sink(&self, by: usize, latency: Duration, lasts: Option<Duration>) {
        self.0.faults.slow_sink(by, latency, lasts);
    }

    /// Its event loop does nothing for that long. Only a mortal server can be blocked.
    pub fn block(&self, lasts: Duration) {
        self.0.gate.silence(Some(lasts));
    }

    /// The next appends to the event log fail, behind those that are to fail already.
    pub fn fail_appends(&self, by: usize, times: u32) {
        self.0.faults.fail_appends(by, times);
    }

    /// Whether a turn is running.
    pub fn is_running(&self) -> bool {
        self.0.conversations().iter().any(|c| c.running.load(Ordering::SeqCst))
    }

    /// Goes down: connections break without a close, turns stop where they are. Only a mortal server can die.
    pub fn die(&self) {
        for conversation in self.0.conversations() {
            conversation.kill_turn();
        }
        self.0.gate.cut();
    }

    /// A server of that profile with the same conversations, as their logs have them, that goes on with the same notes.
    pub async fn succeed(&self, profile: &Profile<ServerTraits>) -> Server {
        let old = &self.0;
        let generation =
            1 + std::iter::successors(old.before.as_ref(), |server| server.0.before.as_ref()).count();
        let release = profile.release.as_ref();
        let server = Server(Arc::new(Inner {
            traits: profile.traits.clone(),
            version: release.map_or_else(|| profile.release_name.clone(), ToString::to_string),
            release: profile.release.clone(),
            ids: Mutex::new(Ids::new(old.config.seed.derive(&format!("ids {generation}")))),
            process: idle::ProcessClock::new(&old.clock),
            costs: old.costs.clone(),
            faults: old.faults.clone(),
            config: old.config.clone(),
            clock: old.clock.clone(),
            conversations: Mutex::new(BTreeMap::new()),
            removed: Mutex::default(),
            settings: Mutex::new(lock(&old.settings).clone()),
            notes: old.notes.clone(),
            pulse: old.pulse.clone(),
            gate: Arc::default(),
            scripts: Mutex::default(),
            before: Some(self.clone()),
        }));
        for earlier in old.conversations() {
            let (id, number) = (earlier.id.clone(), earlier.number);
            let conversation =
                Conversation::open(&server.0, id.clone(), number, super::setup::Setup::default()).await;
            conversation.inherit(&earlier);
            lock(&server.0.conversations).insert(id, conversation);
        }
        server
    }
}
