//! One cell of a plan, and its identity.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::aside::{Aside, Does};
use super::idle_policy::IdlePolicy;
use super::workload::Workload;
use crate::agent_server::fault::Fault;
use crate::agent_server::server::SinkModel;
use crate::record::{Budget, Consumer, Expected, Known};
use crate::wire::Mutation;

/// One server, one client, one workload and one mutation, every name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Path-shaped: scenario / server / client / workload / what is bent, blanks written as commas:
    /// `release-skew/1.58.2/python-1.55.1/chat/none`. A callback list is a component of its own. What is bent is the mutation,
    /// the fault, or both with a `+` between.
    pub id: String,
    /// Scenario name.
    pub scenario: String,
    /// The server asked for: a profile, or a release that one covers.
    pub server: String,
    /// Its profile.
    pub server_profile: String,
    /// The client: a release, `python@same` resolved, with `/LIST` when a callback list was asked for.
    pub client: String,
    /// Every way in which the axis asks for it, `python@same` included; at least one.
    pub client_asked: Vec<String>,
    /// Its profile, without a callback list.
    pub client_profile: String,
    /// What the model streams.
    pub workload: Arc<Workload>,
    /// What happens to each delta frame.
    pub mutation: Mutation,
    /// The name of what goes wrong, `none` for nothing.
    pub fault: String,
    /// What goes wrong.
    pub faults: Arc<Vec<Fault>>,
    /// Consumers that must never see a delta.
    pub must_not_receive: BTreeSet<Consumer>,
    /// Traits that are laid over the server's.
    pub traits: Arc<toml::Table>,
    /// How the webhook sink behaves.
    pub sink: SinkModel,
    /// The runtime that ends a server which looks idle, if there is one.
    pub idle_policy: Option<IdlePolicy>,
    /// Copies of the client that attend, at least one.
    pub subscribers: u32,
    /// What it may cost.
    pub budget: Budget,
    /// How it is expected to end.
    pub expected: Expected,
    /// The failure that is known, if any.
    pub known: Option<Known>,
    /// The first 16 hexadecimal digits of a SHA-256 over everything that decides what the cell does. How it was
    /// asked for, what it may cost and what it is expected to do take no part, so that a run stays comparable when those change.
    pub hash: String,
}

impl Cell {
    /// The cell with its id and hash set from everything else.
    #[must_use]
    pub fn identified(mut self) -> Cell {
        self.id = self.path();
        self.hash = self.digest();
        self
    }

    /// Calls the parties by other names: what runs is a package that a profile stands for. The hash stays: it is of what
    /// the cell does by its profiles.
    pub fn rename(&mut self, server: &str, client: &str) {
        if self.server == server && self.client == client {
            return;
        }
        server.clone_into(&mut self.server);
        if self.client != client {
            // A released client and its emulation are two rows of a table.
            self.client_asked = vec![client.to_owned()];
        }
        client.clone_into(&mut self.client);
        self.id = self.path();
    }

    fn path(&self) -> String {
        let bent = self.bent().replace(char::is_whitespace, ",");
        let parts = [&self.scenario, &self.server, &self.client, &self.workload.name, &bent];
        parts.map(String::as_str).join("/")
    }

    /// What is bent in it: the mutation, the fault, or both with a `+` between.
    pub fn bent(&self) -> String {
        match (self.mutation.is_none(), self.faults.is_empty()) {
            (_, true) => self.mutation.to_string(),
            (true, false) => self.fault.clone(),
            (false, false) => format!("{} + {}", self.mutation, self.fault),
        }
    }

    fn digest(&self) -> String {
        let mut spec = Spec::default();
        spec.put("skewlab.cell/1").put(&self.scenario).put(&self.server).put(&self.server_profile);
        spec.put(&self.client).put(&self.client_profile).put(self.mutation.to_string());
        spec.put((self.must_not_receive.len() as u64).to_be_bytes());
        for consumer in &self.must_not_receive {
            spec.put(consumer.as_str());
        }
        let load = &self.workload;
        spec.put(&load.name).put(load.rate.to_bits().to_be_bytes()).put(&load.user).put(load.finish.as_str());
        for token in &load.tokens {
            spec.opt(token.text.as_deref()).opt(token.reasoning.as_deref());
        }
        for Aside { before, what } in &load.asides {
            spec.put("aside").put((*before as u64).to_be_bytes());
            match what {
                Does::Stall(time) => spec.put("stall").put(time.as_nanos().to_be_bytes()),
                Does::Tool { name, arguments } => spec.put("tool").put(name).put(arguments),
                Does::Fail { status, message } => {
                    spec.put("fail").put(status.unwrap_or(0).to_be_bytes()).put(message)
                }
            };
        }
        if let Some(bytes) = load.chunk_bytes {
            spec.put("chunk_bytes").put((bytes.get() as u64).to_be_bytes());
        }
        for fault in self.faults.iter() {
            spec.put("fault").put(fault.written());
        }
        // What most cells do not have is only there where it is, so that their hashes stay what they were.
        if !self.traits.is_empty() {
            spec.put("traits").put(self.traits.to_string());
        }
        if self.sink != SinkModel::default() {
            spec.put("sink").put(self.sink.latency.as_nanos().to_be_bytes());
            spec.put(self.sink.refuse_first.to_be_bytes());
        }
        if let Some(IdlePolicy { reap_after, poll }) = &self.idle_policy {
            spec.put("runtime").put(reap_after.as_nanos().to_be_bytes()).put(poll.as_nanos().to_be_bytes());
        }
        if self.subscribers != 1 {
            spec.put("subscribers").put(self.subscribers.to_be_bytes());
        }
        spec.hex()
    }
}

/// Values in a fixed order, each behind its length, so that no two lists of values read alike.
#[derive(Default)]
pub(super) struct Spec(Sha256);

impl Spec {
    pub(super) fn put(&mut self, value: impl AsRef<[u8]>) -> &mut Spec {
        let value = value.as_ref();
        self.0.update((value.len() as u64).to_be_bytes());
        self.0.update(value);
        self
    }

    pub(super) fn opt(&mut self, value: Option<&str>) -> &mut Spec {
        match value {
            Some(value) => self.put("some").put(value),
            None => self.put("none"),
        }
    }

    pub(super) fn hex(self) -> String {
        self.0.finalize().iter().take(8).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }
}
