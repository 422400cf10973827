//! One observation, with the text of each class aligned once for all detectors.

use super::align::{Alignment, align};
use super::late;
use crate::record::{Class, CutShort, Finding, Hop, HopFlow, Observation, Reason, Signal, Verdict};
use crate::unit::Tally;

/// What the detectors look at.
pub(super) struct Evidence<'a> {
    pub(super) seen: &'a Observation,
    /// Text and reasoning; pieces without a character say nothing about text.
    pub(super) classes: Vec<ClassText<'a>>,
}

/// The text of one class.
pub(super) struct ClassText<'a> {
    pub(super) class: Class,
    /// Whether the application shows it.
    pub(super) shown: bool,
    pub(super) produced: u64,
    pub(super) delivered: u64,
    pub(super) alignment: Alignment,
    flow: &'a [HopFlow],
}

impl<'a> Evidence<'a> {
    pub(super) fn of(seen: &'a Observation) -> Evidence<'a> {
        let classes = [Class::Text, Class::Reasoning].map(|class| ClassText::of(seen, class));
        Evidence { seen, classes: classes.into() }
    }

    /// The shown classes of which the model produced or the application got text.
    pub(super) fn shown(&self) -> impl Iterator<Item = &ClassText<'a>> {
        self.classes.iter().filter(|text| text.shown && text.produced + text.delivered > 0)
    }

    /// Whether the profile says that this client does not stream, and it got nothing.
    pub(super) fn silent_by_design(&self) -> bool {
        !self.seen.streams && self.classes.iter().all(|text| text.delivered == 0)
    }

    /// The last hop of this client's path.
    pub(super) fn last_hop(&self) -> Option<Hop> {
        self.seen.flows.values().next()?.last().map(|flow| flow.hop)
    }

    /// A finding that is about no hop and no scope; detectors add what they know.
    pub(super) fn finding(&self, verdict: Verdict, amount: Tally, note: String) -> Finding {
        let signal = self.seen.signal;
        Finding { verdict, scope: None, lost_at: None, reason: None, signal, amount, note }
    }

    /// A loss by what anybody was told of it, and by nothing else. A run that never ends tells nobody: a reply that does not
    /// come looks like a model that thinks, for as long as somebody waits.
    pub(super) fn loss(signal: Signal) -> Verdict {
        if signal == Signal::Surfaced { Verdict::LoudLoss } else { Verdict::SilentLoss }
    }

    /// What the application could notice of a loss of text. An error that is shown because it ended the run tells that the
    /// text is not whole, whatever else became of it.
    pub(super) fn told(&self) -> Signal {
        match self.seen.cut {
            Some(CutShort::Failed) => self.seen.signal.max(self.seen.durable_signal),
            _ => self.seen.signal,
        }
    }

    /// How the run ended, where it did not end as it should.
    pub(super) fn cut(&self) -> Option<&'static str> {
        let said = self.seen.cut.map_or("the run did not end normally", CutShort::sentence);
        (!self.seen.completed).then_some(said)
    }

    /// Frames that stopped and should not have, those without a character included.
    pub(super) fn lost_frames(&self) -> u64 {
        let drops = self.seen.flows.values().flatten().flat_map(|flow| &flow.dropped);
        drops.filter(|(reason, _)| !reason.by_design()).map(|(_, tally)| tally.frames).sum()
    }

    /// What the application could notice, as the end of a sentence.
    pub(super) fn noticed(&self, signal: Signal, frames: u64) -> String {
        let lines: u64 = self.seen.log.values().sum();
        match signal {
            Signal::None => "the application could notice nothing".to_owned(),
            Signal::Log if lines == frames && frames > 1 => "one log line per frame".to_owned(),
            Signal::Log => count(lines, "log line"),
            Signal::Surfaced => match self.seen.surfaced.first() {
                Some(what) => format!("the application was told: {what}"),
                None => "the application was told".to_owned(),
            },
        }
    }
}

