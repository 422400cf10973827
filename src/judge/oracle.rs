//! The silent-loss oracle: what a subscriber of a session feed can tell for itself, with no rig and no second copy.
//!
//! A reply that was streamed has deltas before its message. A subscriber that wants deltas, sees a message with text and
//! saw no delta of that step has lost the whole stream, whatever else looks healthy. Who never wants deltas (a store, a
//! bridge of committed messages) is exempt. It is blind to what is lost in part, and to a step without text.

use std::collections::BTreeSet;

use crate::record::{Oracle, Subscribed};

/// The steps whose text came without a single delta. `S` is whatever names a step: its turn and number, say.
pub fn silent_steps<S: Ord + Copy>(
    messages: &BTreeSet<S>,
    deltas: &BTreeSet<S>,
    wants_deltas: bool,
) -> BTreeSet<S> {
    if wants_deltas { messages.difference(deltas).copied().collect() } else { BTreeSet::new() }
}

/// The same of one consumer, counted.
pub fn asked(seen: &Subscribed) -> Oracle {
    let silent = silent_steps(&seen.messages, &seen.deltas, seen.wants_deltas);
    Oracle { steps: seen.messages.len() as u64, silent: silent.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(steps: &[u32]) -> BTreeSet<(u32, u32)> {
        steps.iter().map(|step| (1, *step)).collect()
    }

    #[test]
    fn a_message_without_a_delta_is_flagged_and_its_neighbours_are_not() {
        assert_eq!(silent_steps(&set(&[1, 2, 3]), &set(&[1, 3]), true), set(&[2]), "one step of three");
        assert_eq!(silent_steps(&set(&[1, 2]), &set(&[]), true), set(&[1, 2]), "an unmigrated plugin");
        assert!(silent_steps(&set(&[1, 2]), &set(&[1, 2]), true).is_empty(), "a healthy one");
        assert!(silent_steps(&set(&[1, 2]), &set(&[]), false).is_empty(), "one that never wants deltas");
        assert!(silent_steps(&set(&[1]), &set(&[1, 2]), true).is_empty(), "a failed step has no message");
        // The same number in another turn is another step.
        let other: BTreeSet<(u32, u32)> = [(2, 1)].into();
        assert_eq!(silent_steps(&set(&[1]), &other, true), set(&[1]));
    }

    #[test]
    fn what_it_says_is_counted() {
        let seen = Subscribed { wants_deltas: true, messages: set(&[1, 2]), deltas: set(&[2]) };
        assert_eq!(asked(&seen), Oracle { steps: 2, silent: 1 });
        assert_eq!(asked(&Subscribed { wants_deltas: false, ..seen }), Oracle { steps: 2, silent: 0 });
    }
}
