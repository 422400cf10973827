//! From a session-feed scenario to its cells.

use super::cell::FeedCell;
use super::figures::Known as Letters;
use super::scenario::FeedScenario;
use crate::agent_server::profile::ProfileError;
use crate::record::{Expected, Verdict};
use crate::scenario::diagnostic::ScenarioError;
use crate::scenario::expand::{Selection, first, only, wanted};
use crate::scenario::pattern::Glob;
use crate::scenario::rule::Place;
use crate::scenario::section::hint;
use crate::session_feed::Consumer;
use crate::session_feed::Variants;
use crate::session_feed::store::FlushPolicy;

/// The cells of a scenario in plan order: variant by variant, then consumer, workload, fault and flush policy. `servers` of
/// the selection are variants, and `clients` consumers.
pub fn expand_feed(
    scenario: &FeedScenario,
    variants: &Variants,
    selection: &Selection,
) -> Result<Vec<FeedCell>, ScenarioError> {
    let only = selection.only.as_deref().map(only).transpose()?;
    let or = |selected: &[String], own: &[String]| {
        if selected.is_empty() { own.to_vec() } else { selected.to_vec() }
    };
    let variants = chosen("variant", &or(&selection.servers, &scenario.variants), &variants.names())?;
    let consumers = chosen("consumer", &or(&selection.clients, &scenario.consumers), &consumer_names())?;
    let consumers =
        Consumer::ALL.into_iter().filter_map(|c| Some((consumers.iter().position(|n| n == c.as_str())?, c)));
    let mut consumers: Vec<(usize, Consumer)> = consumers.collect();
    consumers.sort_by_key(|(place, _)| *place);
    let mut cells = Vec::new();
    for variant in &variants {
        for (_, consumer) in &consumers {
            cells.extend(pair(scenario, variant, *consumer));
        }
    }
    cells.retain(|cell| only.as_ref().is_none_or(|glob| glob.picks(&cell.id)));
    Ok(cells)
}

/// The names of all consumers.
pub(super) fn consumer_names() -> Vec<&'static str> {
    Consumer::ALL.map(Consumer::as_str).to_vec()
}

/// What an axis lists, each once and in its order. A glob stands for the names that it matches; any other name has to exist.
fn chosen(what: &'static str, listed: &[String], all: &[&str]) -> Result<Vec<String>, ScenarioError> {
    let mut chosen: Vec<String> = Vec::new();
    for name in listed {
        let matching: Vec<&str> = match Glob::new(name) {
            Ok(glob) => all.iter().copied().filter(|known| glob.matches(known)).collect(),
            Err(_) => Vec::new(),
        };
        if matching.is_empty() && Glob::new(name).map_or(true, |glob| glob.is_literal()) {
            let hint = format!("; {}", hint(name, all));
            return Err(ProfileError::NoParty { what, name: name.clone(), hint }.into());
        }
        for name in matching {
            if chosen.iter().all(|c| c != name) {
                chosen.push(name.to_owned());
            }
        }
    }
    Ok(chosen)
}

/// The cells of one variant and one consumer.
fn pair(scenario: &FeedScenario, variant: &str, consumer: Consumer) -> Vec<FeedCell> {
    let (servers, clients) = ([variant.to_owned()], [consumer.as_str().to_owned()]);
    let policies: Vec<Option<FlushPolicy>> = match &scenario.policies[..] {
        [] => vec![None],
        all => all.iter().copied().map(Some).collect(),
    };
    let mut cells = Vec::new();
    for workload in &scenario.workloads {
        for fault in &scenario.faults {
            let written = fault.to_string();
            for policy in &policies {
                let policy_name = policy.map(|policy| policy.to_string()).unwrap_or_default();
                let place = Place {
                    server: &servers,
                    client: &clients,
                    workload: &workload.name,
                    mutation: &written,
                    fault: "",
                    policy: &policy_name,
                };
                if !wanted(&scenario.include, &scenario.exclude, place) {
                    continue;
                }
                let (log_listeners, live_listeners) = (scenario.log_listeners, scenario.live_listeners);
                let letters = Letters { workload, fault: *fault, log_listeners, live_listeners };
                let expected = first(&scenario.expect, place).map(|(expected, figures)| Expected {
                    figures: figures.iter().map(|figured| figured.limit_or_none(letters)).collect(),
                    ..expected
                });
                let cell = FeedCell {
                    id: String::new(),
                    scenario: scenario.name.clone(),
                    variant: variant.to_owned(),
                    consumer,
                    workload: workload.clone(),
                    fault: *fault,
                    policy: *policy,
                    packed: scenario.packed,
                    traits: scenario.traits.clone(),
                    log_listeners,
                    live_listeners,
                    expected: expected.unwrap_or_else(|| Expected::of(Verdict::Delivered)),
                    known: first(&scenario.known, place),
                    hash: String::new(),
                };
                cells.push(cell.identified());
            }
        }
    }
    cells
}
