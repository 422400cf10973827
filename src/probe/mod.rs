//! Measuring: what both ends of a connection noted, settled into a ledger that must add up; and instruments.
//!
//! [`alloc`] and [`cpu`] bill a thread what it used. [`delay`] holds distributions of times. [`noise`] and [`lag`] ask
//! whether the machine and an event loop may be believed, [`limits`] how many sockets fit.

pub mod alloc;
pub mod cores;
pub mod cpu;
pub mod delay;
pub mod feed;
pub mod lag;
pub mod ledger;
pub mod limits;
pub mod noise;
pub mod process;
mod scratch;
pub mod trace;

pub use alloc::Allocations;
pub use cores::Cores;
pub use delay::Delays;
pub use feed::{FeedBooks, FeedTrace};
pub use lag::loop_lag;
pub use ledger::{Endpoint, Ledger, Seat};
pub use noise::Noise;
pub use scratch::{NoScratch, Scratch};
pub use trace::{ClientTrace, Fate, LinkTrace, Origin, Receipt, ServerTrace};
