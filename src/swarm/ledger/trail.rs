//! How much text went by, and which: without keeping it.

/// Odd and with its bits spread; the one of splitmix64.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Characters and a running fingerprint of a text that comes in pieces. It depends on the text alone and not on
/// where the pieces were cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::swarm) struct Trail {
    pub(in crate::swarm) chars: u64,
    hash: u64,
    /// Bytes that do not fill a word yet, lowest first, and how many.
    pending: u64,
    held: u32,
}

impl Trail {
    /// The trail of a text in parts.
    pub(in crate::swarm) fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Trail {
        let mut trail = Trail::default();
        for part in parts {
            trail.add(part);
        }
        trail
    }

    /// One number for the text so far: to tell identifiers apart without keeping them.
    pub(in crate::swarm) fn fingerprint(&self) -> u64 {
        (self.hash ^ self.pending).wrapping_mul(MULTIPLIER) ^ self.chars
    }

    /// Adds the next piece.
    pub(in crate::swarm) fn add(&mut self, text: &str) {
        self.chars += text.chars().count() as u64;
        let mut words = text.as_bytes().chunks_exact(8);
        for word in &mut words {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            self.word(u64::from_le_bytes(bytes), 8);
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(bytes), u32::from(rest.len().to_le_bytes()[0]));
        }
    }

    /// Adds `count` bytes, 1 to 8, lowest first.
    fn word(&mut self, word: u64, count: u32) {
        self.pending |= word << (8 * self.held);
        let filled = self.held + count;
        if filled < 8 {
            self.held = filled;
            return;
        }
        self.hash = (self.hash ^ self.pending).wrapping_mul(MULTIPLIER);
        self.hash ^= self.hash >> 32;
        // What of the new bytes did not fit. A shift by all 64 bits would be none at all.
        self.pending = word.checked_shr(8 * (8 - self.held)).unwrap_or(0);
        self.held = filled - 8;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn where_the_pieces_are_cut_does_not_matter(parts in prop::collection::vec(".{0,20}", 0..12)) {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let whole = parts.concat();
            let trail = Trail::of(parts);
            prop_assert_eq!(trail, Trail::of([whole.as_str()]));
            prop_assert_eq!(trail.chars, whole.chars().count() as u64);
        }

        #[test]
        fn another_text_of_the_same_length_has_another_trail(text in "[a-d]{1,40}", at in 0_usize..40) {
            let at = at % text.len();
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'a' { b'b' } else { b'a' };
            let other = String::from_utf8(other).unwrap();
            prop_assert_ne!(Trail::of([text.as_str()]), Trail::of([other.as_str()]));
        }
    }

    #[test]
    fn order_matters() {
        assert_ne!(Trail::of(["tok1 ", "tok2 "]), Trail::of(["tok2 ", "tok1 "]));
    }
}
