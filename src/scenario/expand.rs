//! From a scenario to its cells.

use super::axis::{self, Client, Server};
use super::budget::budget;
use super::cell::Cell;
use super::diagnostic::ScenarioError;
use super::fault::FaultSet;
use super::load::Scenario;
use super::names::Names;
use super::pattern::Glob;
use super::rule::{Axes, Place};
use crate::record::{Expected, Verdict};
use crate::wire::Mutation;

/// What a person picked on the command line; empty picks everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names, releases or globs that take the place of the scenario's servers.
    pub servers: Vec<String>,
    /// The same for clients.
    pub clients: Vec<String>,
    /// A pattern over cell ids: one component of an id, or with a `/` the whole id.
    pub only: Option<String>,
}

/// The cells of a scenario in plan order: server by server, then client, workload and mutation.
///
/// Cells that two entries of an axis ask for are there once. A selection that leaves nothing is no error here.
pub fn expand(
    scenario: &Scenario,
    names: &impl Names,
    selection: &Selection,
) -> Result<Vec<Cell>, ScenarioError> {
    let only = selection.only.as_deref().map(only).transpose()?;
    let or = |selected: &Vec<String>, own: &Vec<String>| {
        if selected.is_empty() { own.clone() } else { selected.clone() }
    };
    let servers = axis::servers(&or(&selection.servers, &scenario.servers), names)?;
    let asked = axis::asked(&or(&selection.clients, &scenario.clients), names);
    let mut cells = Vec::new();
    for server in &servers {
        let clients = axis::clients(&asked, server, names).map_err(|(asked, source)| {
            let server = server.name.clone();
            if asked.starts_with(super::names::SAME) {
                ScenarioError::Same { asked, server, source: Box::new(source) }
            } else {
                ScenarioError::Party(source)
            }
        })?;
        for client in &clients {
            cells.extend(pair(scenario, server, client));
        }
    }
    cells.retain(|cell| only.as_ref().is_none_or(|glob| glob.picks(&cell.id)));
    Ok(cells)
}

pub(super) fn only(pattern: &str) -> Result<Glob, ScenarioError> {
    Glob::new(pattern)
        .map_err(|e| ScenarioError::Only { pattern: pattern.to_owned(), message: e.to_string() })
}

/// The cells of one server and one client.
fn pair(scenario: &Scenario, server: &Server, client: &Client) -> Vec<Cell> {
    let servers = [server.name.clone(), server.profile.clone()];
    let mut clients = client.names.clone();
    clients.extend(client.asked.iter().cloned());
    let mut cells = Vec::new();
    for workload in &scenario.workloads {
        for (mutation, fault) in bent(scenario) {
            let written = mutation.to_string();
            let place = Place {
                server: &servers,
                client: &clients,
                workload: &workload.name,
                mutation: &written,
                fault: &fault.name,
                policy: "",
            };
            if !wanted(&scenario.include, &scenario.exclude, place) {
                continue;
            }
            let cell = Cell {
                id: String::new(),
                scenario: scenario.name.clone(),
                server: server.name.clone(),
                server_profile: server.profile.clone(),
                client: client.name.clone(),
                client_asked: client.asked.clone(),
                client_profile: client.profile.clone(),
                workload: workload.clone(),
                mutation: mutation.clone(),
                must_not_receive: scenario.must_not_receive.clone(),
                traits: scenario.traits.clone(),
                fault: fault.name.clone(),
                faults: fault.faults.clone(),
                sink: scenario.sink.clone(),
                idle_policy: scenario.idle_policy,
                subscribers: scenario.subscribers,
                budget: budget(&scenario.budget, place, workload, scenario.subscribers),
                expected: first(&scenario.expect, place).unwrap_or_else(|| Expected::of(Verdict::Delivered)),
                known: first(&scenario.known, place),
                hash: String::new(),
            };
            cells.push(cell.identified());
        }
    }
    cells
}

/// Every mutation under every fault.
fn bent(scenario: &Scenario) -> impl Iterator<Item = (&Mutation, &FaultSet)> {
    scenario.mutations.iter().flat_map(|mutation| scenario.faults.iter().map(move |fault| (mutation, fault)))
}

/// Whether a cell is kept: one include matches, if there are any, and no exclude does.
pub(super) fn wanted(include: &[Axes], exclude: &[Axes], place: Place<'_>) -> bool {
    let any = |rules: &[Axes]| rules.iter().any(|axes| axes.matches(place));
    (include.is_empty() || any(include)) && !any(exclude)
}

