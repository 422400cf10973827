//! Asking one side all cases, in order.

use std::time::Duration;

use hyper::Method;
use serde::Serialize;
use serde_json::Value;

use super::CalibrateServerError;
use super::canon::{Answer, describe, is_delta, name, over};
use super::cases::{Case, KEY as KEY_WORD, Knock, What};
use super::party::{KEY, Party};
use super::socket::{FIRST, Opened, Socket, open, open_authorised};

/// More sockets than any release takes.
const TOO_MANY: usize = 60;

/// How long an answer to a frame may take: a server that logs a traceback first was seen to take more than a second.
const ANSWERED: Duration = Duration::from_secs(4);

/// One case and what was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Answered {
    pub(super) name: String,
    pub(super) answer: Answer,
}

/// What goes on between two cases.
struct Asking<'a> {
    party: &'a Party,
    /// The conversation of the turns, replays and handshakes.
    conversation: String,
}

/// Asks everything.
pub(super) async fn ask(party: &Party, cases: &[Case]) -> Result<Vec<Answered>, CalibrateServerError> {
    let mut asking = None;
    let mut all = Vec::new();
    for case in cases {
        let answer = match &case.what {
            // It is the only conversation then.
            What::SideEffects => side_effects(party).await?,
            what => {
                if asking.is_none() {
                    asking = Some(Asking { party, conversation: party.open().await? });
                }
                let Some(asking) = &asking else { continue };
                asking.answer(what, &case.name).await?
            }
        };
        all.push(Answered { name: case.name.clone(), answer });
    }
    Ok(all)
}

/// A turn that one socket watches, so that its end is known; then the conversation is removed, which posts the rest.
async fn side_effects(party: &Party) -> Result<Answer, CalibrateServerError> {
    let case = "side effects";
    let conversation = party.open().await?;
    let path = format!("/sockets/events/{conversation}");
    let Opened::Open(mut socket) = open_authorised(party, &path).await? else {
        return Err(party.fault(case, "the events socket was refused"));
    };
    socket.all(FIRST).await;
    party.say(&conversation).await?;
    socket.turn().await.map_err(|why| party.fault(case, why))?;
    socket.leave().await;
    let mut answer = Answer::new();
    let log = format!("/api/conversations/{conversation}/events/search?limit=100");
    let (status, found) = party.call(Method::GET, &log, None).await?;
    let log = found["items"].as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> = log.iter().map(name).collect();
    kinds.sort_unstable();
    answer.insert("log".into(), format!("HTTP {status}: {}", kinds.join(", ")));
    let deltas = log.iter().filter(|e| is_delta(e)).count();
    answer.insert("deltas in the log".into(), deltas.to_string());
    let (status, now) = party.call(Method::GET, &format!("/api/conversations/{conversation}"), None).await?;
    answer.insert("status".into(), format!("HTTP {status}: {}", now["execution_status"]));
    let (status, _) = party.call(Method::DELETE, &format!("/api/conversations/{conversation}"), None).await?;
    answer.insert("removal".into(), format!("HTTP {status}"));
    party.hook_is_quiet(&conversation).await;
    let hooked = party.hooked(&conversation);
    // How events fall into posts depends on how long the sink takes: a post of those that came meanwhile is not full.
    let largest = hooked.posts.iter().copied().max().unwrap_or_default();
    let fewest = hooked.kinds.len().div_ceil(largest.max(1));
    let by_rule = (fewest..=fewest * 2).contains(&hooked.posts.len());
    answer.insert(
        "webhook posts".into(),
        format!("at most {largest} events each, and about as few as that needs: {by_rule}"),
    );
    let mut kinds = hooked.kinds;
    kinds.sort_unstable();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for kind in kinds {
        match counts.last_mut() {
            Some((last, n)) if *last == kind => *n += 1,
            _ => counts.push((kind, 1)),
        }
    }
    let counts: Vec<String> = counts.into_iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    answer.insert("webhook events".into(), counts.join(", "));
    Ok(answer)
}

