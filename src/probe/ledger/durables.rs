//! The durable events that a client should have got, each counted once however often it was sent.

use std::collections::BTreeSet;

use super::stops::ended_early;
use crate::probe::trace::{ClientTrace, Fate, LinkTrace, ServerTrace};
use crate::record::flow::Reason;
use crate::record::observation::Durables;

/// What became of them, connection after connection.
pub(super) struct Taken {
    /// Published before the client first subscribed: history, which nobody owes it.
    before: u64,
    joined: bool,
    sent: BTreeSet<u64>,
    accepted: BTreeSet<u64>,
    refused: Vec<(u64, Reason)>,
    counts: Durables,
}

impl Taken {
    pub(super) fn since(links: &[LinkTrace]) -> Taken {
        let joined = links.iter().find_map(|link| link.joined_after);
        Taken {
            before: joined.unwrap_or(0),
            joined: joined.is_some(),
            sent: BTreeSet::new(),
            accepted: BTreeSet::new(),
            refused: Vec::new(),
            counts: Durables::default(),
        }
    }

    /// One that was written to a socket. Those without a number are all different ones.
    pub(super) fn frame(&mut self, reply: bool, number: u64, fate: Option<&Fate>) {
        if number != 0 && number <= self.before {
            return;
        }
        self.counts.sent += u64::from(number == 0 || self.sent.insert(number));
        match fate {
            Some(Fate::Reached { .. }) => {
                self.counts.accepted += u64::from(number == 0 || self.accepted.insert(number));
                self.counts.reply |= reply;
            }
            Some(Fate::Stopped { reason, .. }) => self.refused.push((number, reason.clone())),
            // Written and never read: the connection ended first.
            None => self.refused.push((number, Reason::new("unread"))),
        }
    }

    /// Those that the client read over REST, by their ids.
    pub(super) fn recovered(&mut self, server: &ServerTrace, ids: &[String]) {
        for id in ids {
            let Some(place) = server.durable_ids.iter().position(|known| known == id) else { continue };
            let number = place as u64 + 1;
            if number > self.before && self.accepted.insert(number) {
                self.counts.accepted += 1;
                self.counts.recovered += 1;
                self.counts.reply |= server.replies.contains(&number);
            }
        }
    }

    /// A durable event that was due and never came, by socket or by REST, is a loss like any refused one.
    pub(super) fn settled(
        mut self,
        server: &ServerTrace,
        links: &[LinkTrace],
        client: &ClientTrace,
    ) -> Durables {
        let mut told = BTreeSet::new();
        for (number, reason) in std::mem::take(&mut self.refused) {
            // What came by another connection is not lost, and what was refused twice is lost once.
            if number == 0 || !self.accepted.contains(&number) && told.insert(number) {
                *self.counts.rejected.entry(reason).or_default() += 1;
            }
        }
        self.counts.due = if self.joined { server.durables.saturating_sub(self.before) } else { 0 };
        self.counts.reply_due = self.joined && server.replied_at > self.before;
        let only_recovered = self.accepted.iter().filter(|number| !self.sent.contains(number)).count() as u64;
        let unsent = self.counts.due.saturating_sub(self.counts.sent + only_recovered);
        if unsent > 0 {
            let earlier = client.earlier.last().map(|ended| &ended.unread);
            let closed = links.iter().rev().find_map(|link| link.closed.as_ref());
            let closed = closed.map(|(code, _)| Reason::from(format!("closed_{code}")));
            let reason = ended_early(client.unread.as_ref()).or(earlier).cloned().or(closed);
            let reason = reason.unwrap_or(Reason::new("not_sent"));
            *self.counts.rejected.entry(reason).or_default() += unsent;
        }
        self.counts
    }
}
