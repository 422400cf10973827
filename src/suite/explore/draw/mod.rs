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
                drawn.faults.push(faults::fault(&drawn, &self.servers, &mut dice));
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
