//! A seeded search for verdicts that nobody declared.
//!
//! Cells are drawn over servers and their traits, frame mutations, clients, workloads and faults; they run and are judged like
//! those of any plan. Bad ends are put in groups, so that ten thousand cells give a short list; the first cell of a group that
//! no shipped scenario expects is shrunk and kept as a capsule.
//!
//! | file | idea |
//! |---|---|
//! | `dice` | draws from one seed |
//! | `draw/` | from a number to a specimen; one file for each thing that is drawn |
//! | `specimen` | a cell in parts that can be taken away |
//! | `crew` | threads that run cells, and may be given up when one hangs |
//! | `group` | what makes two findings the same |
//! | `declared` | what shipped scenarios expect |
//! | `healthy` | pairs of releases that have to be well |
//! | `search` | draw, run, judge, group |
//! | `shrink` | the smallest cell that goes wrong in the same way |
//! | `keep` | from a group to its capsule |
//! | `cover` | what was tried with what |
//!
//! # Adding something that is drawn
//! 1. A change to servers is a line in `draw/kit`; a fault is an arm in `draw/faults`, which a test asks for.
//! 2. If it is a new part of a cell, `shrink` has to take it away and `scenario::capsule` has to write it.
//!
//! # Common pitfalls
//! - Every draw moves all later ones of its cell, so a change here changes what a seed finds. Capsules stay what they are.
//! - Nothing that depends on threads or on time may go into a report: the same seed has to print the same.

mod cover;
mod crew;
mod declared;
mod dice;
mod draw;
mod group;
mod healthy;
mod keep;
mod search;
mod shrink;
mod specimen;

pub(super) use crew::Crew;
pub use search::{Explore, ExploreError, Explored, Limit};

use std::time::Duration;

/// Real time of one cell, after which it counts as hung.
pub const PATIENCE: Duration = Duration::from_secs(5);
