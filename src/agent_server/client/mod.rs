//! A client: one pipeline, and every era is a choice of traits for it.
//!
//! ```text
//! frame → parse → decode → guard → application (callbacks | literal kind | canvas | slots) → delivery
//! ```
//!
//! A frame that stops leaves a receipt with the hop and the reason, and whatever the profile says can be
//! noticed of it.
//!
//! | file | idea |
//! |---|---|
//! | `decoder`, `event_model` | from bytes to a value that the client understands |
//! | `guard` | the browser's only check |
//! | `app` | which application is behind the library: `listen`, `literal`, `canvas` or `slots` |
//! | `canvas` | the chat of the front end: store, reconciliation, view |
//! | `slots`, `cursor` | the session socket: items that stream, and what a reconnect asks for |
//! | `batcher` | deltas that wait for an animation frame |
//! | `delivery` | the last step: text that is shown is noted, and a mutant may spoil it |
//! | `desk`, `failure` | receipts, and what can be noticed of a failure |
//! | `minimum` | whether a server is new enough for a client that has a minimum |
//! | `turn` | the end of a turn |
//! | `check` | one frame, one answer |
//! | `conformance` | all of it against recordings of the released packages |
//!
//! **Adding an era** is adding a profile and its name in `profile/embedded.rs`. **Adding a behaviour** is
//! adding a trait, reading it in the stage that it belongs to, and a recording that shows it.
//!
//! **Pitfalls.** Hand the same trace to every call: a delta that waits settles its receipt later. Nothing may
//! ask for a profile's name or family. The canvas compares times as text and strings by JavaScript's rules
//! (`js`); Rust's own `trim` and comparison differ. The reducer either changes the list or throws before it
//! does, so a new reconciliation must look before it writes.

mod app;
mod batcher;
mod canvas;
mod check;
#[cfg(test)]
mod conformance;
mod cursor;
mod decoder;
mod delivery;
mod desk;
pub mod event_model;
mod failure;
mod guard;
mod js;
mod listen;
mod literal;
pub(super) mod minimum;
mod slots;
mod turn;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

pub use self::check::{CheckOutcome, Checked, NO_TEXT, check};
pub use self::minimum::Unfit;

use self::app::App;
use self::decoder::{Decoder, Refused};
use self::delivery::Delivery;
use self::desk::{Desk, stopped};
use crate::agent_server::profile::client::{Catch, ClientTraits, Ready, Reconcile, TurnEnd};
use crate::agent_server::profile::{Profile, ProfileError};
use crate::probe::{ClientTrace, Fate};
use crate::record::Hop;

