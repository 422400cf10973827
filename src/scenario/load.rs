//! A scenario, and where it comes from.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::budget::Allowance;
use super::diagnostic::ScenarioError;
use super::fault::FaultSet;
use super::idle_policy::IdlePolicy;
use super::names::Names;
use super::parse;
use super::rule::Axes;
use super::section::hint;
use super::shipped::{FIELD, FIELD_GROUP, SHIPPED};
use super::workload::Workload;
use crate::agent_server::server::SinkModel;
use crate::record::{Consumer, Expected, Known};
use crate::wire::Mutation;

/// One question, and the cells that answer it. Every name in it was looked up when it was read.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's name without `.toml`.
    pub name: String,
    /// The question.
    pub question: String,
    /// Where what it asks about was seen, a URL.
    pub seen: Option<String>,
    /// Where it was read from.
    pub path: String,
    /// Servers: names, releases and globs.
    pub servers: Vec<String>,
    /// Clients: names, releases and globs, `python@same`, each with a callback list or without.
    pub clients: Vec<String>,
    /// The workloads in use, in the order of the `workloads` key.
    pub workloads: Vec<Arc<Workload>>,
    /// Frame mutations.
    pub mutations: Vec<Mutation>,
    /// What goes wrong, one after the other.
    pub faults: Vec<FaultSet>,
    /// Consumers that must never see a delta.
    pub must_not_receive: BTreeSet<Consumer>,
    /// Traits that are laid over those of every server.
    pub traits: Arc<toml::Table>,
    /// How the webhook sink behaves.
    pub sink: SinkModel,
    /// The runtime that ends a server which looks idle, if there is one.
    pub idle_policy: Option<IdlePolicy>,
    /// Copies of the client that attend each cell, at least one.
    pub subscribers: u32,
    /// What cells may cost; the first match that limits a metric counts for it.
    pub budget: Vec<(Axes, Allowance)>,
    /// A cell has to match one of these, if there are any.
    pub include: Vec<Axes>,
    /// A cell must match none of these.
    pub exclude: Vec<Axes>,
    /// What is expected; the first match counts, and `delivered` where none does.
    pub expect: Vec<(Axes, Expected)>,
    /// What is known to fail; the first match counts.
    pub known: Vec<(Axes, Known)>,
}

impl Scenario {
    /// Reads the scenario called `what`, or the file, if `what` contains a `/` or ends in `.toml`.
    ///
    /// An invalid file is reported with all of its faults.
    pub fn load(what: &str, names: &impl Names) -> Result<Scenario, ScenarioError> {
        let (path, text) = text_of(what)?;
        Scenario::parse(&path, &text, names)
    }

    /// Reads the text of a file; `path` names it in diagnostics and gives the scenario its name.
    pub fn parse(path: &str, text: &str, names: &impl Names) -> Result<Scenario, ScenarioError> {
        parse::parse(path, text, names).map_err(|faults| ScenarioError::Invalid {
            path: path.to_owned(),
            text: text.to_owned(),
            faults,
        })
    }
}

/// The scenarios that a name stands for: `field` for all that were seen in the field, any other name for itself.
pub fn members(name: &str) -> Vec<String> {
    if name == FIELD_GROUP {
        FIELD.iter().map(|(path, _)| stem(path).to_owned()).collect()
    } else {
        vec![name.to_owned()]
    }
}

/// Path and text of the scenario called `what`, or of the file.
pub(super) fn text_of(what: &str) -> Result<(String, Cow<'static, str>), ScenarioError> {
    if what.contains('/') || Path::new(what).extension().is_some_and(|e| e == "toml") {
        let text = std::fs::read_to_string(what)
            .map_err(|e| ScenarioError::Read { path: what.to_owned(), message: e.to_string() })?;
        return Ok((what.to_owned(), text.into()));
    }
    if let Some((path, text)) = SHIPPED.iter().chain(FIELD).find(|(path, _)| stem(path) == what) {
        return Ok(((*path).to_owned(), (*text).into()));
    }
    let mut all: Vec<&str> = SHIPPED.iter().map(|(path, _)| stem(path)).collect();
    all.push(FIELD_GROUP);
    Err(ScenarioError::Unknown { name: what.to_owned(), hint: format!("; {}", hint(what, &all)) })
}

/// File name without folders and `.toml`.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".toml").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::super::names::double::Double;
    use super::*;

    #[test]
    fn names_are_embedded_and_paths_are_read() {
        let names = Double::new();
        let shipped = Scenario::load("release-skew", &names).unwrap();
        assert_eq!(shipped.path, "scenarios/release-skew.toml");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/release-skew.toml");
        assert_eq!(Scenario::load(path, &names).unwrap().name, shipped.name);
    }

    #[test]
    fn a_name_that_does_not_exist_gets_the_nearest() {
        let error = Scenario::load("release-skwe", &Double::new()).unwrap_err().to_string();
        assert!(error.contains("did you mean `release-skew`?"), "{error}");
        let error = Scenario::load("./nowhere.toml", &Double::new()).unwrap_err().to_string();
        assert!(error.starts_with("./nowhere.toml: "), "{error}");
    }
}
