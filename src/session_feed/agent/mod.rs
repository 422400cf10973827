//! The agent loop: it asks the model, and puts what comes onto both feeds by the rules of the variant.
//!
//! Agents of one process run on one thread and take turns at every chunk, so a loop is written to be left and resumed there.

mod attempt;
mod together;

use std::cell::RefCell;

use super::bus::SessionId;
use super::chunk::{Assembler, BlockKind};
use super::event::{Body, Message, Other, Place, Returned, Seq, TurnEnd, Usage};
use super::fault::Fault;
use super::harness::{AppendError, Harness, Ordinal};
use super::profile::Traits;
use super::script::{Script, StepScript, TurnScript};
pub use together::together;

/// What an agent did, for whoever keeps notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Chunks that the model streamed.
    pub streamed: Ordinal,
    /// Attempts.
    pub attempts: u64,
    /// For each settlement (a message, or an attempt's own), its seq and the chunks that it was made of.
    pub settled: Vec<(Seq, Vec<Ordinal>)>,
    /// How the last turn ended; none while it runs, and for a process that was killed.
    pub ended: Option<TurnEnd>,
    /// What the person was told, if anything went wrong.
    pub error: Option<String>,
    /// Whether the process was killed.
    pub killed: bool,
    /// Whether its fault came, where it is the loop's own. A chunk that was never streamed brings none.
    pub fired: bool,
}

/// Why a turn did not go on.
#[derive(Debug)]
enum Halt {
    /// The process is dead; nothing of it runs any more.
    Killed,
    /// The person cancelled.
    Cancelled,
    /// Something failed.
    Failed(String),
}

impl From<AppendError> for Halt {
    fn from(error: AppendError) -> Halt {
        Halt::Failed(error.to_string())
    }
}

/// Who is told of every chunk that the model streams, before anything is done with it.
pub trait Streamed {
    /// The next chunk of the session.
    fn streamed(&self, ordinal: Ordinal, chunk: &super::chunk::Chunk);
}

/// One agent, on one session.
pub struct Agent<'a> {
    harness: &'a Harness,
    session: SessionId,
    traits: &'a Traits,
    fault: Fault,
    watch: Option<&'a dyn Streamed>,
    /// Whether its chunks are those that the rig marks: one agent's of a process are.
    marks: bool,
    /// Milliseconds between two chunks, as a fraction.
    gap_ms: f64,
    began: u64,
    done: RefCell<Done>,
}

