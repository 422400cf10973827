//! One frame after the other, without a socket.

use std::time::Duration;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::answer::{Answer, emulated};
use super::cases::{Case, hex};
use super::error::CalibrateError;
use super::real::real;
use crate::agent_server::profile::ProfileError;
use crate::agent_server::profile::client::ClientChoice;
use crate::live::driver::Driver;
use crate::live::report::Report;

/// How long a package may take for one frame. It takes less than a millisecond.
const WITHIN: Duration = Duration::from_secs(20);

/// The emulation's answers, in the order of the cases.
pub fn answers(choice: &ClientChoice, cases: &[Case]) -> Result<Vec<Answer>, ProfileError> {
    cases.iter().map(|case| emulated(choice, &case.raw)).collect()
}

/// SHA-256 over answers, in hexadecimal.
pub fn answers_hash(answers: &[Answer]) -> String {
    let mut hash = Sha256::new();
    for Answer { outcome, class, text, signal } in answers {
        let signal = signal.map_or("", |signal| signal.as_str());
        for part in [outcome, class.as_deref().unwrap_or("\u{1}"), text, signal] {
            hash.update(part);
            hash.update([0xff]);
        }
    }
    hex(&hash.finalize())
}

/// The package's answers, in the order of the cases.
pub(super) async fn ask(
    profile: &str,
    driver: &mut Driver,
    cases: &[Case],
) -> Result<Vec<Answer>, CalibrateError> {
    let mut answers = Vec::with_capacity(cases.len());
    for case in cases {
        let failed = |error| CalibrateError::Driver { profile: profile.to_owned(), error };
        let command = json!({"do": "check", "cell": null, "name": case.name, "raw": case.raw});
        driver.tell(&command).await.map_err(failed)?;
        let mut said = Vec::new();
        let mine = |r: &Report| matches!(r, Report::Checked { name, .. } if *name == case.name);
        driver.until("answer to a frame", WITHIN, &mut said, mine).await.map_err(failed)?;
        let answer = said.last().and_then(|said| real(&said.what));
        let problem = || format!("no answer to `{}`", case.name);
        answers.push(
            answer
                .ok_or_else(|| CalibrateError::Unasked { profile: profile.to_owned(), problem: problem() })?,
        );
    }
    Ok(answers)
}