pub(super) fn first<T: Clone>(rules: &[(Axes, T)], place: Place<'_>) -> Option<T> {
    rules.iter().find(|(axes, _)| axes.matches(place)).map(|(_, what)| what.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::names::double::Double;
    use super::*;

    const HEAD: &str = "question = \"q\"\nworkloads = [\"w\"]\n";
    const TAIL: &str = "[workload.w]\ntokens = [{ text = \"a\" }]\n";

    fn scenario(axes: &str, rules: &str) -> Scenario {
        Scenario::parse("s.toml", &format!("{HEAD}{axes}\n{TAIL}{rules}"), &Double::new())
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn ids(scenario: &Scenario, selection: &Selection) -> Vec<String> {
        let cells = expand(scenario, &Double::new(), selection).unwrap();
        cells.into_iter().map(|c| c.id).collect()
    }

    fn select(servers: &[&str], clients: &[&str], only: Option<&str>) -> Selection {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Selection { servers: own(servers), clients: own(clients), only: only.map(str::to_owned) }
    }

    fn verdicts(scenario: &Scenario, selection: &Selection) -> Vec<&'static str> {
        let cells = expand(scenario, &Double::new(), selection).unwrap();
        cells.iter().map(|c| c.expected.verdict.as_str()).collect()
    }

    #[test]
    fn ids_are_paths_and_blanks_are_commas() {
        let s = scenario(
            "servers = [\"1.50.3\"]\nclients = [\"python@same\", \"python-1.58.2/token_callbacks\"]\n\
             mutations = [\"none\", \"-id   -source\"]",
            "",
        );
        let expected = [
            "s/1.50.3/python-1.50.3/w/none",
            "s/1.50.3/python-1.50.3/w/-id,-source",
            "s/1.50.3/python-1.58.2/token_callbacks/w/none",
            "s/1.50.3/python-1.58.2/token_callbacks/w/-id,-source",
        ];
        assert_eq!(ids(&s, &Selection::default()), expected);
        let cell = &expand(&s, &Double::new(), &Selection::default()).unwrap()[0];
        assert_eq!((cell.server_profile.as_str(), cell.client_profile.as_str()), ("1.58.2", "python-1.55.1"));
        assert_eq!((cell.client.as_str(), cell.client_asked[0].as_str()), ("python-1.50.3", "python@same"));
    }

    #[test]
    fn a_client_asked_for_twice_runs_once_and_keeps_its_names() {
        let s = scenario(
            "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\", \"python@same\", \"python-1.58*\"]",
            "[[expect]]\nclient = \"python@same\"\nverdict = \"corrupted\"\n",
        );
        let cells = expand(&s, &Double::new(), &Selection::default()).unwrap();
        let names: Vec<&str> = cells.iter().map(|c| c.client.as_str()).collect();
        assert_eq!(names, ["python-1.58.2", "python-1.58.2+AB", "python-1.58.2+ABC"]);
        assert_eq!(cells[0].client_asked, ["python-1.58.2", "python@same"]);
        assert_eq!(verdicts(&s, &Selection::default()), ["corrupted", "delivered", "delivered"]);
        assert_eq!(
            verdicts(&s, &select(&[], &["python-1.58.2"], None)),
            ["corrupted"],
            "selection moves no rule"
        );
    }

    #[test]
    fn the_first_match_wins() {
        let s = scenario(
            "servers = [\"1.58.2\"]\nclients = [\"python-1.55.1\", \"python-1.55.1/token_callbacks\", \"browser-1.20.0\"]",
            "[[expect]]\nclient = \"*/token_callbacks\"\nverdict = \"silent_loss\"\nlost_at = \"delivered\"\n\
             [[expect]]\nclient = [\"typescript-*\", \"python-1.55.1\"]\nverdict = \"corrupted\"\n",
        );
        assert_eq!(verdicts(&s, &Selection::default()), ["corrupted", "silent_loss", "delivered"]);
    }

    #[test]
    fn a_release_is_matched_by_its_profile_too() {
        let rule = "[[expect]]\nserver = \"1.58.2\"\nclient = \"python-1.55.1\"\nverdict = \"corrupted\"\n";
        let s = scenario("servers = [\"1.50.3\", \"1.43.1\"]\nclients = [\"python-1.47.0\"]", rule);
        assert_eq!(verdicts(&s, &Selection::default()), ["corrupted", "delivered"]);
    }

    #[test]
    fn known_failures_reach_their_cells() {
        let known = "[[known]]\nclient = \"python-1.55.1\"\nverdict = \"silent_loss\"\nlost_at = \"decoded\"\n\
                     reason = \"r\"\nlink = \"l\"\nexpires = 2027-03-01\n";
        let s = scenario("servers = [\"1.58.2\"]\nclients = [\"python-1.55.1\", \"browser-session\"]", known);
        let cells = expand(&s, &Double::new(), &Selection::default()).unwrap();
        assert_eq!(cells[0].known.as_ref().unwrap().expires.to_string(), "2027-03-01");
        assert_eq!(cells[1].known, None);
    }

    #[test]
    fn include_keeps_and_exclude_drops() {
        let s = scenario(
            "servers = [\"1.58.2\"]\nclients = [\"browser-*\"]",
            "[[include]]\nclient = \"browser-1.*\"\n[[exclude]]\nclient = \"browser-1.0.0-*\"\n",
        );
        let names: Vec<String> = ids(&s, &Selection::default());
        assert_eq!(names.len(), 4);
        assert!(names.iter().all(|id| !id.contains("session") && !id.contains("alpha")));
    }

    #[test]
    fn a_selection_takes_the_place_of_an_axis() {
        let s = scenario("servers = [\"1.58.2\"]\nclients = [\"browser-session\"]", "");
        assert_eq!(
            ids(&s, &select(&["1.43.?", "1.31.0"], &[], None)),
            ["s/1.43.1/browser-session/w/none", "s/1.31.0/browser-session/w/none"]
        );
        assert_eq!(ids(&s, &select(&[], &["python@same"], None)), ["s/1.58.2/python-1.58.2/w/none"]);
        let with_list = ids(&s, &select(&[], &["*-1.55.1/token_callbacks"], None));
        assert_eq!(with_list, ["s/1.58.2/python-1.55.1/token_callbacks/w/none"]);
        assert!(ids(&s, &select(&["8.*"], &[], None)).is_empty());
        let error = expand(&s, &Double::new(), &select(&["1.58.3"], &[], None)).unwrap_err().to_string();
        assert!(error.contains("`1.58.3`") && error.contains("did you mean `1.58.2`"), "{error}");
    }

    #[test]
    fn only_picks_by_component_or_by_the_whole_id() {
        let s = scenario(
            "servers = [\"1.58.2\", \"1.43.1\"]\nclients = [\"browser-session\", \"browser-1.4.0\"]",
            "",
        );
        let count = |only: &str| ids(&s, &select(&[], &[], Some(only))).len();
        assert_eq!([count("1.43.1"), count("browser-*"), count("none"), count("nothing")], [2, 4, 4, 0]);
        assert_eq!(
            [count("s/1.43.1/**"), count("**/browser-1.4.0/**"), count("s/*/none"), count("1.43.1/*")],
            [2, 2, 4, 0]
        );
        let error = expand(&s, &Double::new(), &select(&[], &[], Some("a**"))).unwrap_err().to_string();
        assert!(error.contains("`a**` is no pattern for cell ids"), "{error}");
    }

    #[test]
    fn the_hash_covers_what_a_cell_does_and_not_what_is_expected_of_it() {
        let hash = |tokens: &str, rules: &str| {
            let text = format!(
                "{HEAD}servers = [\"1.58.2\"]\nclients = [\"python@same\"]\n[workload.w]\n{tokens}\n{rules}"
            );
            let s = Scenario::parse("s.toml", &text, &Double::new()).unwrap();
            expand(&s, &Double::new(), &Selection::default()).unwrap()[0].hash.clone()
        };
        let ab = |rules: &str| hash("tokens = [{ text = \"ab\" }]", rules);
        let plain = ab("");
        let said =
            "[[expect]]\nverdict = \"leaked\"\n[budget]\nlog_lines = 0\n[webhook]\nlatency_s = 0.0\n[traits]";
        assert_eq!((plain.len(), &plain), (16, &ab(said)));
        let others = [
            hash("tokens = [{ text = \"a\" }, { text = \"b\" }]", ""),
            ab("[webhook]\nlatency_s = 1"),
            ab("[webhook]\nrefuse_first = 1"),
            ab("[runtime]"),
            ab("[runtime]\npoll_s = 30"),
            ab("[runtime]\nreap_after_s = 600"),
            ab("[traits.bus]\nmax_subscribers = 0"),
            ab("[traits.bus]\nmax_subscribers = 1"),
            hash("tokens = [{ text = \"ab\", reasoning = \"\" }]", ""),
            hash("tokens = [{ reasoning = \"ab\" }]", ""),
            hash("tokens = [{ text = \"ab\" }]\nrate = 51", ""),
            hash("tokens = [{ text = \"ab\" }]\nuser = \"hello\"", ""),
            hash("tokens = [{ text = \"ab\" }]\nfinish = \"finish-tool\"", ""),
            plain,
        ];
        assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), others.len());
    }

    fn some_of(all: Vec<String>) -> impl Strategy<Value = Vec<String>> {
        let most = all.len();
        prop::sample::subsequence(all, 1..=most)
    }

    fn toml_list(items: &[String]) -> String {
        format!("{items:?}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_combination_is_there_once(
            servers in some_of(Double::new().server_names()),
            clients in some_of(Double::new().client_names()),
            mutations in some_of(["none", "-id", "kind=X", "-id -source", "+seq=3"].map(str::to_owned).to_vec()),
        ) {
            let axes = format!(
                "servers = {}\nclients = {}\nmutations = {}",
                toml_list(&servers), toml_list(&clients), toml_list(&mutations),
            );
            let s = scenario(&axes, "");
            let cells = expand(&s, &Double::new(), &Selection::default()).unwrap();
            let unique = |of: &dyn Fn(&Cell) -> String| cells.iter().map(of).collect::<BTreeSet<_>>().len();
            prop_assert_eq!(cells.len(), servers.len() * clients.len() * mutations.len());
            prop_assert_eq!(unique(&|c| c.id.clone()), cells.len());
            prop_assert_eq!(unique(&|c| c.hash.clone()), cells.len());
            prop_assert_eq!(unique(&|c| format!("{}|{}|{}", c.server, c.client, c.mutation)), cells.len());
            let again = expand(&s, &Double::new(), &Selection::default()).unwrap();
            prop_assert!(cells == again);
        }
    }
}