impl Asking<'_> {
    async fn answer(&self, what: &What, case: &str) -> Result<Answer, CalibrateServerError> {
        match what {
            What::SideEffects => side_effects(self.party).await,
            What::Frames => self.frames(case).await,
            What::Replay { path } => {
                let mut answer = Answer::new();
                match open_authorised(self.party, &self.filled(path)).await? {
                    Opened::Refused(status) => {
                        answer.insert("refused".into(), format!("HTTP {status}"));
                    }
                    Opened::Open(mut socket) => {
                        let frames = socket.all(FIRST).await;
                        describe("replay", &frames, &mut answer);
                        socket.leave().await;
                    }
                }
                Ok(answer)
            }
            What::Handshake(knock) => self.handshake(knock).await,
            What::Inbound { socket, text } => self.inbound(socket, text, case).await,
            What::Cap => self.cap(case).await,
        }
    }

    /// A path or a frame with the conversation and the key in it.
    fn filled(&self, text: &str) -> String {
        let hex = self.conversation.replace('-', "");
        text.replace("{id}", &self.conversation).replace("{hex}", &hex).replace(KEY_WORD, KEY)
    }

    /// One turn, seen on the legacy socket and on the session socket with and without a cursor.
    async fn frames(&self, case: &str) -> Result<Answer, CalibrateServerError> {
        let mut answer = Answer::new();
        let mut watching: Vec<(&str, Box<Socket>, Vec<Value>)> = Vec::new();
        for (of, path) in [
            ("events", "/sockets/events/{id}"),
            ("session", "/sockets/session/{id}"),
            ("session from the start", "/sockets/session/{id}?after_seq=-1"),
        ] {
            match open_authorised(self.party, &self.filled(path)).await? {
                Opened::Refused(status) => {
                    answer.insert(of.to_owned(), format!("HTTP {status}"));
                }
                Opened::Open(mut socket) => {
                    let frames = socket.all(FIRST).await;
                    watching.push((of, socket, frames));
                }
            }
        }
        self.party.say(&self.conversation).await?;
        for (of, mut socket, before) in watching {
            describe(&format!("{of} before"), &before, &mut answer);
            let turn = socket.turn().await.map_err(|why| self.party.fault(case, format!("{of}: {why}")))?;
            describe(of, &turn, &mut answer);
            socket.leave().await;
        }
        Ok(answer)
    }

    async fn handshake(&self, knock: &Knock) -> Result<Answer, CalibrateServerError> {
        let header = knock.header.map(|key| key.replace(KEY_WORD, KEY));
        let opened = open(self.party, &self.filled(&knock.path), header.as_deref()).await?;
        let said = match opened {
            Opened::Refused(status) => format!("HTTP {status}"),
            Opened::Open(mut socket) => {
                if let Some(first) = knock.first {
                    // A server that has hung up already says so when it is read.
                    let _ = socket.send(&self.filled(first)).await;
                }
                let frames: Vec<String> = socket.all(FIRST).await.iter().map(name).collect();
                let said = socket.closed.clone().unwrap_or_else(|| "open".to_owned());
                socket.leave().await;
                if frames.is_empty() { said } else { format!("{said} after {}", frames.join(", ")) }
            }
        };
        Ok([("outcome".to_owned(), said)].into())
    }

    async fn inbound(&self, socket: &str, text: &str, case: &str) -> Result<Answer, CalibrateServerError> {
        let path = self.filled(&format!("/sockets/{socket}/{{id}}"));
        let mut answer = Answer::new();
        match open_authorised(self.party, &path).await? {
            Opened::Refused(status) => {
                answer.insert("refused".into(), format!("HTTP {status}"));
            }
            Opened::Open(mut socket) => {
                socket.all(FIRST).await;
                socket.send(&self.filled(text)).await.map_err(|why| self.party.fault(case, why))?;
                let mut frames = socket.all(ANSWERED).await;
                // A message starts a turn like any other.
                if frames.iter().any(|f| name(f).ends_with("execution_status/running")) && !over(&frames) {
                    frames.extend(socket.turn().await.map_err(|why| self.party.fault(case, why))?);
                }
                describe("answer", &frames, &mut answer);
                let state = socket.closed.clone().unwrap_or_else(|| "open".to_owned());
                answer.insert("socket".into(), state);
                socket.leave().await;
            }
        }
        Ok(answer)
    }

    /// Opens sockets in a conversation of their own until one is refused.
    async fn cap(&self, case: &str) -> Result<Answer, CalibrateServerError> {
        let conversation = self.party.open().await?;
        let path = format!("/sockets/events/{conversation}");
        let mut answer = Answer::new();
        let (mut taken, mut outcome) = (Vec::new(), "never".to_owned());
        while taken.len() < TOO_MANY {
            let Opened::Open(mut socket) = open_authorised(self.party, &path).await? else {
                return Err(self.party.fault(case, "the upgrade was refused"));
            };
            let frames = socket.first().await;
            if let Some(closed) = &socket.closed {
                outcome = format!("{closed} after {frames} frames");
                break;
            }
            taken.push(socket);
        }
        answer.insert("sockets".into(), taken.len().to_string());
        answer.insert("the next one".into(), outcome);
        let session = open_authorised(self.party, &format!("/sockets/session/{conversation}")).await?;
        let session = match session {
            Opened::Refused(status) => format!("HTTP {status}"),
            Opened::Open(mut socket) => {
                let frames = socket.all(FIRST).await.len();
                let said = socket.closed.clone().unwrap_or_else(|| "open".to_owned());
                format!("{said} after {frames} frames")
            }
        };
        answer.insert("a session socket then".into(), session);
        for socket in taken {
            socket.leave().await;
        }
        Ok(answer)
    }
}