/// A frame as it comes off the socket.
#[derive(Debug, Clone, Copy)]
pub enum Incoming<'a> {
    /// A text frame.
    Text(&'a str),
    /// A binary frame.
    Binary(&'a [u8]),
}

/// One emulated client on one connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "things that happened, each for itself")]
pub struct Client {
    traits: ClientTraits,
    decoder: Decoder,
    app: App,
    delivery: Delivery,
    ready: bool,
    ended: bool,
    /// The receipt of the last event that the event model refused and that REST has too.
    refused_durable: Option<usize>,
    /// The exception of the last frame, if it met one.
    fault: Option<String>,
    /// Nobody reads the stream any more.
    broken: bool,
    /// Ids of the events that it took, if it compares them with the log after a reconnect.
    taken: BTreeSet<String>,
    /// It has connected again, and compares once it has a state.
    again: bool,
    wants_events: bool,
}

/// The events that REST has too. States and deltas are none of them.
const DURABLE_KINDS: [&str; 4] = ["MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent"];

impl Client {
    /// A client whose application uses the callback list `list`, or its era's own for `None`.
    ///
    /// Errors when the client has no such list, or when nobody knows the event model of its release.
    pub fn new(profile: &Profile<ClientTraits>, list: Option<&str>) -> Result<Client, ProfileError> {
        let traits = profile.traits.clone();
        Ok(Client {
            decoder: Decoder::new(profile)?,
            app: App::new(profile, list)?,
            delivery: Delivery::new(&traits.shows, traits.policy.repeats, traits.mutant.clone()),
            ready: traits.connect.ready == Ready::Open,
            ended: false,
            refused_durable: None,
            fault: None,
            broken: false,
            taken: BTreeSet::new(),
            again: false,
            wants_events: false,
            traits,
        })
    }

    /// Takes one frame: writes exactly one receipt, and appends to `trace.delivered` what the application
    /// got. Always hand over the same trace: deltas that wait for an animation frame settle their receipt
    /// later.
    ///
    /// # Panics
    ///
    /// When the profile's mutant says so, which proves that the runner survives a party that panics.
    pub fn receive(&mut self, frame: Incoming<'_>, trace: &mut ClientTrace) {
        trace.attribute(None);
        let at = trace.receipts.len();
        self.take(frame, trace);
        trace.attribute(Some(at));
    }

    fn take(&mut self, frame: Incoming<'_>, trace: &mut ClientTrace) {
        assert!(!self.traits.mutant.panic, "client mutant: panic");
        self.fault = None;
        let mut desk = Desk { failure: &self.traits.failure, delivery: &mut self.delivery, trace };
        if self.broken {
            return desk.receipt(stopped(Hop::Parsed, "stream_abandoned"));
        }
        let value = match self.decoder.decode(frame) {
            Ok(value) => value,
            Err(Refused { hop, reason, detail }) => {
                desk.note(if hop == Hop::Parsed { |f| &f.json } else { |f| &f.decode }, &detail);
                self.broken = self.traits.policy.catch == Catch::Stream;
                if self.broken {
                    // It is about all that follows, and not about this frame.
                    desk.trace.attribute(None);
                }
                self.fault = Some(detail);
                if !self.traits.failure.reread.key.is_empty() && tells_durable(frame) {
                    self.refused_durable = Some(desk.trace.receipts.len());
                }
                return desk.receipt(Fate::Stopped { hop, reason });
            }
        };
        // On the session socket the event is inside the frame, and so is its guard.
        let event = if self.app.guards_itself() { value.get("event") } else { Some(&value) };
        if self.ended && self.traits.policy.turn_end == TurnEnd::Strict && turn::is_delta(&value) {
            return desk.receipt(stopped(Hop::Admitted, "after_turn_end"));
        }
        let (state, ends, begins) =
            event.map_or((false, false, false), |e| (turn::is_state(e), turn::ends(e), turn::begins(e)));
        let run = event.and_then(turn::status).map(str::to_owned);
        if self.traits.mutant.reject_durables && event.is_some_and(is_durable) {
            return desk.receipt(stopped(Hop::Decoded, "mutant_rejected"));
        }
        if !self.app.guards_itself()
            && let Err(reason) = guard::admit(self.traits.guard, &value)
        {
            desk.note(|f| &f.guard, reason.as_str());
            return desk.receipt(Fate::Stopped { hop: Hop::Admitted, reason });
        }
        let compares = self.traits.reconnect.reconcile != Reconcile::Nothing || self.traits.reconnect.rereads;
        let id = if compares { event_id(&value) } else { None };
        self.app.take(value, &mut desk);
        let taken = matches!(trace.receipts.last().map(|r| &r.fate), Some(Fate::Reached { .. }));
        self.taken.extend(id.filter(|_| taken));
        if let Some(status) = run.filter(|_| taken) {
            trace.attribute(trace.receipts.len().checked_sub(1));
            self.run_is(&status, trace);
        }
        self.wants_events |= taken && state && std::mem::take(&mut self.again);
        self.ready |= taken && state;
        self.ended = (self.ended || taken && ends) && !begins;
    }

    /// A connection stands; `again` after an earlier one.
    pub fn opened(&mut self, again: bool) {
        self.again = again;
    }

    /// Whether it would read the durable events over REST now; asked once.
    pub fn wants_events(&mut self) -> bool {
        std::mem::take(&mut self.wants_events)
    }

    /// The durable events as REST has them: those that it had not are noted, as far as its event model takes them.
    pub fn reconcile(&mut self, events: &[Value], trace: &mut ClientTrace) {
        for event in events {
            let Some(id) = event_id(event).filter(|id| !self.taken.contains(id)) else { continue };
            let refused = self.traits.mutant.reject_durables && is_durable(event);
            if !refused && self.decoder.decode(Incoming::Text(&event.to_string())).is_ok() {
                self.ended |= turn::ends(event);
                self.taken.insert(id.clone());
                trace.recovered.push(id);
            }
        }
    }

    /// The last run has that status, as somebody told it; whether it has failed.
    pub fn run_is(&mut self, status: &str, trace: &mut ClientTrace) -> bool {
        let failed = turn::failed(status);
        if failed {
            failure::note(&self.traits.failure.run_failed, &format!("the run ended with `{status}`"), trace);
            // It is about the run, and about no frame.
            trace.attribute(None);
        }
        failed
    }

    /// Whether it counts as connected.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether it saw the turn end: an accepted state update that says so.
    pub fn saw_end(&self) -> bool {
        self.ended
    }

    /// How long after the first delta that waits a [`tick`](Client::tick) is due; `None` when none waits.
    pub fn next_tick(&self) -> Option<Duration> {
        self.app.due()
    }

    /// An animation frame: draws the deltas that wait.
    pub fn tick(&mut self, trace: &mut ClientTrace) {
        self.app.flush(&mut Desk { failure: &self.traits.failure, delivery: &mut self.delivery, trace });
        trace.attribute(None);
    }

    /// The `after_seq` that a reconnect on the session socket asks for; `None` elsewhere, and before the
    /// first `sync`.
    pub fn cursor(&self) -> Option<i64> {
        self.app.cursor()
    }

    /// It opens no conversation on that server: for a minimum of its own, and `why`.
    pub fn declines(&mut self, why: &Unfit, trace: &mut ClientTrace) {
        failure::note(&self.traits.failure.old_server, &why.to_string(), trace);
        trace.attribute(None);
    }

    /// There is no WebSocket where it runs.
    pub fn without_socket(&mut self, trace: &mut ClientTrace) {
        failure::note(&self.traits.failure.unavailable, "no WebSocket", trace);
        trace.attribute(None);
    }

    /// The upgrade was refused with an HTTP status.
    pub fn refused(&mut self, status: u16, trace: &mut ClientTrace) {
        failure::note(&self.traits.failure.refused, &format!("HTTP {status}"), trace);
        trace.attribute(None);
    }

    /// The connection was closed, by the server or by the client's own frame limit.
    pub fn closed(&mut self, code: u16, reason: &str, trace: &mut ClientTrace) {
        self.app.closed();
        failure::note_close(&self.traits.failure.closed, code, reason, trace);
        trace.attribute(None);
    }

    /// It was not ready within its time limit.
    pub fn not_ready(&mut self, trace: &mut ClientTrace) {
        let limit = self.traits.connect.ready_timeout_s;
        failure::note(&self.traits.failure.not_ready, &format!("not ready within {limit}"), trace);
        trace.attribute(None);
    }

    /// The run is over: draws what waits, reads the events again where the library does, and notes what a person sees now.
    pub fn finish(&mut self, trace: &mut ClientTrace) {
        self.tick(trace);
        if let Some(at) = self.refused_durable.take().filter(|_| self.ended) {
            failure::note(&self.traits.failure.reread, "an event of the run is refused", trace);
            // It is about that event, and says nothing of text.
            trace.attribute(Some(at));
        }
        trace.view = self.app.view();
    }
}

fn event_id(event: &Value) -> Option<String> {
    event.get("id").and_then(Value::as_str).map(str::to_owned)
}

/// Whether a frame that was refused is one of those events.
fn tells_durable(frame: Incoming<'_>) -> bool {
    let value: Option<Value> = match frame {
        Incoming::Text(text) => serde_json::from_str(text).ok(),
        Incoming::Binary(bytes) => serde_json::from_slice(bytes).ok(),
    };
    value.as_ref().is_some_and(is_durable)
}

fn is_durable(event: &Value) -> bool {
    event.get("kind").and_then(Value::as_str).is_some_and(|k| DURABLE_KINDS.contains(&k))
}
