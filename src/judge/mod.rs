//! From evidence to findings: pure functions of `record` data, so that a stored run can be judged again.
//!
//! [`judge`] says what is wrong with one client of one cell, [`outcome`] what that means next to the
//! scenario's expectation, [`exit_code`] what the whole run tells the shell. [`align`](align::align) compares
//! the text alone and knows neither hops nor signals.
//!
//! Adding a detector: a file with one function from `Evidence` to findings, a line in `findings.rs`, and
//! a mutant in `mutants/` that makes it fire beside a healthy neighbour that must not.
//!
//! Common pitfalls: counting frames where characters are meant (a class can lose everything while frames
//! flow); taking the ledger's word alone (it does not see text that a client alters); reporting a finding
//! beside `invalid`, which says that the evidence itself is broken.

pub mod against;
pub mod align;
pub mod attach;
pub mod bench;
mod budget;
pub mod client_bench;
pub mod compare;
pub mod contract;
mod divergent;
mod durable;
mod evidence;
pub mod exit;
pub mod expect;
mod figures;
mod findings;
mod late;
mod leak;
pub mod live_bench;
mod loss;
#[cfg(test)]
mod mutants;
pub mod oracle;
mod pace;
mod queue;
mod reaped;
mod rig;
#[cfg(test)]
pub(crate) mod sample;
pub mod stats;
mod wrong;

pub use align::{Alignment, Kind, align};
pub use budget::budgets;
pub use exit::{ExitCode, exit_code};
pub use expect::{only_over_budget, outcome};
pub use findings::judge;
