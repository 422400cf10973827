//! Stub.
mod assembly;
mod closed;
mod frame;
mod heard;
mod ledger;
pub use closed::{Closed, Fault};
pub use ledger::Counts;
