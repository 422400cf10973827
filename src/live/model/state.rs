//! What a model knows: the replies by tag, and what was sent of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::DEFAULT_TAG;
use super::directive::ordered;
use super::reply::Reply;
use super::request::Ask;
use super::routes::Refusal;
use super::streamed::Book;

#[derive(Debug)]
pub(super) struct State {
    pub(super) epoch: Instant,
    pub(super) book: Book,
    replies: Mutex<BTreeMap<String, Arc<Reply>>>,
    takes_orders: AtomicBool,
    answers: AtomicU64,
}

impl State {
    pub(super) fn new() -> State {
        State {
            epoch: Instant::now(),
            book: Book::default(),
            replies: Mutex::default(),
            takes_orders: AtomicBool::new(false),
            answers: AtomicU64::new(0),
        }
    }

    fn replies(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Reply>>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn register(&self, tag: &str, reply: Reply) {
        self.replies().insert(tag.to_owned(), Arc::new(reply));
    }

    pub(super) fn take_orders(&self) {
        self.takes_orders.store(true, Ordering::Relaxed);
    }

    /// A number that no other answer has.
    pub(super) fn next_answer(&self) -> u64 {
        self.answers.fetch_add(1, Ordering::Relaxed)
    }

    /// The reply to a request and the tag that it is booked under: by marker, then by order, then the default.
    pub(super) fn reply(&self, ask: &Ask) -> Result<(String, Arc<Reply>), Refusal> {
        let replies = self.replies();
        let known = || replies.keys().cloned().collect();
        if let Some(tag) = ask.tag() {
            return match replies.get(tag) {
                Some(reply) if reply.then.is_some() => {
                    Ok((tag.to_owned(), Arc::new(reply.after(ask.results).clone())))
                }
                Some(reply) => Ok((tag.to_owned(), reply.clone())),
                None => Err(Refusal::Unknown {
                    message: format!("no reply is registered under the tag `{tag}` of the last user message"),
                    tag: tag.to_owned(),
                    known: known(),
                }),
            };
        }
        let default = replies.get(DEFAULT_TAG);
        if self.takes_orders.load(Ordering::Relaxed) {
            let usual = default.map_or_else(Reply::default, |reply| Reply::clone(reply));
            match ordered(&ask.user, &usual) {
                Some(Ok(reply)) => return Ok((DEFAULT_TAG.to_owned(), Arc::new(reply))),
                Some(Err(message)) => return Err(Refusal::Order(message)),
                None => {}
            }
        }
        match default {
            Some(reply) => Ok((DEFAULT_TAG.to_owned(), reply.clone())),
            None => Err(Refusal::Unknown {
                message: "the last user message has no marker [[skewlab:TAG]], and there is no default reply"
                    .to_owned(),
                tag: String::new(),
                known: known(),
            }),
        }
    }
}
