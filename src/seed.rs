//! One seed a run; every cell and client derives its own from it by name, so that adding a cell never
//! changes another one.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// A seed at some level of the run → cell → client tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of the part called `name`: the same name under the same parent is always the same seed.
    #[must_use]
    pub fn derive(self, name: &str) -> Seed {
        // FNV-1a spreads the name over 64 bits; ChaCha8 then removes any structure that is left.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Seed(Seed(self.0 ^ hash).rng().next_u64())
    }

    /// A generator that yields the same numbers on every platform and in every version of this crate.
    pub fn rng(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.0)
    }
}

/// A seeded source of version-4 UUIDs.
#[derive(Debug)]
pub struct Ids(ChaCha8Rng);

impl Ids {
    /// Ids for the part of a cell that `seed` belongs to.
    pub fn new(seed: Seed) -> Ids {
        Ids(seed.rng())
    }

    /// The next id, in the hyphenated form that the agent-server puts on its events.
    pub fn next_id(&mut self) -> String {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_part_and_repeat() {
        let run = Seed(7);
        assert_eq!(run.derive("cell-a"), run.derive("cell-a"));
        assert_ne!(run.derive("cell-a"), run.derive("cell-b"));
        assert_ne!(run.derive("cell-a"), Seed(8).derive("cell-a"));
    }

    #[test]
    fn ids_are_version_four_and_repeat() {
        let id = Ids::new(Seed(1)).next_id();
        assert_eq!(id, Ids::new(Seed(1)).next_id());
        assert_eq!(id.as_bytes()[14], b'4');
    }
}
