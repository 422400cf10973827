//! What the model answers, part by part, and when each part is due.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::error::ReplyFault;
use crate::probe::trace::class_of;
use crate::record::observation::Piece;

/// One answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// Parts a second. Part `k` is due `first + k / rate` after the request was read, plus every stall before it.
    pub rate: f64,
    /// Silence before the first part. An answer that is not streamed waits for it too, and for nothing else.
    pub first: Duration,
    /// Silence between the last part and the end of the stream.
    pub tail: Duration,
    /// Whether the usual first chunk, a role and an empty text, is sent by itself. It goes out together with part 0.
    /// Providers send it, and agent-servers publish it as an empty delta (measured on 1.43.1 to 1.58.2). A first part
    /// that is an empty text *is* that chunk, and there is no second one. Without it the role rides on the first
    /// part. The Responses API has no such chunk.
    pub role_chunk: bool,
    /// Cuts the bytes of the stream into writes of at most this size, inside events and inside characters. What is
    /// due is never held back for the sake of a full write, so the last write of a part may be shorter.
    pub chunk_bytes: Option<NonZeroUsize>,
    /// The answer to the result of the tool that this one calls; without, the same answer is given again.
    pub then: Option<Box<Reply>>,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply {
            parts: Vec::new(),
            rate: 50.0,
            first: Duration::ZERO,
            tail: Duration::ZERO,
            role_chunk: true,
            chunk_bytes: None,
            then: None,
        }
    }
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text, reasoning, or both in one chunk. The empty string is sent as an empty string.
    Delta {
        /// Text.
        text: Option<String>,
        /// Reasoning.
        reasoning: Option<String>,
    },
    /// A call of a tool, whole.
    ToolCall {
        /// The tool.
        name: String,
        /// Its arguments, as the text of a JSON object.
        arguments: String,
    },
    /// Silence. Takes no turn of its own: it moves what follows.
    Stall(Duration),
    /// The end of the answer, in error.
    Error(Failure),
}

/// How an answer fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// With an HTTP status instead of a stream: only as the first part.
    Status {
        /// 400 to 599.
        status: u16,
        /// What the provider says.
        message: String,
    },
    /// With an error object in the stream, which ends without a finish reason. HTTP 500 if the answer is not streamed.
    InStream(String),
}

impl Part {
    /// A chunk of text.
    pub fn text(text: impl Into<String>) -> Part {
        Part::Delta { text: Some(text.into()), reasoning: None }
    }

    /// A chunk of reasoning.
    pub fn reasoning(text: impl Into<String>) -> Part {
        Part::Delta { text: None, reasoning: Some(text.into()) }
    }

    /// The pieces that it carries: reasoning first.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        let (text, reasoning) = match self {
            Part::Delta { text, reasoning } => (text.as_deref(), reasoning.as_deref()),
            _ => (None, None),
        };
        let both = reasoning.map(|t| (t, true)).into_iter().chain(text.map(|t| (t, false)));
        both.map(|(t, r)| Piece { class: class_of(t, r), text: t.to_owned() })
    }
}

/// Something to send, and when: time since the request was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) due: Duration,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// What the protocol says before any part.
    Open,
    /// The chunk with the role.
    Role,
    /// The part of that index.
    Part(usize),
    /// What the protocol says after the last part.
    End,
}

const LONGEST: Duration = Duration::from_hours(366 * 24);

impl Reply {
    /// A reply that says one thing at once.
    pub fn short(text: &str) -> Reply {
        Reply { parts: vec![Part::text(text)], ..Reply::default() }
    }

    /// The whole text of the reply.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|p| if let Part::Delta { text, .. } = p { text.as_deref() } else { None })
            .collect()
    }

    /// The whole reasoning; empty if there is none.
    pub fn reasoning(&self) -> String {
        let of = |p: &'_ Part| if let Part::Delta { reasoning, .. } = p { reasoning.clone() } else { None };
        self.parts.iter().filter_map(of).collect()
    }

    /// The failure that ends it, if one does.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.parts.iter().find_map(|p| if let Part::Error(failure) = p { Some(failure) } else { None })
    }

    /// The answer after that many results of tools: the last one where there are more.
    pub(super) fn after(&self, results: usize) -> &Reply {
        match &self.then {
            Some(then) if results > 0 => then.after(results - 1),
            _ => self,
        }
    }

    /// Whether anybody could stream this.
    pub fn check(&self) -> Result<(), ReplyFault> {
        if let Some(then) = &self.then {
            then.check()?;
        }
        if !(1e-6..=1e6).contains(&self.rate) {
            return Err(ReplyFault::Rate(self.rate));
        }
        let stalls = self
            .parts
            .iter()
            .filter_map(|p| if let Part::Stall(t) = p { Some(("a stall", *t)) } else { None });
        let times = [("a silence before the first part", self.first), ("a tail", self.tail)];
        if let Some((what, time)) = times.into_iter().chain(stalls).find(|(_, t)| *t > LONGEST) {
            return Err(ReplyFault::Long { what, time });
        }
        for (index, part) in self.parts.iter().enumerate() {
            let Part::Error(failure) = part else { continue };
            if let Failure::Status { status, .. } = failure {
                if !(400..600).contains(status) {
                    return Err(ReplyFault::Status(*status));
                }
                if index > 0 {
                    return Err(ReplyFault::LateStatus(index));
                }
            }
            if index + 1 < self.parts.len() {
                return Err(ReplyFault::AfterError(index));
            }
        }
        Ok(())
    }

    /// Everything to send, in order. `roles` says whether the protocol knows a chunk with a role alone.
    pub(super) fn steps(&self, roles: bool) -> Vec<Step> {
        let mut steps = vec![Step { due: Duration::ZERO, what: What::Open }];
        let (mut stalled, mut turn, mut last) = (Duration::ZERO, 0_u32, self.first);
        let mut failed = false;
        for (index, part) in self.parts.iter().enumerate() {
            if let Part::Stall(time) = part {
                stalled += *time;
                continue;
            }
            let due = self.first + Duration::from_secs_f64(f64::from(turn) / self.rate) + stalled;
            let is_role = matches!(part, Part::Delta { text: Some(t), reasoning: None } if t.is_empty());
            failed = matches!(part, Part::Error(_));
            if turn == 0 && roles && self.role_chunk && !is_role && !failed {
                steps.push(Step { due, what: What::Role });
            }
            steps.push(Step { due, what: What::Part(index) });
            (turn, last) = (turn.saturating_add(1), due);
        }
        if !failed {
            let silence =
                self.parts.iter().rev().map_while(|p| if let Part::Stall(t) = p { Some(*t) } else { None });
            steps.push(Step { due: last + silence.sum::<Duration>() + self.tail, what: What::End });
        }
        steps
    }
}