impl<'a> Agent<'a> {
    /// An agent that is about to play `script`.
    pub fn new(
        harness: &'a Harness,
        session: SessionId,
        traits: &'a Traits,
        fault: Fault,
        rate: f64,
        watch: Option<&'a dyn Streamed>,
    ) -> Agent<'a> {
        let (began, done) = (harness.now(), RefCell::default());
        Agent { harness, session, traits, fault, watch, marks: true, gap_ms: 1000.0 / rate, began, done }
    }

    /// The same agent beside the one that the rig looks at: its chunks bear no marks.
    #[must_use]
    pub fn beside(self) -> Agent<'a> {
        Agent { marks: false, ..self }
    }

    /// Plays the script to its end, or until the process is killed.
    pub fn play(&self, script: &Script) -> Done {
        together(&[(self, script)]);
        self.done.borrow().clone()
    }

    /// What it did so far.
    pub fn done(&self) -> Done {
        self.done.borrow().clone()
    }

    async fn session(&self, script: &Script) {
        for (turn, of) in (1..).zip(&script.turns) {
            if self.turn(turn, of).await {
                break;
            }
        }
    }

    /// Plays one turn; true when nothing comes after it.
    async fn turn(&self, turn: u32, script: &TurnScript) -> bool {
        let whole = Place { turn, step: 0 };
        let halt = self.steps(turn, script).await.err();
        let (end, error) = match halt {
            None => (TurnEnd::Completed, None),
            Some(Halt::Cancelled) => (TurnEnd::Aborted, None),
            Some(Halt::Failed(why)) => (TurnEnd::Error, Some(why)),
            Some(Halt::Killed) => {
                self.done.borrow_mut().killed = true;
                return true;
            }
        };
        // A listener that fails here has no valid place in the log to be reported at: the turn has ended.
        let last = self.append(Body::TurnEnd(whole, end), None);
        let mut done = self.done.borrow_mut();
        done.ended = Some(end);
        done.error = done.error.take().or(error).or(last.err().map(|e| e.to_string()));
        end != TurnEnd::Completed
    }

    async fn steps(&self, turn: u32, script: &TurnScript) -> Result<(), Halt> {
        let whole = Place { turn, step: 0 };
        self.append(Body::TurnStart(whole), None)?;
        self.append(Body::UserMessage(whole, script.user.as_str().into()), None)?;
        for (step, of) in (1..).zip(&script.steps) {
            self.step(Place { turn, step }, of).await?;
        }
        Ok(())
    }

    async fn step(&self, place: Place, script: &StepScript) -> Result<(), Halt> {
        self.append(Body::StepStart(place), None)?;
        for kind in &script.others {
            let data = serde_json::json!({ "turn": place.turn });
            self.append(Body::Other(Box::new(Other { kind: kind.as_str().into(), data })), None)?;
        }
        let halt = self.request(place, script).await.err();
        if !matches!(halt, Some(Halt::Killed)) {
            self.append(Body::StepEnd(place), None)?;
        }
        halt.map_or(Ok(()), Err)
    }

    /// One request, with a second attempt where the fault asks for one.
    async fn request(&self, place: Place, script: &StepScript) -> Result<(), Halt> {
        let mut attempt = self.attempt(place);
        let mut ended = attempt.stream(&script.chunks).await;
        if let (Err(Halt::Failed(_)), Fault::Retry(_)) = (&ended, self.fault) {
            attempt.fail()?;
            let data = serde_json::json!({ "turn": place.turn, "step": place.step });
            self.append(Body::Other(Box::new(Other { kind: "llm/retry".into(), data })), None)?;
            attempt = self.attempt(place);
            ended = attempt.stream(&script.chunks).await;
        }
        match ended {
            Ok(()) => attempt.commit()?,
            Err(Halt::Killed) => return Err(Halt::Killed),
            Err(Halt::Cancelled) => {
                attempt.cancel()?;
                return Err(Halt::Cancelled);
            }
            Err(Halt::Failed(why)) => {
                attempt.fail()?;
                return Err(Halt::Failed(why));
            }
        }
        if let Some(call) = &script.tool {
            self.append(Body::ToolCall(place, Box::new(call.clone())), None)?;
            let result = Returned { id: call.id.clone(), text: "done".to_owned(), error: false };
            self.append(Body::ToolResult(place, Box::new(result)), None)?;
        }
        Ok(())
    }

    fn append(&self, body: Body, cites: Option<Box<[Seq]>>) -> Result<Seq, AppendError> {
        self.harness.mark(None);
        self.harness.append(self.session, body, cites)
    }

    /// The planned time of a chunk, milliseconds since the epoch.
    fn time_of(&self, ordinal: Ordinal) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "chunks of one session are far below 2^52, and a rate is positive"
        )]
        let after = (ordinal as f64 * self.gap_ms) as u64;
        self.began + after
    }
}

/// The message that an attempt adds up to. Tool calls are left out of a prefix, since nobody will answer them.
fn message(place: Place, assembler: &Assembler, interrupted: bool) -> Message {
    let mut blocks = assembler.blocks();
    if interrupted {
        blocks.retain(|block| block.kind != BlockKind::ToolCall);
    }
    let usage = assembler.usage().map(|(input, output)| Usage { input, output });
    Message { turn: place.turn, step: place.step, blocks, usage, interrupted, stream: None }
}
