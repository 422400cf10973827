//! The Python driver and the stages.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::driven::{Driven, available, brief};
use crate::live::drivers::{Drivers, unpack};

const ATTEND: &str = r#"{"do":"attend","cell":"c1","url":"http://here","key":"k","workdir":"/","llm":"http://m","model":"openai/fake"}"#;

/// A folder with the drivers and a package of the known shape.
fn bench() -> Option<(TempDir, Drivers)> {
    if !available("python3") {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let drivers = unpack(dir.path()).unwrap();
    let fake = dir.path().join("fake_sdk.py");
    std::fs::write(&fake, include_str!("fake_sdk.py")).unwrap();
    let made = Command::new("python3").arg(fake).arg(dir.path().join("site")).status().unwrap();
    assert!(made.success());
    Some((dir, drivers))
}

fn python(dir: &Path) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", dir.join("site")).current_dir(dir);
    command
}

/// What a turn looks like to the application, report by report.
fn turn(stages: Option<&str>) -> Option<Vec<String>> {
    let (dir, drivers) = bench()?;
    let mut command = python(dir.path());
    if let Some(stages) = stages {
        command.arg(&drivers.stages).arg(stages);
    }
    let mut driver = Driven::start(command.arg(&drivers.python_client));
    let hello = driver.next().unwrap();
    assert_eq!(brief(&hello, &["ev", "version", "stages"]), format!("hello 9.9.9 {}", stages.unwrap_or("")));
    driver.tell(ATTEND);
    driver.until("ready");
    driver.tell(r#"{"do":"say","cell":"c1","text":"go"}"#);
    let mut reports = driver.until("ran");
    driver.tell(r#"{"do":"leave","cell":"c1"}"#);
    reports.extend(driver.until("left"));
    assert_eq!(driver.quit(), (vec![], Some(0)));
    assert!(reports.iter().all(|report| report["cell"] == "c1" && report["at"].is_f64()));
    Some(reports.iter().map(|r| brief(r, fields(r["ev"].as_str().unwrap()))).collect())
}

fn fields(ev: &str) -> &'static [&'static str] {
    match ev {
        "callback" => &["list", "class", "content", "text"],
        "token" => &["list", "content"],
        "log" => &["level", "type", "error"],
        "left" => &["ev", "final", "status", "unfinished", "events"],
        _ => &["ev", "status"],
    }
}

#[test]
fn a_turn_is_reported_in_the_order_in_which_it_happened() {
    let Some(told) = turn(None) else { return };
    assert_eq!(
        told,
        [
            "callbacks StreamingDeltaEvent Hel null",
            "token_callbacks Hel",
            "ERROR ValueError Unknown kind 'Unheard' for Event",
            "callbacks StreamingDeltaEvent lo null",
            "token_callbacks lo",
            "callbacks MessageEvent null Hello",
            "ran finished",
            r#"left Hello finished null {"StreamingDeltaEvent":2,"MessageEvent":1}"#,
        ]
    );
}

#[test]
fn without_stage_c_a_delta_off_event_is_an_unknown_kind() {
    let Some(told) = turn(Some("AB")) else { return };
    assert_eq!(
        told,
        [
            "ERROR ValueError Unknown kind 'StreamingDeltaEvent' for Event",
            "ERROR ValueError Unknown kind 'Unheard' for Event",
            "ERROR ValueError Unknown kind 'StreamingDeltaEvent' for Event",
            "callbacks MessageEvent null Hello",
            "ran finished",
            r#"left Hello finished null {"MessageEvent":1}"#,
        ]
    );
}

#[test]
fn with_stage_c_deltas_go_to_their_own_callbacks_alone() {
    let Some(told) = turn(Some("ABC")) else { return };
    assert_eq!(
        told,
        [
            "delta_callbacks StreamingDeltaEvent Hel null",
            "token_callbacks Hel",
            "ERROR ValueError Unknown kind 'Unheard' for Event",
            "delta_callbacks StreamingDeltaEvent lo null",
            "token_callbacks lo",
            "callbacks MessageEvent null Hello",
            "ran finished",
            r#"left Hello finished null {"MessageEvent":1}"#,
        ]
    );
}

#[test]
fn what_cannot_be_done_is_said_and_ends_nothing() {
    let Some((dir, drivers)) = bench() else { return };
    let mut driver = Driven::start(python(dir.path()).arg(&drivers.python_client));
    driver.until("hello");
    driver.tell("{");
    assert_eq!(brief(&driver.next().unwrap(), &["ev", "type"]), "refused JSONDecodeError");
    driver.tell(r#"{"do":"leave","cell":"c9"}"#);
    assert_eq!(brief(&driver.next().unwrap(), &["ev", "cell"]), "refused c9");
    driver.tell(&ATTEND.replace("here", "nowhere"));
    assert_eq!(
        brief(&driver.next().unwrap(), &["ev", "type", "error"]),
        "failed ConnectionError nobody there"
    );
    driver.tell(r#"{"do":"check","cell":"k","name":"n1","raw":"{\"kind\":\"StreamingDeltaEvent\",\"content\":\"\\ud800\"}"}"#);
    let fields = ["ev", "name", "outcome", "class", "content"];
    assert_eq!(brief(&driver.next().unwrap(), &fields), "checked n1 accepted StreamingDeltaEvent \u{fffd}");
    driver.tell(r#"{"do":"check","cell":"k","name":"n2","raw":"[]"}"#);
    assert_eq!(brief(&driver.next().unwrap(), &["name", "outcome", "type"]), "n2 rejected ValueError");
    let (rest, code) = driver.quit();
    assert_eq!(brief(&rest[0], &["ev", "cell", "unfinished"]), "left c1 attend");
    assert_eq!((rest.len(), code), (1, Some(0)));
}

#[test]
fn a_package_of_another_shape_is_refused_before_anything_runs() {
    let Some((dir, drivers)) = bench() else { return };
    let module = "openhands/sdk/conversation/impl/remote_conversation.py";
    let path = dir.path().join("site").join(module);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("Event.model_validate(json.loads(message))", "decode(message)"))
        .unwrap();
    let run = |stages: &str| {
        python(dir.path())
            .arg(&drivers.stages)
            .args([stages, "-c"])
            .arg(&drivers.python_client)
            .output()
            .unwrap()
    };
    let refused = run("ABC");
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("cannot lay stage C over openhands-sdk 9.9.9") && said.contains(module), "{said}");
    assert!(said.contains("exactly once, found it 0 times"), "{said}");
    assert_eq!(run("BA").status.code(), Some(2));
}
