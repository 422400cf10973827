//! One turn: the user's message, the streamed reply, and the durable end.
//!
//! | file | idea |
//! |---|---|
//! | `emit` | the way of a delta out of its turn |
//! | `durable` | what a turn writes down |

mod durable;
mod emit;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::emit::Delta;
use super::conversation::Conversation;
use super::script::{Chunk, Feed, Script};
use super::stream::Strikes;
use super::{Inner, Notes};
use crate::agent_server::fault::Kind;
use crate::agent_server::profile::server::EmptyPieces;
use crate::record::{Class, CutShort, Reason};

/// How long the end of a run waits for durable events to be published.
const DURABLE_WAIT: Duration = Duration::from_secs(30);

/// How long a run takes that has nothing to answer (5 to 15 ms between request and state, measured on 1.58.2).
const IDLE_RUN: Duration = Duration::from_millis(15);

/// Takes a message without running the agent: it is persisted and published, and that is all.
pub(super) fn message_only(server: &Arc<Inner>, conversation: &Arc<Conversation>, text: &str) {
    Turn::new(server, conversation).opening(text.to_owned());
}

/// Starts a turn unless one is running; `text` is what the person said.
pub(super) fn start(server: &Arc<Inner>, conversation: &Arc<Conversation>, text: &str) {
    // A message to a running conversation is taken, and the turn that is running is the answer to it too.
    if conversation.running.swap(true, Ordering::SeqCst) {
        message_only(server, conversation, text);
        return;
    }
    let mut turn = Turn::new(server, conversation);
    // At once: the next message must not overtake this one.
    turn.opening(text.to_owned());
    conversation.runs_as(tokio::spawn(turn.run()).abort_handle());
}

/// Starts a turn without a message (`POST …/run`): the answer to what was said before. False while one is running.
pub(super) fn run(server: &Arc<Inner>, conversation: &Arc<Conversation>) -> bool {
    if conversation.running.swap(true, Ordering::SeqCst) {
        return false;
    }
    let mut turn = Turn::new(server, conversation);
    if conversation.status() == "finished" {
        // Nothing was said since: the run ends at once, and the log does not grow (measured on 1.58.2).
        tokio::spawn(turn.nothing());
    } else {
        turn.greet();
        conversation.runs_as(tokio::spawn(turn.run()).abort_handle());
    }
    true
}

struct Turn {
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    response_id: String,
    /// Minted when the stream opens; the durable reply carries it where the era has progress frames.
    item_id: String,
    pending: Vec<JoinHandle<()>>,
    order: u32,
    attempt: u32,
    /// Whether the model has sent a chunk.
    begun: bool,
    started: Instant,
    /// Text of the answer since the last tool call, and its reasoning.
    said: (String, String),
    /// A delta that goes behind the next one, and those that go behind the reply.
    behind: Vec<(usize, Delta)>,
    late: Vec<Delta>,
    /// What ended the turn before its answer was complete.
    broken: Option<Broken>,
}

/// Why a turn ends without its reply.
enum Broken {
    /// An exception: its class and its text.
    Failed(&'static str, String),
    /// The person cancelled it.
    Cancelled,
}

impl Broken {
    fn cut(&self) -> CutShort {
        match self {
            Broken::Failed(..) => CutShort::Failed,
            Broken::Cancelled => CutShort::Cancelled,
        }
    }
}

impl Turn {
    fn new(server: &Arc<Inner>, conversation: &Arc<Conversation>) -> Turn {
        Turn {
            server: server.clone(),
            conversation: conversation.clone(),
            response_id: format!("chatcmpl-{}", &server.next_id()[..8]),
            item_id: server.next_id(),
            pending: Vec::new(),
            order: 0,
            attempt: 1,
            begun: false,
            started: Instant::now(),
            said: (String::new(), String::new()),
            behind: Vec::new(),
            late: Vec::new(),
            broken: None,
        }
    }

    async fn run(mut self) {
        let mut ending = Ending::of(&self, false);
        assert!(!self.server.traits.mutant.panic, "mutant: panic when a turn starts");
        self.server.faults.begins(self.started);
        self.server.note(Notes::begins);
        self.status("running");
        let script = self.server.script(&self.conversation);
        match script.feed.as_ref().and_then(Feed::take) {
            Some(mut chunks) => {
                while let Some(chunk) = chunks.recv().await {
                    self.chunk(&chunk);
                }
            }
            None => self.paced(&script).await,
        }
        if self.server.traits.mutant.hang {
            std::future::pending::<()>().await;
        }
        for (_, delta) in std::mem::take(&mut self.behind) {
            self.emit(delta);
        }
        if self.broken.is_none() {
            self.answer(script.finish);
        }
        let cut = self.broken.as_ref().map(Broken::cut);
        match self.broken.take() {
            None => self.status("finished"),
            Some(broken) => self.give_up(broken),
        }
        ending.settled = true;
        self.state("stats", json!({"usage_to_metrics": {}}));
        let pending = std::mem::take(&mut self.pending);
        let all = async {
            for task in pending {
                // A publish that panicked is that subscriber's fault and was reported where it happened.
                let _ = task.await;
            }
        };
        let _ = timeout(DURABLE_WAIT, all).await;
        for delta in std::mem::take(&mut self.late) {
            self.emit(delta);
        }
        self.conclude().await;
        let mut notes = self.server.notes();
        notes.ends(cut);
        if !self.server.config.keeps_notes {
            *notes = Notes::default();
        }
    }

