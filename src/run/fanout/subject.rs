//! What is compared: one server, with its path of a delta and its encoding exchanged.

use std::collections::BTreeSet;

use crate::agent_server::profile::server::{BusKind, DeltaClass, Encoding, SubscriberKind};
use crate::agent_server::profile::{Profile, ServerTraits};

/// One server under test.
#[derive(Debug, Clone)]
pub struct Subject {
    /// `BUS/ENCODING`, or a server's name.
    pub name: String,
    /// The bus, as `bench.json` calls it.
    pub bus: String,
    /// The encoding, as `bench.json` calls it.
    pub encoding: String,
    /// The server itself.
    pub profile: Profile<ServerTraits>,
}

impl Subject {
    /// `base` with another bus and encoding, and without a cap on its subscribers. A bus that asks is asked by sockets
    /// alone, as since 1.44.1; a delta that needs a wider bus, or one of its own, is no `Event` any more (stage A).
    pub fn of(base: &Profile<ServerTraits>, bus: BusKind, encoding: Encoding) -> Subject {
        let mut profile = base.clone();
        let traits = &mut profile.traits;
        traits.bus.kind = bus;
        traits.bus.encoding = encoding;
        traits.bus.max_subscribers = 0;
        traits.bus.deltas_to = match bus {
            BusKind::Shared | BusKind::Widened => BTreeSet::new(),
            BusKind::OptIn | BusKind::Split => BTreeSet::from([SubscriberKind::Websocket]),
        };
        traits.delta.class = match bus {
            BusKind::Shared | BusKind::OptIn => DeltaClass::Event,
            BusKind::Widened | BusKind::Split => DeltaClass::Standalone,
        };
        let (bus, encoding) = (bus.as_str().to_owned(), encoding.as_str().to_owned());
        Subject { name: format!("{bus}/{encoding}"), bus, encoding, profile }
    }

    /// A server as its profile is, but for the cap on its subscribers.
    pub fn server(mut profile: Profile<ServerTraits>) -> Subject {
        profile.traits.bus.max_subscribers = 0;
        Subject {
            name: profile.release_name.clone(),
            bus: profile.traits.bus.kind.as_str().to_owned(),
            encoding: profile.traits.bus.encoding.as_str().to_owned(),
            profile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;

    #[test]
    fn a_bus_that_gives_deltas_to_all_has_no_list_of_those_who_asked() {
        let base = Catalogue::embedded().unwrap().server("1.58.2").unwrap();
        for bus in [BusKind::Shared, BusKind::OptIn, BusKind::Widened, BusKind::Split] {
            let subject = Subject::of(&base, bus, Encoding::Once);
            let asks = matches!(bus, BusKind::OptIn | BusKind::Split);
            assert_eq!(subject.profile.traits.bus.deltas_to.is_empty(), !asks);
            assert_eq!(subject.name, format!("{}/once", bus.as_str()));
        }
    }
}
