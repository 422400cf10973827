//! A fingerprint of a run that two runs of one seed share.

use sha2::{Digest as _, Sha256};

use crate::record::{Run, Timing};

/// SHA-256 over everything in the run but its times and the digest itself.
pub(super) fn digest(run: &Run) -> String {
    let timeless = Run { timing: Timing::default(), digest: String::new(), ..run.clone() };
    // Plain records of strings and numbers always serialise; should they not, no digest is better than a false one.
    let Ok(bytes) = serde_json::to_vec(&timeless) else { return String::new() };
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}
