//! Tables of a session-feed scenario that pick no cell, whatever variants and consumers are asked for.

use super::FeedScenario;
use crate::scenario::reach::Reach;
use crate::scenario::rule::Place;
use crate::scenario::section::{Faults, Section};
use crate::session_feed::{Consumer, Variants};

/// Reports the tables that count nowhere.
pub(super) fn check(
    scenario: &FeedScenario,
    variants: &Variants,
    file: &mut Section<'_>,
    faults: &mut Faults,
) {
    let mut reach = Reach::of(&scenario.include, &scenario.exclude, file);
    reach = reach.first("expect", scenario.expect.iter().map(|(axes, _)| axes), file);
    reach = reach.first("known", scenario.known.iter().map(|(axes, _)| axes), file);
    let found: Vec<String> = scenario.faults.iter().map(ToString::to_string).collect();
    let mut policies: Vec<String> = scenario.policies.iter().map(ToString::to_string).collect();
    if policies.is_empty() {
        policies.push(String::new());
    }
    for variant in variants.names() {
        for consumer in Consumer::ALL {
            if reach.all_met() {
                return;
            }
            let (server, client) = ([variant.to_owned()], [consumer.as_str().to_owned()]);
            for workload in &scenario.workloads {
                for (fault, policy) in found.iter().flat_map(|f| policies.iter().map(move |p| (f, p))) {
                    reach.sees(Place {
                        server: &server,
                        client: &client,
                        workload: &workload.name,
                        mutation: fault,
                        fault: "",
                        policy,
                    });
                }
            }
        }
    }
    reach.report(faults);
}