    /// A run that has nothing to answer. A client that takes the state for the end does so only once it has the answer
    /// to its request, so an end that came at once would be missed.
    async fn nothing(self) {
        let _ending = Ending::of(&self, true);
        sleep(IDLE_RUN).await;
        self.conclude().await;
    }

    /// The whole script at its own pace.
    async fn paced(&mut self, script: &Script) {
        let mut started = self.started;
        'attempts: loop {
            let attempt = self.attempt;
            for (place, (n, chunk)) in (0_u32..).zip(&script.chunks).enumerate() {
                sleep_until(started + script.gap * n + script.stalled(place)).await;
                self.chunk(chunk);
                if self.broken.is_some() {
                    return;
                }
                if self.attempt > attempt {
                    // The provider is asked again, and answers from the beginning.
                    started = Instant::now() + script.gap;
                    continue 'attempts;
                }
            }
            break;
        }
        let end = script.gap * u32::try_from(script.chunks.len()).unwrap_or(u32::MAX)
            + script.stalled(script.chunks.len())
            + script.tail;
        sleep_until(started + end).await;
    }

    /// The model emitted a chunk: the token callback.
    fn chunk(&mut self, chunk: &Chunk) {
        let pieces: Vec<_> = chunk.pieces().collect();
        if pieces.is_empty() {
            return;
        }
        self.said.0.push_str(chunk.text.as_deref().unwrap_or_default());
        self.said.1.push_str(chunk.reasoning.as_deref().unwrap_or_default());
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        let (mut first, now) = (0, Instant::now());
        self.server.note(|notes| {
            first = u32::try_from(notes.server.produced.len()).unwrap_or(u32::MAX);
            notes.server.produced.extend(pieces.iter().cloned());
            notes.produced_at.extend(pieces.iter().map(|_| now));
        });
        let first_of_reply = !std::mem::replace(&mut self.begun, true);
        let empty = pieces.iter().all(|piece| piece.class == Class::Empty);
        let strikes = self.strikes(now);
        if empty && !first_of_reply && self.server.traits.delta.empty == EmptyPieces::First {
            // The agent never sees it, so it is no sign of life either.
            self.server.note(|notes| {
                let withheld = || (first..first + count).map(|piece| (piece, Reason::EMPTY_WITHHELD));
                notes.server.unpublished_legacy.extend(withheld());
                notes.server.unpublished_session.extend(withheld());
            });
        } else {
            let orders = self.orders(&pieces);
            self.place(Delta { chunk: chunk.clone(), first, pieces, orders }, &strikes);
        }
        for (number, kind) in strikes.then {
            // What has ended the turn is not ended again, and nothing follows it.
            if self.broken.is_none() {
                self.server.faults.came(number);
                self.meets(kind);
            }
        }
        self.server.pulse.send_if_modified(|pulse| {
            pulse.chunks += 1;
            self.server.config.keeps_notes
        });
    }

    /// What goes wrong with the chunk that comes now.
    fn strikes(&self, now: Instant) -> Strikes {
        let n = self.server.pulse.borrow().chunks + 1;
        self.server.faults.on_chunk(n, now)
    }

    /// Something happens in the middle of the stream.
    fn meets(&mut self, kind: Kind) {
        match kind {
            Kind::Tool { name } => self.calls(&name),
            Kind::ProviderError { message } => {
                self.broken = Some(Broken::Failed("APIConnectionError", message));
            }
            Kind::Cancel => self.broken = Some(Broken::Cancelled),
            Kind::Retry => {
                self.server.note(Notes::superseded);
                self.attempt += 1;
                self.order = 0;
                self.begun = false;
                self.said = (String::new(), String::new());
                self.response_id = format!("chatcmpl-{}", &self.server.next_id()[..8]);
            }
            _ => {}
        }
    }
}

/// Marks the turn as over however it ends, a panic included.
struct Ending {
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    /// Whether it has come to its reply, or to the error or the cancel that stands for one.
    settled: bool,
}

impl Ending {
    fn of(turn: &Turn, settled: bool) -> Ending {
        Ending { server: turn.server.clone(), conversation: turn.conversation.clone(), settled }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !self.settled {
            self.server.note(Notes::killed);
        }
        self.conversation.end_turn();
        self.server.pulse.send_modify(|pulse| pulse.turns += 1);
    }
}
