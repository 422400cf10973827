//! Streamed text beside the durable end of its reply: what nobody got shows here.

use std::collections::HashMap;

use super::heard::{Delta, Key, Reply};
use crate::record::attach::ReplyTexts;

/// What streamed of one reply.
#[derive(Debug, Default)]
struct Streamed {
    attempt: u64,
    text: String,
    reasoning: String,
}

/// The replies of one client.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// By item; the legacy socket has one that is called nothing.
    open: HashMap<String, Streamed>,
    running: bool,
    /// Everybody has joined.
    joined: bool,
    /// What is open began after that.
    whole: bool,
    counts: ReplyTexts,
}

impl Texts {
    /// The next frame comes after everybody has joined: a reply that is under way is not to be judged.
    pub(super) fn joined(&mut self) {
        if !self.joined {
            self.joined = true;
            self.whole = !self.running && self.open.is_empty();
        }
    }

    pub(super) fn running(&mut self, running: bool) {
        self.running = running;
    }

    pub(super) fn delta(&mut self, delta: &Delta) {
        let (item, attempt) = match &delta.key {
            Some(Key::Place(item, attempt, _)) => (item.as_str(), *attempt),
            _ => ("", 0),
        };
        if !self.open.contains_key(item) {
            self.open.insert(item.to_owned(), Streamed { attempt, ..Streamed::default() });
        }
        let Some(streamed) = self.open.get_mut(item) else { return };
        if attempt > streamed.attempt {
            // A retry of the model begins the reply anew.
            *streamed = Streamed { attempt, ..Streamed::default() };
        }
        streamed.text.push_str(&delta.text);
        streamed.reasoning.push_str(&delta.reasoning);
    }

    pub(super) fn reply(&mut self, reply: &Reply) {
        let streamed = self.take(reply.id.as_deref());
        if !std::mem::replace(&mut self.whole, self.joined) {
            self.counts.unjudged += 1;
            return;
        }
        self.counts.judged += 1;
        let mut altered = self.compare(&streamed.text, &reply.text);
        if let Some(reasoning) = &reply.reasoning {
            altered |= self.compare(&streamed.reasoning, reasoning);
        }
        self.counts.altered += u64::from(altered);
    }

    /// A durable end that repeats no text, or none at all. Only a reply that streamed is one that could be judged.
    pub(super) fn boundary(&mut self, item: Option<&str>) {
        let streamed = self.take(item);
        self.whole = self.joined;
        self.counts.unjudged += u64::from(!streamed.text.is_empty() || !streamed.reasoning.is_empty());
    }

    pub(super) fn counts(&self) -> ReplyTexts {
        self.counts
    }

    fn take(&mut self, item: Option<&str>) -> Streamed {
        let of_item = item.and_then(|item| self.open.remove(item));
        of_item.or_else(|| self.open.remove("")).unwrap_or_default()
    }

    /// Whether the text is another one of the same length.
    fn compare(&mut self, streamed: &str, durable: &str) -> bool {
        // The durable end of some models is trimmed; what a person reads is the same.
        if streamed == durable || streamed.trim() == durable.trim() {
            return false;
        }
        let [came, due] = [streamed, durable].map(|text| text.chars().count() as u64);
        self.counts.short_chars += due.saturating_sub(came);
        self.counts.extra_chars += came.saturating_sub(due);
        came == due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str, key: Option<Key>) -> Delta {
        Delta { key, text: text.to_owned(), reasoning: String::new(), timestamp: None }
    }

    fn reply(id: &str, text: &str) -> Reply {
        Reply { id: Some(id.to_owned()), text: text.to_owned(), reasoning: None }
    }

    #[test]
    fn what_streamed_is_held_against_the_durable_end() {
        let mut texts = Texts::default();
        texts.joined();
        for (streamed, durable) in
            [("abc", "abc"), ("ab", "abc"), ("abcd", "abc"), ("abd", "abc"), ("", "xy")]
        {
            if !streamed.is_empty() {
                texts.delta(&delta(streamed, None));
            }
            texts.reply(&reply("m", durable));
        }
        let wanted = ReplyTexts { judged: 5, unjudged: 0, short_chars: 3, extra_chars: 1, altered: 1 };
        assert_eq!(texts.counts(), wanted);
    }

    #[test]
    fn a_reply_that_began_before_all_had_joined_is_not_judged_and_the_next_one_is() {
        let begun: [fn(&mut Texts); 2] =
            [|texts| texts.running(true), |texts| texts.delta(&delta("be", None))];
        for begin in begun {
            let mut texts = Texts::default();
            begin(&mut texts);
            texts.joined();
            texts.delta(&delta("gun", None));
            texts.reply(&reply("m", "long begun"));
            texts.reply(&reply("n", "!"));
            let counts = texts.counts();
            assert_eq!((counts.judged, counts.unjudged, counts.short_chars), (1, 1, 1));
        }
    }

    #[test]
    fn items_of_the_session_socket_are_kept_apart_and_a_retry_begins_anew() {
        let mut texts = Texts::default();
        texts.joined();
        let place = |item: &str, attempt, order| Some(Key::Place(item.to_owned(), attempt, order));
        texts.delta(&delta("wrong", place("a", 1, 0)));
        texts.delta(&delta("x", place("b", 1, 0)));
        texts.delta(&delta("right", place("a", 2, 0)));
        texts.reply(&reply("a", "right"));
        texts.boundary(Some("b"));
        assert_eq!(texts.counts(), ReplyTexts { judged: 1, unjudged: 1, ..ReplyTexts::default() });
    }
}
