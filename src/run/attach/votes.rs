//! Which text of a delta is the right one, where clients got different ones: that of more than half of them.
//!
//! Being first says nothing. Where no text came to more than half, as with two clients that differ, none is right.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::numbers::Word;

/// A text, as far as clients compare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    hash: u64,
    /// Characters of text and of reasoning.
    pub(super) chars: [u64; 2],
    /// What text and reasoning say about their place in the reply.
    pub(super) words: [Word; 2],
}

impl Said {
    pub(super) fn delta(text: &str, reasoning: &str) -> Said {
        let both = [text, reasoning];
        Said {
            hash: hashed(&both),
            chars: both.map(|text| text.chars().count() as u64),
            words: both.map(Word::of),
        }
    }

    /// The durable end of a reply; what streamed is counted elsewhere.
    pub(super) fn durable(text: &str) -> Said {
        Said { hash: hashed(&text), chars: [0; 2], words: [Word::Nothing; 2] }
    }

    /// All of its characters.
    fn all(&self) -> u64 {
        self.chars.iter().sum()
    }
}

/// The votes on one text: a client has one, its first arrival.
#[derive(Debug)]
pub(super) struct Votes {
    first: Said,
    clients: u32,
    /// Absent while all agree, which is nearly always.
    dispute: Option<Box<Dispute>>,
}

#[derive(Debug)]
struct Dispute {
    clients: HashMap<u64, u32>,
    most: (Said, u32),
    least_chars: u64,
}

impl Votes {
    /// The first client's.
    pub(super) fn first(said: Said) -> Votes {
        Votes { first: said, clients: 1, dispute: None }
    }

    /// Another client's.
    pub(super) fn vote(&mut self, said: Said) {
        let before = self.clients;
        self.clients += 1;
        if self.dispute.is_none() && said == self.first {
            return;
        }
        let first = self.first;
        let dispute = self.dispute.get_or_insert_with(|| {
            let clients = HashMap::from([(first.hash, before)]);
            Box::new(Dispute { clients, most: (first, before), least_chars: first.all() })
        });
        let votes = dispute.clients.entry(said.hash).or_default();
        *votes += 1;
        if *votes > dispute.most.1 {
            dispute.most = (said, *votes);
        }
        dispute.least_chars = dispute.least_chars.min(said.all());
    }

    /// The text that came first, to which others are compared until all votes are in.
    pub(super) fn came_first(&self) -> &Said {
        &self.first
    }

    /// Clients that got it.
    pub(super) fn clients(&self) -> u32 {
        self.clients
    }

    /// The text that more than half of the clients got, if there is one.
    pub(super) fn right(&self) -> Option<&Said> {
        match &self.dispute {
            None => Some(&self.first),
            Some(dispute) if dispute.most.1 > self.clients / 2 => Some(&dispute.most.0),
            Some(_) => None,
        }
    }

    /// Characters that a client without it misses: of the right text, or of the shortest where none is right.
    pub(super) fn chars(&self) -> u64 {
        let shortest = self.dispute.as_ref().map_or(self.first.all(), |dispute| dispute.least_chars);
        self.right().map_or(shortest, Said::all)
    }
}

fn hashed(text: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The votes of clients that got these texts, in that order.
    fn votes(texts: &[&str]) -> Votes {
        let said = |text: &&str| Said::delta(text, "");
        let mut votes = Votes::first(said(&texts[0]));
        texts[1..].iter().map(said).for_each(|said| votes.vote(said));
        votes
    }

    #[test]
    fn the_text_of_more_than_half_is_right_whoever_was_first() {
        for (texts, right) in [
            (&["a"][..], Some("a")),
            (&["a", "a"], Some("a")),
            (&["x", "a", "a"], Some("a")),
            (&["a", "x", "a"], Some("a")),
            (&["a", "a", "x"], Some("a")),
            (&["x", "y", "a", "a", "a"], Some("a")),
            (&["a", "b"], None),
            (&["a", "b", "b", "a"], None),
            (&["a", "a", "b", "c"], None),
            (&["a", "b", "c"], None),
            (&["a", "b", "a", "b", "b"], Some("b")),
        ] {
            let votes = votes(texts);
            assert_eq!(votes.right().copied(), right.map(|text| Said::delta(text, "")), "{texts:?}");
            assert_eq!(votes.clients() as usize, texts.len());
        }
    }

    #[test]
    fn what_is_missing_has_the_length_of_the_right_text_or_of_the_shortest() {
        assert_eq!(votes(&["xxxx", "aa", "aa"]).chars(), 2);
        assert_eq!(votes(&["aa", "aa", "x"]).chars(), 2);
        assert_eq!(votes(&["xxxx", "aa"]).chars(), 2);
        assert_eq!(votes(&["漢字"]).chars(), 2);
    }

    #[test]
    fn text_and_reasoning_are_not_confused() {
        assert_ne!(Said::delta("a", ""), Said::delta("", "a"));
        assert_ne!(Said::delta("ab", "c"), Said::delta("a", "bc"));
    }
}
