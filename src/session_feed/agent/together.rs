//! Several agents in one process: on one thread, each resumed in turn, one chunk at a time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::Agent;
use crate::session_feed::script::Script;

/// Plays every agent's script to its end. A process that is killed takes all of them with it, wherever they are.
pub fn together(agents: &[(&Agent<'_>, &Script)]) {
    type Session<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;
    let mut sessions: Vec<(usize, Session<'_>)> = agents
        .iter()
        .map(|(agent, script)| Box::pin(agent.session(script)) as Session<'_>)
        .enumerate()
        .collect();
    // Nobody sleeps: who is not at its end can go on at once.
    let mut context = Context::from_waker(Waker::noop());
    while !sessions.is_empty() {
        let mut killed = false;
        sessions.retain_mut(|(at, session)| {
            if killed {
                return false;
            }
            let goes_on = session.as_mut().poll(&mut context).is_pending();
            killed = !goes_on && agents[*at].0.done.borrow().killed;
            goes_on
        });
        if killed {
            return;
        }
    }
}

/// Lets the other agents go on until each is here too.
pub(super) async fn others_turn() {
    let mut waited = false;
    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
