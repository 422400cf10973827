//! What to do next when a command failed: one sentence, where the error itself does not say it.

use super::error::CliError;
use crate::agent_server::profile::ProfileError;
use crate::scenario::ScenarioError;
use crate::session_feed::profile::VariantError;
use crate::suite::PlanError;

impl CliError {
    /// The next step, ready to print; nothing where the message has it already.
    pub(super) fn next(&self) -> Option<String> {
        match self {
            CliError::Plan(PlanError::Scenario(error)) | CliError::Scenario(error) => scenario(error),
            CliError::Plan(PlanError::Profile(error)) | CliError::Profile(error) => Some(profile(error)),
            CliError::Plan(PlanError::Variant(error)) | CliError::Variant(error) => Some(variant(error)),
            CliError::Plan(PlanError::Twice(_)) => {
                Some("rename one of the files, or run one after the other".into())
            }
            CliError::Read { path, .. } => {
                Some(format!("see whether {} is there and may be read", path.display()))
            }
            CliError::Store(error) => Some(format!(
                "name a folder that you may write into, or make room on the disk of {}",
                error.path.display()
            )),
            CliError::Mutation(_) => Some(
                "`none` leaves the frames as they are; several steps stand with blanks between them".into(),
            ),
            _ => None,
        }
    }
}

fn scenario(error: &ScenarioError) -> Option<String> {
    let text = match error {
        ScenarioError::Unknown { .. } => "`skewlab list scenarios` has those that come with skewlab",
        ScenarioError::Read { .. } => {
            "`skewlab list scenarios` has those that come with skewlab, and `skewlab init` writes one to start from"
        }
        ScenarioError::Invalid { faults, .. } => {
            // What has its own help needs no other.
            if faults.iter().all(|fault| fault.problem.help().is_some()) {
                return None;
            }
            "`skewlab generate schema scenario` (of the session feed: `feed-scenario`) has every key and word; an editor \
             completes them with a first line `#:schema FILE`"
        }
        ScenarioError::Party(error) => return Some(profile(error)),
        ScenarioError::Same { .. } => "name a client instead of `python@same`: `skewlab list clients`",
        ScenarioError::Only { .. } => {
            "`skewlab plan` prints the ids; quote a character of a glob as in `[*]`"
        }
    };
    Some(text.to_owned())
}

fn profile(error: &ProfileError) -> String {
    match error {
        ProfileError::Unknown { what, .. } => {
            format!("`skewlab list {what}s` has all of them; `--profiles DIR` adds your own")
        }
        ProfileError::NoParty { what, .. } => format!("`skewlab list {what}s` has all of them"),
        ProfileError::Invalid { .. } | ProfileError::Faulty { .. } | ProfileError::Laid { .. } => {
            "`skewlab generate schema server-profile` (or `client-profile`) has every trait and its values"
                .to_owned()
        }
        ProfileError::Extends { .. } => {
            "`skewlab list servers` and `skewlab list clients` have what can be extended".to_owned()
        }
        ProfileError::Taken { name, .. } => {
            format!("give it a name of its own, and keep `extends = \"{name}\"` for the rest")
        }
        ProfileError::List { client, .. } => {
            format!("`skewlab explain {client}` says what each list is called for")
        }
        ProfileError::Read { .. } => {
            "--profiles takes a folder with servers/*.toml and clients/*.toml that you may read".to_owned()
        }
    }
}

fn variant(error: &VariantError) -> String {
    match error {
        VariantError::Unknown { .. } => "`skewlab explain NAME` says what a variant is".to_owned(),
        VariantError::Faulty { .. } => {
            "`skewlab generate schema feed-variant` has every trait and its values".to_owned()
        }
    }
}
