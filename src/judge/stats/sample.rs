//! Made-up blocks of known cost and noise.

use rand::Rng;
use rand::rngs::ChaCha8Rng;

/// A standard normal number (Box and Muller).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let mut unit = || (f64::from(rng.next_u32()) + 0.5) / (f64::from(u32::MAX) + 1.0);
    let (u, v) = (unit(), unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Blocks around `cost`, with noise in proportion to it.
pub(in crate::judge) fn blocks(rng: &mut ChaCha8Rng, cost: f64, noise: f64, count: usize) -> Vec<f64> {
    (0..count).map(|_| cost * (1.0 + noise * normal(rng))).collect()
}
