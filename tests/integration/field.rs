//! The catalogue of what was reported of real systems: every cell comes out as its report says.

use std::collections::BTreeSet;

use skewlab::scenario::{FIELD, FIELD_GROUP};

use crate::runs::{at, ended, matrix, skewlab};

#[test]
fn every_report_comes_out_as_it_says() {
    let run = matrix(&[FIELD_GROUP], &[], &[]);
    let wrong: Vec<String> = run
        .cells
        .iter()
        .filter(|cell| cell.outcome != skewlab::record::Outcome::Expected)
        .map(|cell| format!("{}: {:?} {}", cell.id, cell.findings[0].verdict, cell.findings[0].note))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(run.scenarios.len(), FIELD.len());
    assert!(run.scenarios.len() >= 40);
    // A catalogue in which nothing is ever found would be none.
    let unhealthy: BTreeSet<&str> = run
        .cells
        .iter()
        .filter(|cell| !cell.findings[0].verdict.is_healthy())
        .map(|c| c.scenario.as_str())
        .collect();
    assert!(unhealthy.len() >= 35, "{unhealthy:?}");
}

#[test]
fn every_report_has_its_url_and_every_expectation_its_reason() {
    let mut urls: BTreeSet<String> = BTreeSet::new();
    for (path, text) in FIELD {
        let table: toml::Table = text.parse().unwrap();
        let url = table["seen"].as_str().unwrap();
        assert!(url.starts_with("https://github.com/") && urls.insert(url.to_owned()), "{path}: {url}");
        for rule in table.get("expect").and_then(|e| e.as_array()).into_iter().flatten() {
            assert!(rule.get("because").is_some(), "{path}: {rule}");
        }
    }
}

#[test]
fn one_name_runs_them_all_and_each_has_a_name_of_its_own() {
    let (code, out, err) = ended(&mut skewlab(&["plan", FIELD_GROUP]));
    assert_eq!(code, 0, "{err}");
    for (path, _) in FIELD {
        let name = path.trim_start_matches("scenarios/field/").trim_end_matches(".toml");
        assert!(out.contains(&format!("{name}/")), "{name} is in the plan");
    }
    let (code, _, err) = ended(&mut skewlab(&[
        "live",
        "matrix",
        "--scenario",
        "local-operator-1350",
        "--servers",
        "emulated:1.58.2",
        "--clients",
        "emulated:typescript-1.39.0",
    ]));
    assert_eq!(code, 0, "without a fault it is a scenario like any other: {err}");
    let (code, _, err) = ended(&mut skewlab(&[
        "live",
        "matrix",
        "--scenario",
        "xum-2165",
        "--servers",
        "emulated:1.58.2",
        "--clients",
        "emulated:typescript-1.39.0",
    ]));
    assert_eq!(code, 2);
    assert!(err.contains("has faults, which released packages do not take"), "{err}");
}

#[test]
fn a_handshake_that_is_given_up_costs_a_second_and_one_that_is_not_the_time_that_it_hangs() {
    let run = matrix(&["OpenHands-16733"], &[], &[]);
    let lost = |client: &str| {
        let cell = at(&run, &format!("OpenHands-16733/1.58.2/{client}/answer/hangs"));
        cell.due.frames - cell.delivered.frames
    };
    assert!(lost("browser-1.20.0") > 100, "{}", lost("browser-1.20.0"));
    assert!((1..5).contains(&lost("browser-1.20.0+open-limit")));
}
