//! Short questions to programs: an answer within a time limit, or the reason why there is none.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// What a program wrote.
pub(super) struct Answer {
    /// To standard output.
    pub(super) out: String,
    /// To standard error.
    pub(super) err: String,
    /// Whether it ended well.
    pub(super) well: bool,
}

/// Runs a program to its end, which is at most `limit` away; it dies with whoever asked.
pub(super) async fn ask<S: AsRef<OsStr>>(
    program: &Path,
    args: &[S],
    env: &[(&str, String)],
    limit: Duration,
) -> Result<Answer, String> {
    let mut command = Command::new(program);
    command.args(args).envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let name = program.display();
    match timeout(limit, command.output()).await {
        Ok(Ok(output)) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(Answer { out: text(&output.stdout), err: text(&output.stderr), well: output.status.success() })
        }
        Ok(Err(error)) => Err(format!("{name}: {error}")),
        Err(_) => Err(format!("{name} did not answer within {} s", limit.as_secs())),
    }
}
