//! What a bench is asked for, and in how many goes a machine can do it.

use super::generator::GeneratorMutant;
use super::subject::Subject;
use crate::probe::limits;
use crate::record::bench::Settings;
use crate::swarm::Conduct;

/// Descriptors that the process needs beside its sockets.
const OTHER_DESCRIPTORS: u64 = 256;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// The servers. The first is the one that the others are compared with, and that is there twice.
    pub subjects: Vec<Subject>,
    /// Numbers of subscribers, length of a block, rate, rounds.
    pub settings: Settings,
    /// Whether to measure the reference writer too.
    pub reference: bool,
    /// Further subscribers of each server that do not read as they should. They are not measured.
    pub unhealthy: Vec<Conduct>,
    /// A deliberate fault of the generator.
    pub mutant: Option<GeneratorMutant>,
}

impl Options {
    /// Whether the first subject is there twice: with nothing to compare there is nothing to control.
    pub(super) fn controlled(&self) -> bool {
        self.subjects.len() > 1 || self.reference
    }

    /// Parties that are up at once: the subjects, the second copy, and the reference with its own.
    pub(super) fn lanes(&self) -> usize {
        self.subjects.len() + usize::from(self.controlled()) + if self.reference { 2 } else { 0 }
    }

    /// Descriptors that one lane takes: both ends of every connection.
    fn descriptors_of_a_lane(&self) -> usize {
        let most = self.settings.subscribers.iter().copied().max().unwrap_or(0) as usize;
        (most + self.unhealthy.len()) * 2
    }

    /// Descriptors that the process needs to have all of them up at once.
    pub(super) fn descriptors(&self) -> u64 {
        (self.lanes() * self.descriptors_of_a_lane()) as u64 + OTHER_DESCRIPTORS
    }

    /// The same question in as many goes as the machine's descriptors ask for. Each has the first subject and its
    /// second copy in it, so that every comparison stays one of servers that took turns.
    pub fn goes(&self) -> Vec<Options> {
        let (_, hard) = limits::descriptors();
        let hard = if limits::raise_descriptors(self.descriptors()).is_ok() { u64::MAX } else { hard };
        self.goes_within(usize::try_from(hard.saturating_sub(OTHER_DESCRIPTORS)).unwrap_or(usize::MAX))
    }

    fn goes_within(&self, descriptors: usize) -> Vec<Options> {
        let room = descriptors / self.descriptors_of_a_lane().max(1);
        let Some((first, others)) = self.subjects.split_first() else { return vec![self.clone()] };
        let taken = 2 + if self.reference { 2 } else { 0 };
        if room >= self.lanes() || room <= taken || others.is_empty() {
            return vec![self.clone()];
        }
        let go = |others: &[Subject]| {
            let subjects = std::iter::once(first).chain(others).cloned().collect();
            Options { subjects, ..self.clone() }
        };
        others.chunks(room - taken).map(go).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;
    use crate::agent_server::profile::server::{BusKind, Encoding};

    fn options(buses: &[BusKind], reference: bool) -> Options {
        let base = Catalogue::embedded().unwrap().server("1.58.2").unwrap();
        let settings = Settings {
            server: "1.58.2".into(),
            subscribers: vec![1, 100],
            tokens: 1,
            payload_bytes: 1,
            batch: 1,
            rate: None,
            repeats: 1,
            stalled: 0,
            seed: 1,
        };
        let subjects = buses.iter().map(|bus| Subject::of(&base, *bus, Encoding::Once)).collect();
        Options { subjects, settings, reference, unhealthy: Vec::new(), mutant: None }
    }

    #[test]
    fn every_go_has_the_first_subject_and_every_other_is_in_one() {
        let all = options(&[BusKind::Shared, BusKind::OptIn, BusKind::Widened, BusKind::Split], true);
        assert_eq!(all.descriptors(), 7 * 200 + OTHER_DESCRIPTORS);
        let names = |descriptors: usize| -> Vec<Vec<String>> {
            all.goes_within(descriptors)
                .iter()
                .map(|o| o.subjects.iter().map(|s| s.bus.clone()).collect())
                .collect()
        };
        assert_eq!(names(1400), [["shared", "opt-in", "widened", "split"]]);
        assert_eq!(names(1399), [vec!["shared", "opt-in", "widened"], vec!["shared", "split"]]);
        assert_eq!(names(1000).len(), 3);
        // Too little for a single comparison: one go, which then says what it lacks.
        assert_eq!(names(999).len(), 1);
    }

    #[test]
    fn one_server_alone_needs_no_copy() {
        assert_eq!(options(&[BusKind::Split], false).lanes(), 1);
        assert_eq!(options(&[BusKind::Split], true).lanes(), 4);
        assert_eq!(options(&[BusKind::Split], false).goes_within(1).len(), 1);
    }
}
