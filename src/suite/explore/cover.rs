//! What was tried with what.

use std::collections::BTreeSet;

use super::draw::KIT;
use super::specimen::Specimen;
use crate::agent_server::fault::Kind;
use crate::record::explore::{Coverage, Pairs, Share};

/// The value of an axis on which nothing was changed.
const NONE: &str = "none";

/// Changed trait, client and fault of the cells that ran. A cell with several of a kind has tried each of them.
#[derive(Debug, Default)]
pub(super) struct Cover {
    tried: BTreeSet<[String; 3]>,
}

impl Cover {
    /// A cell in which everything came that was to come.
    pub(super) fn add(&mut self, specimen: &Specimen) {
        let or_none = |names: Vec<&str>| if names.is_empty() { vec![NONE.to_owned()] } else { owned(names) };
        let traits = or_none(specimen.traits.iter().map(|laid| laid.name).collect());
        let faults = or_none(specimen.faults.iter().map(|fault| fault.kind.as_str()).collect());
        let client = profile(&specimen.client);
        for changed in &traits {
            for fault in &faults {
                self.tried.insert([changed.clone(), client.to_owned(), fault.clone()]);
            }
        }
    }

    /// What was tried of everything that could have been drawn with these clients; in a search that draws `all`, and else
    /// with nothing changed.
    pub(super) fn report(&self, clients: &[String], all: bool) -> Coverage {
        let none = std::iter::once(NONE);
        let traits: Vec<&str> =
            none.clone().chain(KIT.iter().map(|laid| laid.name).filter(|_| all)).collect();
        let faults: Vec<&str> = none.chain(Kind::WORDS.into_iter().filter(|_| all)).collect();
        let clients: BTreeSet<&str> = clients.iter().map(|client| profile(client)).collect();
        let axes = [("changed trait", traits), ("client", clients.into_iter().collect()), ("fault", faults)];
        let pairs = [(0, 1), (1, 2), (0, 2)].into_iter().map(|(a, b)| self.pairs(&axes, a, b)).collect();
        let of = axes.iter().map(|(_, values)| values.len() as u64).product();
        Coverage { pairs, triples: Share { tried: self.tried.len() as u64, of } }
    }

    fn pairs(&self, axes: &[(&str, Vec<&str>); 3], a: usize, b: usize) -> Pairs {
        let tried: BTreeSet<(&str, &str)> =
            self.tried.iter().map(|triple| (triple[a].as_str(), triple[b].as_str())).collect();
        let ((left, ones), (right, others)) = (&axes[a], &axes[b]);
        let all = ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other)));
        let untried = all.filter(|pair| !tried.contains(pair));
        let untried: Vec<[String; 2]> =
            untried.map(|(one, other)| [one.to_owned(), other.to_owned()]).collect();
        let of = (ones.len() * others.len()) as u64;
        let share = Share { tried: of - untried.len() as u64, of };
        Pairs { axes: format!("{left} × {right}"), share, untried }
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// A client without its callback list.
fn profile(client: &str) -> &str {
    client.split_once('/').map_or(client, |(profile, _)| profile)
}

#[cfg(test)]
mod tests {
    use super::super::draw::healthy;
    use super::*;
    use crate::seed::Seed;
    use crate::suite::explore::dice::Dice;

    #[test]
    fn a_cell_counts_for_all_that_it_tried_and_nothing_else() {
        let pair = |client: &str| ("1.58.2".to_owned(), client.to_owned());
        let mut dice = Dice::new(Seed(1));
        let mut cover = Cover::default();
        let clients = ["a".to_owned(), "b".to_owned()];
        cover.add(&healthy(pair("a"), &mut dice));
        let plain = cover.report(&clients, false);
        assert_eq!(plain.triples, Share { tried: 1, of: 2 });
        assert_eq!(plain.pairs[0].untried, [["none".to_owned(), "b".to_owned()]]);
        let mut both = healthy(pair("b/list"), &mut dice);
        both.traits = KIT[..2].to_vec();
        cover.add(&both);
        cover.add(&both);
        let all = cover.report(&clients, true);
        let traits = KIT.len() as u64 + 1;
        assert_eq!(all.triples, Share { tried: 3, of: traits * 2 * 31 });
        assert_eq!(all.pairs[0].share, Share { tried: 3, of: traits * 2 });
        assert_eq!(all.pairs[1].share, Share { tried: 2, of: 2 * 31 });
        assert_eq!(all.pairs[1].axes, "client × fault");
    }
}