impl<'a> ClassText<'a> {
    fn of(seen: &'a Observation, class: Class) -> ClassText<'a> {
        let texts = |pieces: &'a [crate::record::observation::Piece]| {
            pieces.iter().filter(|p| p.class == class).map(|p| p.text.as_str()).collect::<Vec<_>>()
        };
        let chars = |texts: &[&str]| texts.iter().map(|text| Tally::of(text).chars).sum();
        let (produced, delivered) = (texts(&seen.produced), texts(&seen.delivered));
        ClassText {
            class,
            shown: seen.shows.contains(&class),
            produced: chars(&produced),
            delivered: chars(&delivered),
            alignment: late::in_place(seen, class, &produced, align(&produced, &delivered)),
            flow: seen.flows.get(&class).map_or(&[], Vec::as_slice),
        }
    }

    /// What the ledger counts as having reached the application: what left the last hop of its path.
    pub(super) fn ledger_delivered(&self) -> Tally {
        self.flow.last().map(|flow| flow.left).unwrap_or_default()
    }

    /// What stopped, hop by hop.
    pub(super) fn drops(&self) -> impl Iterator<Item = (Hop, &'a Reason, Tally)> {
        let each = |flow: &'a HopFlow| flow.dropped.iter().map(|(reason, tally)| (flow.hop, reason, *tally));
        self.flow.iter().flat_map(each)
    }

    /// What stopped, without what was only a copy: dropping a copy that a party made loses nothing.
    pub(super) fn net_drops(&self) -> impl Iterator<Item = (Hop, &'a Reason, Tally)> {
        let mut copies = self.added().chars;
        self.drops().map(move |(hop, reason, tally)| {
            if reason.as_str() != "duplicate_id" {
                return (hop, reason, tally);
            }
            let net = Tally { chars: tally.chars.saturating_sub(copies), ..tally };
            copies = copies.saturating_sub(tally.chars);
            (hop, reason, net)
        })
    }

    /// Characters that pieces lost on the way without being lost themselves.
    pub(super) fn shrunk(&self) -> Tally {
        self.drops().filter(|(_, reason, _)| **reason == Reason::TEXT_ALTERED).map(|(_, _, t)| t).sum()
    }

    /// Characters that are not those of the piece that brought them: changed in number, or of another class.
    pub(super) fn foreign(&self) -> Option<(Reason, u64)> {
        let added = |reason: &Reason| -> u64 {
            self.flow.iter().filter_map(|flow| flow.added.get(reason)).map(|tally| tally.chars).sum()
        };
        let altered = added(&Reason::TEXT_ALTERED) + self.shrunk().chars;
        let elsewhere = added(&Reason::TEXT_FROM_ELSEWHERE);
        match (elsewhere, altered) {
            (0, 0) => None,
            (0, altered) => Some((Reason::TEXT_ALTERED, altered)),
            (elsewhere, _) => Some((Reason::TEXT_FROM_ELSEWHERE, elsewhere)),
        }
    }

    /// What a party made more of.
    pub(super) fn added(&self) -> Tally {
        self.flow.iter().flat_map(|flow| flow.added.values().copied()).sum()
    }

    /// What stopped and should not have.
    pub(super) fn lost(&self) -> Tally {
        self.drops().filter(|(_, reason, _)| !reason.by_design()).map(|(_, _, tally)| tally).sum()
    }

    /// What stopped whole and should not have: a piece that arrived changed is not lost.
    pub(super) fn lost_whole(&self) -> Tally {
        let whole = |reason: &Reason| !reason.by_design() && *reason != Reason::TEXT_ALTERED;
        self.drops().filter(|(_, reason, _)| whole(reason)).map(|(_, _, tally)| tally).sum()
    }

    /// What stopped because it is meant to.
    pub(super) fn withheld(&self) -> Tally {
        self.drops().filter(|(_, reason, _)| reason.by_design()).map(|(_, _, tally)| tally).sum()
    }
}

/// `1 frame`, `2 frames`.
pub(super) fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
