//! Traits that are laid over a server: each a change that some release made, took back, or may make.

use std::sync::LazyLock;

use toml::Table;

use crate::agent_server::profile::Catalogue;
use crate::suite::explore::dice::Dice;
use crate::suite::explore::specimen::{Laid, Specimen};

/// The changes, as a scenario's `[traits]` write them. What is wanted together is in one line. An entry that no server takes
/// is a fault of this list, and a test finds it.
const WRITTEN: [&str; 34] = [
    "bus.fan_out = \"sequential\"",
    "bus.fan_out = \"gather\"",
    "bus.encoding = \"once\"",
    "bus.max_subscribers = 3",
    "bus.max_subscribers = 6",
    "bus = { kind = \"shared\", deltas_to = [] }",
    "bus = { kind = \"widened\", deltas_to = [] }",
    "bus = { kind = \"opt-in\", deltas_to = [\"websocket\"] }",
    "bus = { kind = \"opt-in\", deltas_to = [\"idle\"] }",
    "bus = { kind = \"split\", deltas_to = [\"websocket\"] }",
    "bus = { kind = \"split\", deltas_to = [\"websocket\", \"webhook\"] }",
    "delta.class = \"standalone\"",
    "delta.class = \"withdrawn\"",
    "delta.kind = \"TokenDelta\"",
    "delta.fields = [\"id\", \"timestamp\", \"source\", \"content\"]",
    "delta.fields = [\"id\", \"timestamp\", \"source\", \"content\", \"reasoning_content\", \"parent_id\"]",
    "delta.fields = [\"content\", \"reasoning_content\"]",
    "delta.empty = \"all\"",
    "idle.heartbeat_s = 1.0",
    "idle = { token_writes = true, heartbeat_s = 0.0 }",
    "telemetry.present = true",
    "webhook.event_buffer_size = 1",
    "webhook.one_in_flight = true",
    "wire.nulls = \"kept\"",
    "wire.nulls = \"absent\"",
    "wire.parent_id = \"sent\"",
    "wire.parent_id = \"stripped\"",
    "wire.observation_extended_content = false",
    "socket.snapshot_timeout_s = 0.001",
    "session.endpoint = \"absent\"",
    "session.endpoint = \"durable\"",
    "session.endpoint = \"full\"",
    "session.max_frame_bytes = 2048",
    "session.max_pending_bytes = 4096",
];

/// The changes, read.
pub(in crate::suite::explore) static KIT: LazyLock<Vec<Laid>> = LazyLock::new(|| {
    let read = |name: &'static str| name.parse::<Table>().ok().map(|table| Laid { name, table });
    WRITTEN.into_iter().filter_map(read).collect()
});

/// Lays one or two of them over the specimen's server, as far as it takes them.
pub(super) fn lay(drawn: &mut Specimen, catalogue: &Catalogue, dice: &mut Dice) {
    for _ in 0..dice.within(1, 2) {
        let laid = dice.pick(&KIT).clone();
        if drawn.traits.iter().any(|known| known.name == laid.name) {
            continue;
        }
        drawn.traits.push(laid);
        // Each is right for itself; with another one, or over this server, it may contradict itself.
        if catalogue.server_with(&drawn.server, &drawn.laid()).is_err() {
            drawn.traits.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_reads_and_some_server_takes_it() {
        assert_eq!(KIT.len(), WRITTEN.len());
        let catalogue = Catalogue::embedded().unwrap();
        for laid in KIT.iter() {
            let taken = |name: &str| catalogue.server_with(name, &laid.table);
            let all: Vec<_> = catalogue.servers().abouts().map(|about| taken(&about.name)).collect();
            assert!(all.iter().any(Result::is_ok), "{}: {:?}", laid.name, all[0].as_ref().err());
        }
    }
}
