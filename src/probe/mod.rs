//! Measuring: what both ends of a connection noted, settled into a ledger that must add up.

pub mod ledger;
pub mod trace;

pub use ledger::{Endpoint, Ledger, Seat};
pub use trace::{ClientTrace, Fate, LinkTrace, Origin, Receipt, ServerTrace};
