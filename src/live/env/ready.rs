//! The note that a set-up leaves as its last act.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::EnvError;
use crate::unit::Release;

/// Raised when an environment of an older skewlab can no longer be used as it is.
const SCHEMA: u32 = 1;

const FILE: &str = "READY.json";

/// What is in an environment. Its presence says that the set-up came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Version of this note, as the skewlab that wrote it knew it.
    pub schema: u32,
    /// The release that it is.
    pub release: Release,
    /// Version of the interpreter (`3.12.1`), or of node.
    pub runtime: String,
    /// Every installed package and its version, overlay first.
    pub packages: BTreeMap<String, String>,
    /// Where the files came from: of the four Python packages the SHA-256 of the list of their files, of an npm package
    /// npm's own hash.
    pub hashes: BTreeMap<String, String>,
    /// What was asked for beside the packages themselves: `fastapi<0.130`.
    pub pins: Vec<String>,
    /// The environment that it is laid over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What a reader has to know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Fingerprint of the wheel or checkout that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When, in UTC: `2026-11-30T18:20:00Z`.
    pub set_up: String,
}

/// The environment below a release that is laid over another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its name.
    pub name: String,
    /// Its [`Ready::hash`] when the release was laid over it.
    pub hash: String,
}

impl Ready {
    pub(super) fn new(release: Release, runtime: String, source: Option<String>) -> Ready {
        Ready {
            schema: SCHEMA,
            release,
            runtime,
            packages: BTreeMap::new(),
            hashes: BTreeMap::new(),
            pins: Vec::new(),
            base: None,
            note: None,
            source,
            set_up: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
        }
    }

    /// Reads the note of the environment in `dir`: `Ok(None)` where nothing is, and in words what is wrong with one that
    /// may not be used.
    pub fn read(dir: &Path) -> Result<Option<Ready>, String> {
        let text = match std::fs::read_to_string(dir.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && dir.exists() => {
                return Err("its set-up did not come to its end".to_owned());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{FILE}: {error}")),
        };
        let ready: Ready = serde_json::from_str(&text).map_err(|error| format!("{FILE}: {error}"))?;
        if ready.schema != SCHEMA {
            return Err(format!("{FILE} has schema {}, this skewlab writes {SCHEMA}", ready.schema));
        }
        Ok(Some(ready))
    }

    /// Writes it whole or not at all.
    pub(super) fn write(&self, dir: &Path) -> Result<(), EnvError> {
        let path = dir.join(FILE);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|e| EnvError::Io { path: path.clone(), error: e.into() })?;
        replace(&path, &text)
    }

    /// SHA-256 over what decides how it behaves, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&self.release.to_string(), &self.runtime] {
            hash.update(part);
            hash.update([0]);
        }
        for (name, value) in self.packages.iter().chain(&self.hashes) {
            hash.update(format!("{name}={value}\0"));
        }
        hex(&hash.finalize())
    }
}

/// Writes a file beside `path` and renames it into place, so that no reader ever sees half of it.
pub(super) fn replace(path: &Path, text: &[u8]) -> Result<(), EnvError> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = || {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(text)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    written().map_err(EnvError::io(path))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
