//! The warden: a process between skewlab and a child, which ends the child's group when skewlab is gone.

use std::ffi::OsString;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgrp, getppid, kill_process_group, pidfd_open, set_child_subreaper,
};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// The word on the command line that makes this program a warden: `skewlab warden PARENT -- PROGRAM ARGS`. It is in no
/// help text: nobody but skewlab starts one.
pub const WARDEN: &str = "warden";

/// Runs the program and waits for its end or for the end of the process `parent`, whichever comes first.
///
/// Returns the child's exit code. Ends in `SIGKILL` to its own group once the parent is gone.
pub fn keep_watch(parent: u32, program: &OsString, args: &[OsString]) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    match runtime.block_on(watch(parent, program, args)) {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

fn failed(error: &std::io::Error) -> ExitCode {
    eprintln!("warden: {error}");
    ExitCode::from(127)
}

async fn watch(parent: u32, program: &OsString, args: &[OsString]) -> std::io::Result<ExitCode> {
    let parent = i32::try_from(parent).ok().and_then(Pid::from_raw);
    let parent = parent.ok_or_else(|| std::io::Error::other("no such parent"))?;
    let alive = pidfd_open(parent, PidfdFlags::empty())?;
    // It may have ended before it could be watched, and its number may be somebody else's by now.
    if getppid() != Some(parent) {
        return Ok(ExitCode::from(127));
    }
    std::thread::spawn(move || {
        // Interrupted or not: whenever this returns with the descriptor ready, the parent is gone.
        while !matches!(poll(&mut [PollFd::new(&alive, PollFlags::IN)], None), Ok(n) if n > 0) {}
        let _ = kill_process_group(getpgrp(), Signal::KILL);
    });
    // A grandchild whose parent ends becomes the warden's, not init's, so that its group's end is seen here.
    let _ = set_child_subreaper(Some(getpgrp()));
    // The group is asked to end by skewlab, and the warden is in the group: it waits for the child to obey.
    let mut asked = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut child = Command::new(program).args(args).spawn()?;
    loop {
        tokio::select! {
            biased;
            status = child.wait() => {
                let code = status?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                return Ok(ExitCode::from(code));
            }
            _ = asked.recv() => {}
            _ = interrupted.recv() => {}
        }
    }
}
