//! Running the script in a package's environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::{ExtractError, Package};
use crate::probe::Scratch;

/// The script: its files in the order in which they build on each other.
const SCRIPT: [&str; 7] = [
    include_str!("read/head.py"),
    include_str!("read/words.py"),
    include_str!("read/models.py"),
    include_str!("read/client.py"),
    include_str!("read/server.py"),
    include_str!("read/webhook.py"),
    include_str!("read/end.py"),
];

/// How long it may take. Seven seconds are usual; the imports of a package that was never compiled take a minute on a
/// busy machine.
const LIMIT: Duration = Duration::from_mins(3);

/// Lines of a failed script that are shown.
const SHOWN: usize = 12;

/// What a child of the script may see of this process' environment: how to find programs and shared libraries.
const INHERITED: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "SystemRoot"];

/// Reads the packages that `python` has, with `overlay` before its own.
///
/// Nothing is downloaded, and nothing is written but below a temporary folder.
/// Errors when the interpreter does not start, does not end in time, or prints no document.
pub async fn read(python: &Path, overlay: &[PathBuf]) -> Result<Package, ExtractError> {
    let home = Scratch::new("extract")?;
    // Made whole, because the interpreter runs elsewhere; not resolved, because an environment's interpreter is a link.
    let python = &std::path::absolute(python)
        .map_err(|error| ExtractError::Start { program: python.to_owned(), error })?;
    let mut env: Vec<(&str, OsString)> = vec![
        ("HOME", home.path().into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("OPENHANDS_SUPPRESS_BANNER", "1".into()),
        // Without it an import asks the network for prices.
        ("LITELLM_LOCAL_MODEL_COST_MAP", "True".into()),
        ("OTEL_SDK_DISABLED", "true".into()),
    ];
    if !overlay.is_empty() {
        let joined = std::env::join_paths(overlay).map_err(|e| ExtractError::Tree {
            path: overlay[0].clone(),
            problem: format!("cannot be a path of Python: {e}"),
        })?;
        env.push(("PYTHONPATH", joined));
    }
    let done = output(python, &["-".as_ref()], &env, Some((home.path(), &SCRIPT.join("\n")))).await?;
    let text = String::from_utf8_lossy(&done.stdout);
    if !done.status.success() || text.trim().is_empty() {
        let said = String::from_utf8_lossy(&done.stderr);
        let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n  ");
        return Err(ExtractError::Ended {
            program: python.to_owned(),
            how: format!("with {}", done.status),
            said: if last.is_empty() { ", and said nothing".to_owned() } else { format!(":\n  {last}") },
        });
    }
    Package::parse(&format!("what {} printed", python.display()), &text)
}

/// Reads the packages in a runtime made for it.
///
/// Errors as [`read`] does, and when there can be no runtime.
pub fn read_blocking(python: &Path, overlay: &[PathBuf]) -> Result<Package, ExtractError> {
    let start = |error| ExtractError::Start { program: python.to_owned(), error };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(start)?;
    runtime.block_on(read(python, overlay))
}

/// Runs a short program to its end, or kills it. With `fed`, it runs in that folder and reads that text.
pub(super) async fn output(
    program: &Path,
    args: &[&OsStr],
    env: &[(&str, OsString)],
    fed: Option<(&Path, &str)>,
) -> Result<Output, ExtractError> {
    let start = |error| ExtractError::Start { program: program.to_owned(), error };
    let mut command = Command::new(program);
    command.args(args).env_clear().kill_on_drop(true);
    command.envs(INHERITED.iter().filter_map(|n| Some((n, std::env::var_os(n)?))));
    command.envs(env.iter().map(|(k, v)| (k, v)));
    command.stdin(if fed.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some((dir, _)) = fed {
        command.current_dir(dir);
    }
    let mut child = command.spawn().map_err(start)?;
    let input = child.stdin.take();
    let writing = async {
        if let (Some(mut input), Some((_, text))) = (input, fed) {
            // A program that ends before it has read all says why on its own.
            let _ = input.write_all(text.as_bytes()).await;
        }
    };
    let both = async { tokio::join!(writing, child.wait_with_output()).1 };
    match timeout(LIMIT, both).await {
        Ok(done) => done.map_err(start),
        Err(_) => Err(ExtractError::Slow { program: program.to_owned(), seconds: LIMIT.as_secs() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(dir: &Path, body: &str) -> PathBuf {
        let path = dir.join("python");
        // Written by another process: what this one has open for writing, a neighbour's child would hold open as well,
        // and a file that is open for writing cannot be run.
        let text = format!("#!/bin/sh\n{body}\n");
        let write = r#"printf %s "$2" > "$1" && chmod 755 "$1""#;
        let written =
            std::process::Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(text).status();
        assert!(written.unwrap().success());
        path
    }

    #[tokio::test]
    async fn the_script_is_fed_and_its_document_read() {
        let dir = tempfile::tempdir().unwrap();
        let document = r#"{"schema":"skewlab.package/1","python":"3.12.1","facts":{},"faults":[],
            "packages":{"openhands-sdk":{"version":"1.59.0"}}}"#;
        // Says its document only when it was given the whole script, a home of its own and the overlay.
        let body = format!(
            "test \"$1\" = - && tail -n 1 | grep -q os._exit && test \"$PWD\" = \"$HOME\" && \
             test \"$PYTHONPATH\" = /a:/b && cat <<'EOF'\n{document}\nEOF"
        );
        let python = program(dir.path(), &body);
        let package = read(&python, &["/a".into(), "/b".into()]).await.unwrap();
        assert_eq!(package.version(), "1.59.0");
        assert!(matches!(read(&python, &[]).await, Err(ExtractError::Ended { .. })));
    }

    #[tokio::test]
    async fn what_went_wrong_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let python = program(dir.path(), "cat >/dev/null; echo 'ModuleNotFoundError: x' >&2; exit 3");
        let error = read(&python, &[]).await.unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("ModuleNotFoundError: x"), "{error}");
        let python = program(dir.path(), "cat >/dev/null; echo hello");
        let error = read(&python, &[]).await.unwrap_err().to_string();
        assert!(error.contains("printed: no JSON"), "{error}");
        let error = read(&dir.path().join("gone"), &[]).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot run ") && error.contains("gone"), "{error}");
    }
}
