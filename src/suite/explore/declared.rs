//! What the scenarios that come with skewlab say of bad ends: a search need not find that again.

use std::collections::BTreeSet;

use super::group::Key;
use crate::agent_server::profile::Catalogue;
use crate::record::{Hop, Verdict};
use crate::scenario::{Cell, FIELD, Loaded, SHIPPED, ScenarioError, Selection, expand};
use crate::session_feed::Variants;

/// Ends that are expected of a client somewhere; a hop or reason that is not said may be any.
#[derive(Debug, Default)]
pub(super) struct Declared(BTreeSet<(String, Verdict, Option<Hop>, Option<String>)>);

impl Declared {
    /// By every shipped scenario of the agent server.
    pub(super) fn shipped(catalogue: &Catalogue, variants: &Variants) -> Result<Declared, ScenarioError> {
        let mut declared = Declared::default();
        for (path, text) in SHIPPED.iter().chain(FIELD) {
            let Loaded::AgentServer(scenario) = Loaded::parse(path, text, catalogue, variants)? else {
                continue;
            };
            for cell in expand(&scenario, catalogue, &Selection::default())? {
                declared.add(&cell);
            }
        }
        Ok(declared)
    }

    fn add(&mut self, cell: &Cell) {
        let expected = &cell.expected;
        if expected.verdict.is_healthy() {
            return;
        }
        let list = cell.client.split_once('/').map(|(_, list)| format!("/{list}")).unwrap_or_default();
        let client = format!("{}{list}", cell.client_profile);
        self.0.insert((client, expected.verdict, expected.lost_at, expected.reason.clone()));
    }

    /// Whether a scenario expects such an end of this client.
    pub(super) fn holds(&self, key: &Key) -> bool {
        let reason = key.reason.as_ref().map(|reason| reason.as_str().to_owned());
        // As in a scenario's patterns, a client without a callback list means the one with it, too.
        let plain = key.client.split('/').next().unwrap_or_default();
        [key.client.as_str(), plain].into_iter().any(|client| {
            let any = |hop: Option<Hop>, reason: Option<String>| {
                self.0.contains(&(client.to_owned(), key.verdict, hop, reason))
            };
            any(key.lost_at, reason.clone())
                || any(None, reason.clone())
                || any(key.lost_at, None)
                || any(None, None)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Reason;

    #[test]
    fn what_a_shipped_scenario_expects_is_declared_and_nothing_else() {
        let catalogue = Catalogue::embedded().unwrap();
        let declared = Declared::shipped(&catalogue, &Variants::embedded().unwrap()).unwrap();
        let key = |client: &str, verdict, lost_at, reason| Key {
            verdict,
            lost_at: Some(lost_at),
            reason: Some(Reason::new(reason)),
            client: client.to_owned(),
        };
        // release-skew says hop and reason of the one, and neither of the other.
        assert!(declared.holds(&key("python-1.43.1+AB", Verdict::SilentLoss, Hop::Decoded, "unknown_kind")));
        assert!(declared.holds(&key("python-1.30.0", Verdict::DurableLoss, Hop::Decoded, "anything")));
        assert!(declared.holds(&key(
            "python-1.30.0/callbacks",
            Verdict::DurableLoss,
            Hop::Decoded,
            "anything"
        )));
        assert!(!declared.holds(&key("python-1.43.1+AB", Verdict::SilentLoss, Hop::Sent, "mutant_drop")));
        assert!(!declared.holds(&key("browser-session", Verdict::Leaked, Hop::Decoded, "unknown_kind")));
    }
}
