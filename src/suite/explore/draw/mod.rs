//! From a number to a specimen: the same seed and number always draw the same.

mod faults;
mod frames;
mod kit;
mod tokens;

pub(super) use kit::KIT;

use super::dice::Dice;
use super::specimen::Specimen;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::server::Finish;
use crate::seed::Seed;

/// Clients of one cell.
const SUBSCRIBERS: u32 = 3;

/// What specimens are drawn from.
#[derive(Debug, Clone)]
pub(super) struct Urn<'a> {
    pub(super) catalogue: &'a Catalogue,
    /// Profiles, never empty.
    pub(super) servers: Vec<String>,
    /// Profiles, never empty.
    pub(super) clients: Vec<String>,
    pub(super) seed: Seed,
}

impl Urn<'_> {
    /// The specimen with that number.
    pub(super) fn specimen(&self, number: u64) -> Specimen {
        let mut dice = Dice::new(self.seed.derive(&format!("specimen/{number}")));
        let client = dice.pick(&self.clients).clone();
        let pair = (dice.pick(&self.servers).clone(), self.listening(client, &mut dice));
        let mut drawn = healthy(pair, &mut dice);
        // One in ten stays as it is: what nothing is done to has to be well.
        if dice.chance(10) {
            return drawn;
        }
        if dice.chance(30) {
            drawn.steps = frames::steps(&mut dice);
        }
        if dice.chance(40) {
            kit::lay(&mut drawn, self.catalogue, &mut dice);
        }
        if dice.chance(60) {
            for _ in 0..dice.within(1, 3) {
                let fault = faults::fault(&drawn, &self.servers, &mut dice);
                // No scenario may write a fault that nothing is left of.
                if !drawn.faults.iter().any(|earlier| fault.swallows(earlier, drawn.subscribers)) {
                    drawn.faults.push(fault);
                }
            }
        }
        drawn
    }

    /// The client, one time in eight with a callback list that it has.
    fn listening(&self, client: String, dice: &mut Dice) -> String {
        let lists: Vec<String> = match self.catalogue.client(&client) {
            Ok(choice) if dice.chance(12) => choice.profile.traits.listen.lists.into_keys().collect(),
            _ => Vec::new(),
        };
        if lists.is_empty() { client } else { format!("{client}/{}", dice.pick(&lists)) }
    }
}

/// A specimen of these two that nothing is done to.
pub(super) fn healthy((server, client): (String, String), dice: &mut Dice) -> Specimen {
    Specimen {
        server,
        client,
        subscribers: dice.times(SUBSCRIBERS),
        tokens: tokens::tokens(dice),
        rate: *dice.pick(&[5, 20, 50, 200]),
        finish: if dice.chance(20) { Finish::FinishTool } else { Finish::Message },
        steps: Vec::new(),
        traits: Vec::new(),
        faults: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::agent_server::fault::Kind;
    use crate::record::{Signal, Verdict};
    use crate::scenario::Cell;
    use crate::scenario::capsule::{CAPSULE_SCHEMA, Capsule, Found, Head};

    fn urn(catalogue: &Catalogue, seed: u64) -> Urn<'_> {
        let names =
            |shelf: &crate::agent_server::profile::Shelf| shelf.abouts().map(|a| a.name.clone()).collect();
        let (servers, clients) = (names(catalogue.servers()), names(catalogue.clients()));
        Urn { catalogue, servers, clients, seed: Seed(seed) }
    }

    fn head(cell: &Cell) -> Head {
        let found = Found {
            verdict: Verdict::SilentLoss,
            scope: None,
            lost_at: None,
            reason: None,
            signal: Signal::None,
            hops: Vec::new(),
            ledger: String::new(),
            evidence: String::new(),
        };
        Head {
            schema: CAPSULE_SCHEMA.to_owned(),
            skewlab: String::new(),
            seed: 1,
            clock: "virtual".to_owned(),
            hash: cell.hash.clone(),
            found,
            profiles: Capsule::profiles(cell, &Catalogue::embedded().unwrap()),
        }
    }

    #[test]
    fn draws_repeat_by_seed_and_number() {
        let catalogue = Catalogue::embedded().unwrap();
        let draw = |seed, number| urn(&catalogue, seed).specimen(number);
        for number in 0..20 {
            assert_eq!(draw(1, number), draw(1, number));
            assert_ne!(draw(1, number), draw(2, number));
            assert_ne!(draw(1, number), draw(1, number + 20));
        }
    }

    /// The moments and numbers of every fault, all traits and all mutations are such that a scenario may write them, and a
    /// capsule writes everything that decides what the cell does.
    #[test]
    fn whatever_is_drawn_can_be_written_and_read_again() {
        let catalogue = Catalogue::embedded().unwrap();
        let urn = urn(&catalogue, 3);
        let (mut kinds, mut traits, mut bare) = (BTreeSet::new(), BTreeSet::new(), 0);
        for number in 0..600 {
            let specimen = urn.specimen(number);
            kinds.extend(specimen.faults.iter().map(|fault| fault.kind.as_str()));
            traits.extend(specimen.traits.iter().map(|laid| laid.name));
            bare += u32::from(
                specimen.faults.is_empty() && specimen.steps.is_empty() && specimen.traits.is_empty(),
            );
            let cell = specimen.cell().unwrap();
            let head = head(&cell);
            let text = Capsule::text(&cell, &head, "why");
            let read = Capsule::parse("a-name.toml", &text, catalogue.clone());
            let read = read.unwrap_or_else(|e| panic!("{number}: {e}\n{text}"));
            assert_eq!((&read.cell.id, &read.cell.hash), (&cell.id, &cell.hash), "{number}\n{text}");
            assert_eq!(
                (read.cell.faults, read.cell.workload),
                (cell.faults, cell.workload),
                "{number}\n{text}"
            );
            assert_eq!(read.head, head);
        }
        assert_eq!((kinds.len(), traits.len()), (Kind::WORDS.len(), KIT.len()));
        assert!(bare > 60, "{bare}");
    }
}
