//! A certificate: that an emulation and a released package were asked the same, and what each answered.

mod issued;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use issued::{ISSUED, holds_certificate};

/// Schema name and version of a certificate.
pub const CERTIFICATE_SCHEMA: &str = "skewlab.certificate/1";

/// The agreement of one profile with one released package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`CERTIFICATE_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that issued it.
    pub skewlab: String,
    /// The profile: `1.58.2`, `python-1.55.1`.
    pub profile: String,
    /// The package: `openhands-agent-server`, `openhands-sdk`, `@openhands/typescript-client`, `@openhands/agent-canvas`.
    pub package: String,
    /// Its version.
    pub version: String,
    /// SHA-256 over the interpreter's version and the installed files, as the environment's set-up noted it.
    pub package_hash: String,
    /// What it ran on, where that was not its own set of dependencies: a release that no longer resolves is laid over a
    /// newer one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laid_over: Option<String>,
    /// SHA-256 over all cases that were asked, in order.
    pub cases_hash: String,
    /// SHA-256 over the emulation's answers to them. A test computes it again: an emulation that answers otherwise than it
    /// did holds no certificate any more.
    pub answers_hash: String,
    /// What was asked, by kind: `corpus`, `mutation`, `socket`, `turn`, `handshake`.
    pub asked: std::collections::BTreeMap<String, u64>,
    /// Where the two did not say the same.
    pub disagreements: Vec<Disagreement>,
}

/// One case on which emulation and package differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// The case.
    pub case: String,
    /// What differs: `outcome`, `type`, `signal`, `order`, …
    pub what: String,
    /// The emulation's answer.
    pub emulated: String,
    /// The package's.
    pub real: String,
    /// Why it is left as it is; without a reason the certificate proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Certificate {
    /// Whether it proves anything: something was asked, and whatever differs has its reason.
    pub fn proves(&self) -> bool {
        self.asked.values().any(|n| *n > 0) && self.disagreements.iter().all(|d| d.because.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate() -> Certificate {
        let text = |t: &str| t.to_owned();
        Certificate {
            schema: text(CERTIFICATE_SCHEMA),
            skewlab: text("0.1.0"),
            profile: text("python-1.58.2"),
            package: text("openhands-sdk"),
            version: text("1.58.2"),
            package_hash: text("aa"),
            laid_over: None,
            cases_hash: text("bb"),
            answers_hash: text("cc"),
            asked: [(text("corpus"), 50)].into(),
            disagreements: Vec::new(),
        }
    }

    #[test]
    fn nothing_asked_and_nothing_explained_prove_nothing() {
        assert!(certificate().proves());
        assert!(!Certificate { asked: [("corpus".to_owned(), 0)].into(), ..certificate() }.proves());
        let text = |t: &str| t.to_owned();
        let differs = |because: Option<&str>| Disagreement {
            case: text("c"),
            what: text("outcome"),
            emulated: text("accepted"),
            real: text("rejected"),
            because: because.map(text),
        };
        assert!(!Certificate { disagreements: vec![differs(None)], ..certificate() }.proves());
        assert!(Certificate { disagreements: vec![differs(Some("why"))], ..certificate() }.proves());
    }
}
