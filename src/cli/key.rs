//! The session API key, from where it was put; never from the command line, which others can read.

use std::path::Path;

use super::error::CliError;

/// The key in a variable or a file; `None` when neither is named.
pub(super) fn key(variable: Option<&str>, file: Option<&Path>) -> Result<Option<String>, CliError> {
    if let Some(name) = variable {
        let key = std::env::var(name).map_err(|_| {
            CliError::Usage(format!("--key-env {name}: there is no such variable, or it is not UTF-8"))
        })?;
        return usable(key, "--key-env").map(Some);
    }
    let Some(path) = file else { return Ok(None) };
    let key = std::fs::read_to_string(path);
    let key = key.map_err(|error| CliError::Read { path: path.to_owned(), error })?;
    usable(key.trim_end_matches(['\r', '\n']).to_owned(), "--key-file").map(Some)
}

fn usable(key: String, option: &str) -> Result<String, CliError> {
    if key.is_empty() { Err(CliError::Usage(format!("{option}: the key is empty"))) } else { Ok(key) }
}
