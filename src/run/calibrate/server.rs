//! The same for a server: what is asked of its emulation and of the released package.

use std::path::Path;

use super::client::Identity;
use super::error::CalibrateError;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::record::Certificate;
use crate::run::live::PythonPackage;

/// Asks the emulation of a server and the released one the same.
///
/// Errors when the package could not be asked. That is so of every server as yet: no cases are written down for one.
pub fn calibrate_server(
    profile: &Profile<ServerTraits>,
    _package: &PythonPackage,
    _identity: &Identity,
    _folder: &Path,
) -> Result<Certificate, CalibrateError> {
    Err(CalibrateError::Unasked {
        profile: profile.release_name.clone(),
        problem: "there are no cases for a server yet; only clients can be calibrated".to_owned(),
    })
}
