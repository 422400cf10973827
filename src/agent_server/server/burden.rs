//! Deliberate costs: what a mutant spends on every delta that it publishes, for nothing, so that a bench has something to
//! find whose size is known.

use std::hint::black_box;

use super::Inner;
use super::frame::delta_object;
use crate::wire::Event;

/// Spends what the mutant of the server says. Nothing of it is sent.
pub(super) fn burden(server: &Inner, delta: &Event) {
    let mutant = &server.traits.mutant;
    for _ in 0..mutant.encode_again {
        let text = server.config.mutation.apply(delta_object(&server.traits, delta));
        server.costs.serialised(black_box(text).len());
    }
    black_box(burnt(mutant.burn));
}

/// So many steps of a recurrence, none of which can be done before the one before it.
fn burnt(rounds: u32) -> u64 {
    // The step of a linear congruential generator (Knuth, MMIX): a multiplication and an addition, and no memory.
    let step =
        |x: u64| black_box(x).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (0..rounds).fold(1, |x, _| step(x))
}
