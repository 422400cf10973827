//! A session on the wall clock: a real store on disk, and for a fault that kills, a real child process and a SIGKILL.
//!
//! The time of a session stays its own: nobody sleeps, and what is on disk is to be what memory holds at that point. Where it
//! is not, the rig is at fault.

use crate::live::process::warden_program;
use crate::probe::Scratch;
use crate::run::CellFault;
use crate::session_feed::play::{Sent, kept, play_against, play_on_disk};
use crate::session_feed::store::crash::Kill;
use crate::session_feed::writer::{Writes, written_by_child};
use crate::session_feed::{Plan, Played};

/// Plays the plan with its store in a file, in a child of its own where the fault kills the process.
pub(super) fn on_disk(plan: &Plan<'_>) -> Result<Played, CellFault> {
    let folder = Scratch::new("session").map_err(setup)?;
    let file = folder.path().join("session.jsonl");
    if !plan.fault.kills() {
        return play_on_disk(plan, &file).map_err(setup);
    }
    // Loop, bus and store run in the child, which is killed there. What the consumers make of it is asked here, of the file.
    let kept = kept(plan);
    if !kept.killed {
        return Err(CellFault::NeverFired(plan.fault.to_string()));
    }
    let program = warden_program().map_err(setup)?;
    let writes = Writes::Session(Box::new(Sent::of(plan)));
    let left = written_by_child(&program, &writes, &file, Kill::WhenStopped).map_err(setup)?;
    let found = if file.exists() { std::fs::read(&file).map_err(setup)? } else { Vec::new() };
    let mut played = play_against(plan, left.loaded.map(Ok));
    if found != kept.bytes {
        let (found, kept) = (found.len(), kept.bytes.len());
        played
            .rig_faults
            .push(format!("a killed writer left {found} bytes and memory holds {kept}, or others"));
    }
    // An empty file is right where nothing is flushed yet, so the file alone does not show that anything was written at all.
    if (left.appended, left.durable) != (kept.appended, kept.durable) {
        played.rig_faults.push(format!(
            "a killed writer said that {} events were appended and {} durable, and in memory {} and {} are",
            left.appended, left.durable, kept.appended, kept.durable
        ));
    }
    Ok(played)
}

fn setup(error: impl std::fmt::Display) -> CellFault {
    CellFault::Setup(error.to_string())
}
