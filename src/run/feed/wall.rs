//! A session on the wall clock: a real store on disk, and for a fault that kills, a real child process and a SIGKILL.

use crate::run::CellFault;
use crate::session_feed::{Plan, Played};

/// Plays the plan with its store in a file, in a child of its own where the fault kills the process.
///
/// Not wired up: until it is, such cells did not run, and say so.
pub(super) fn on_disk(_plan: &Plan<'_>) -> Result<Played, CellFault> {
    let why = "a session feed on the wall clock writes to disk, and that is not built in yet; run it on the virtual clock";
    Err(CellFault::Setup(why.to_owned()))
}
