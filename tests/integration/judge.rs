//! Recorded live cells judged again: as they were, and with one thing changed that must not go unseen.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skewlab::wire::DELTA_KIND;
use tempfile::TempDir;

use crate::runs::{ended, skewlab};

const PYTHON: &str = "release-skew/1.58.2/python-1.58.2/chat/none";
const STAGED: &str = "release-skew/1.58.2/python-1.58.2+AB/chat/none";
const SWALLOWED: &str = "release-skew/1.58.2/python-1.55.1/token_callbacks/chat/none";
const TYPESCRIPT: &str = "release-skew/1.58.2/typescript-1.39.0/chat/none";
const NO_SHIM: &str = "release-skew/1.58.2/typescript-1.39.0+no-shim/chat/none";
const BROWSER: &str = "release-skew/1.58.2/browser-1.20.0/chat/none";
const LIVE_SERVER: &str = "release-skew/1.58.2/emulated:python-1.58.2/chat/none";
const LIVE_CLIENT: &str = "release-skew/emulated:1.58.2/python-1.58.2/chat/none";

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/record/live")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Judges one recorded cell after a change. Its exit code, and each finding as `verdict hop reason`.
fn judged(id: &str, change: impl FnOnce(&mut Value)) -> (i32, String) {
    let mut contents = read(&recorded().join("record.json"));
    let kept = contents["cells"].as_array().unwrap().iter().find(|cell| cell["id"] == id).unwrap().clone();
    let mut capture = read(&recorded().join(kept["file"].as_str().unwrap()));
    change(&mut capture);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(kept["file"].as_str().unwrap()), capture.to_string()).unwrap();
    contents["cells"] = json!([kept]);
    fs::write(folder.path().join("record.json"), contents.to_string()).unwrap();
    let (code, out, err) =
        ended(&mut skewlab(&["judge", folder.path().to_str().unwrap(), "--format", "json"]));
    assert_eq!(err, "", "{id}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let finding = |f: &Value| [word(&f["verdict"]), word(&f["lost_at"]), word(&f["reason"])].join(" ");
    let findings = run["cells"][0]["findings"].as_array().unwrap().iter().map(finding);
    (code, findings.collect::<Vec<_>>().join(", "))
}

fn frames(capture: &mut Value) -> &mut Vec<Value> {
    capture["sockets"][0]["frames"].as_array_mut().unwrap()
}

fn said(capture: &mut Value) -> &mut Vec<Value> {
    capture["client"]["library"]["said"].as_array_mut().unwrap()
}

fn event(frame: &Value) -> Value {
    serde_json::from_str(frame["text"].as_str().unwrap()).unwrap()
}

fn is_reply(event: &Value) -> bool {
    event["kind"] == "MessageEvent" && event["source"] == "agent"
}

/// Where the frame with the delta of that text is.
fn delta(capture: &mut Value, text: &str) -> usize {
    let is = |frame: &Value| {
        let event = event(frame);
        event["kind"] == DELTA_KIND && event["content"] == text
    };
    frames(capture).iter().position(is).unwrap()
}

/// The id of that delta's event.
fn id_of(capture: &mut Value, text: &str) -> Value {
    let at = delta(capture, text);
    event(&frames(capture)[at])["id"].clone()
}

/// Changes the event in a frame.
fn rewrite(frame: &mut Value, key: &str, value: Value) {
    let mut event = event(frame);
    event[key] = value;
    frame["text"] = event.to_string().into();
}

fn is_delta_report(report: &Value) -> bool {
    report["ev"] == "token" || report["kind"] == DELTA_KIND
}

/// Moves what `goes` to behind the first that `is_last`.
fn behind(list: &mut Vec<Value>, goes: impl Fn(&Value) -> bool, is_last: impl Fn(&Value) -> bool) {
    let (moved, mut rest): (Vec<Value>, Vec<Value>) = list.drain(..).partition(|one| goes(one));
    let at = rest.iter().position(is_last).unwrap() + 1;
    rest.splice(at..at, moved);
    *list = rest;
}

fn late_frames(capture: &mut Value) {
    behind(frames(capture), |f| event(f)["kind"] == DELTA_KIND, |f| is_reply(&event(f)));
}

fn late_reports(capture: &mut Value) {
    behind(said(capture), is_delta_report, |report| report["ev"] == "callback" && is_reply(report));
}

fn without_reply_in_the_log(capture: &mut Value) {
    capture["server"]["live"]["events"].as_array_mut().unwrap().retain(|event| !is_reply(event));
}

fn without_reply_on_the_wire(capture: &mut Value) {
    frames(capture).retain(|frame| !is_reply(&event(frame)));
}

/// As if those events had never been sent.
fn unsent(capture: &mut Value, ids: &[Value]) {
    frames(capture).retain(|frame| !ids.contains(&event(frame)["id"]));
    if capture["client"].get("library").is_some() {
        said(capture).retain(|report| !ids.contains(&report["id"]));
    }
}

#[test]
fn what_was_recorded_is_judged_as_it_was() {
    for (id, verdict) in [
        (PYTHON, "delivered - -"),
        (STAGED, "silent_loss decoded unknown_kind"),
        (SWALLOWED, "silent_loss delivered token_callbacks_swallowed"),
        (TYPESCRIPT, "delivered - -"),
        (NO_SHIM, "loud_loss dispatched not_subscribed"),
        (BROWSER, "delivered - -"),
        (LIVE_SERVER, "delivered - -"),
        (LIVE_CLIENT, "delivered - -"),
    ] {
        assert_eq!(judged(id, |_| ()), (0, verdict.to_owned()), "{id}");
    }
}

#[test]
fn every_rejected_frame_has_its_line_in_the_log() {
    let (code, out, _) = ended(&mut skewlab(&["judge", recorded().to_str().unwrap(), "--format", "json"]));
    let run: Value = serde_json::from_str(&out).unwrap();
    let staged = run["cells"].as_array().unwrap().iter().find(|cell| cell["id"] == STAGED).unwrap();
    let note = staged["findings"][0]["note"].as_str().unwrap();
    assert_eq!((code, &staged["log_lines"]), (0, &json!(18)));
    assert!(note.ends_with("one log line per frame"), "{note}");
}

#[test]
fn a_released_client_and_its_emulation_are_two_rows() {
    let (_, out, _) = ended(&mut skewlab(&["judge", recorded().to_str().unwrap()]));
    let rows = |name: &str| out.lines().filter(|line| line.split_whitespace().next() == Some(name)).count();
    // The row of the table and nothing else: neither has a finding.
    assert_eq!((rows("python-1.58.2"), rows("emulated:python-1.58.2")), (1, 1), "{out}");
}

#[test]
fn a_recording_is_refused_where_it_is_not_one() {
    let folder = TempDir::new().unwrap();
    let judge = |folder: &Path| ended(&mut skewlab(&["judge", folder.to_str().unwrap()]));
    let (code, _, err) = judge(folder.path());
    assert!(
        code == 2 && err.contains("record.json: it is what `skewlab live matrix --record DIR` writes"),
        "{err}"
    );
    for (from, to, said) in [
        ("\"skewlab.record/1\"", "\"skewlab.record/2\", \"new\": 1", "schema `skewlab.record/2`"),
        ("\"cell-0003.json\"", "\"../cell-0003.json\"", "`../cell-0003.json` is no file in this folder"),
        ("\"cell-0003.json\"", "\"/etc/hosts\"", "`/etc/hosts` is no file in this folder"),
        ("release-skew/1.58.2/python-1.58.2/", "release-skew/1.58.2/python-1.58.3/", "has this cell no more"),
    ] {
        let text = fs::read_to_string(recorded().join("record.json")).unwrap().replace(from, to);
        for cell in 0..8 {
            let name = format!("cell-{cell:04}.json");
            fs::copy(recorded().join(&name), folder.path().join(&name)).unwrap();
        }
        fs::write(folder.path().join("record.json"), text).unwrap();
        let (code, _, err) = judge(folder.path());
        assert!(code == 2 && err.contains(said), "{err}");
    }
    // A file with another cell in it leaves its own cell without one.
    let text = fs::read_to_string(recorded().join("record.json")).unwrap();
    fs::write(folder.path().join("record.json"), text).unwrap();
    fs::copy(recorded().join("cell-0003.json"), folder.path().join("cell-0000.json")).unwrap();
    let (code, out, _) = judge(folder.path());
    assert!(code == 13 && out.contains("nothing was recorded of this cell"), "{out}");
}

#[test]
fn text_that_the_server_did_not_send_is_lost_at_the_wire() {
    for id in [PYTHON, TYPESCRIPT] {
        let lost = judged(id, |capture| {
            let gone = id_of(capture, "lo,");
            unsent(capture, &[gone]);
        });
        assert_eq!(lost, (10, "silent_loss sent not_on_the_wire".to_owned()), "{id}");
    }
}

#[test]
fn reports_that_are_missing_doubled_or_changed_are_seen_at_the_client() {
    for id in [PYTHON, TYPESCRIPT, LIVE_CLIENT] {
        let missing = judged(id, |capture| {
            let gone = id_of(capture, "two");
            said(capture).retain(|report| report["id"] != gone);
        });
        assert_eq!(missing, (10, "silent_loss delivered not_delivered".to_owned()), "{id}");
        let twice = judged(id, |capture| {
            let again = id_of(capture, "two");
            let reports = std::mem::take(said(capture));
            let twice = |report: Value| vec![report.clone(); 1 + usize::from(report["id"] == again)];
            *said(capture) = reports.into_iter().flat_map(twice).collect();
        });
        assert_eq!(twice, (10, "duplicated - text_twice".to_owned()), "{id}");
        let changed = judged(id, |capture| {
            let other = id_of(capture, "two");
            for report in said(capture).iter_mut().filter(|report| report["id"] == other) {
                report["content"] = "too".into();
            }
        });
        assert_eq!(changed, (10, "corrupted - text_altered".to_owned()), "{id}");
    }
}

#[test]
fn a_server_that_sends_out_of_order_or_twice_is_not_the_rig() {
    let swapped = judged(PYTHON, |capture| {
        let ids = [id_of(capture, "two"), id_of(capture, " words")];
        let at = [delta(capture, "two"), delta(capture, " words")];
        frames(capture).swap(at[0], at[1]);
        let of = |capture: &mut Value, id: &Value| -> Vec<usize> {
            let all = said(capture).iter().enumerate();
            all.filter(|(_, report)| report["id"] == *id).map(|(at, _)| at).collect()
        };
        let (first, second) = (of(capture, &ids[0]), of(capture, &ids[1]));
        for (a, b) in first.into_iter().zip(second) {
            said(capture).swap(a, b);
        }
    });
    assert_eq!(swapped, (10, "reordered - order_changed".to_owned()));
    let twice = judged(PYTHON, |capture| {
        let (at, id) = (delta(capture, "two"), id_of(capture, "two"));
        let copy = frames(capture)[at].clone();
        frames(capture).insert(at, copy);
        let copies: Vec<Value> = said(capture).iter().filter(|report| report["id"] == id).cloned().collect();
        let at = said(capture).iter().position(|report| report["id"] == id).unwrap();
        said(capture).splice(at..at, copies);
    });
    assert_eq!(twice, (10, "duplicated - text_twice".to_owned()));
}

#[test]
fn deltas_after_the_reply_are_late() {
    for id in [PYTHON, TYPESCRIPT] {
        let late = judged(id, |capture| {
            late_frames(capture);
            late_reports(capture);
        });
        assert_eq!(late, (10, "late - after_the_reply".to_owned()), "{id}");
    }
    let late = judged(LIVE_CLIENT, late_reports);
    assert_eq!(late, (10, "late - after_the_reply".to_owned()));
    // What only the record of the wire says is a contradiction.
    for id in [BROWSER, LIVE_SERVER] {
        let (code, findings) = judged(id, late_frames);
        assert!(code == 13 && findings.starts_with("invalid"), "{id}: {findings}");
    }
}

#[test]
fn a_turn_owes_its_reply_and_all_that_came_before_it() {
    for id in [PYTHON, TYPESCRIPT, BROWSER] {
        let none = judged(id, |capture| {
            without_reply_in_the_log(capture);
            without_reply_on_the_wire(capture);
            if id != BROWSER {
                said(capture).retain(|report| report["ev"] != "callback" || !is_reply(report));
            }
        });
        assert_eq!(none, (10, "durable_loss sent not_sent".to_owned()), "{id}");
        let unsent_first = judged(id, |capture| {
            let log = capture["server"]["live"]["events"].as_array().unwrap();
            let ids: Vec<Value> = log[..log.len() - 1].iter().map(|event| event["id"].clone()).collect();
            unsent(capture, &ids);
        });
        assert_eq!(unsent_first, (10, "durable_loss sent not_sent".to_owned()), "{id}");
        let not_in_the_log = judged(id, without_reply_in_the_log);
        assert_eq!(not_in_the_log, (13, "invalid - rig_fault".to_owned()), "{id}");
    }
    let refused = judged(PYTHON, |capture| {
        said(capture).retain(|report| report["ev"] != "callback" || !is_reply(report));
    });
    assert_eq!(refused, (10, "durable_loss decoded not_delivered".to_owned()));
}

#[test]
fn broken_evidence_is_never_green() {
    let fault = |id: &str, what: &str, change: &dyn Fn(&mut Value)| {
        let (code, findings) = judged(id, |capture| change(capture));
        assert_eq!((code, findings.starts_with("invalid")), (13, true), "{id}, {what}: {findings}");
    };
    for id in [PYTHON, TYPESCRIPT, BROWSER, LIVE_SERVER] {
        fault(id, "status", &|c| c["server"]["live"]["status"] = "error".into());
        fault(id, "half a model", &|c| c["chunks"].as_array_mut().unwrap().truncate(9));
        fault(id, "a foreign delta", &|c| {
            let at = delta(c, "two");
            let mut foreign = frames(c)[at].clone();
            rewrite(&mut foreign, "content", "zzz".into());
            rewrite(&mut foreign, "id", "another".into());
            frames(c).insert(at, foreign);
        });
    }
    for id in [PYTHON, TYPESCRIPT, LIVE_SERVER, LIVE_CLIENT] {
        fault(id, "a cut frame", &|c| {
            let at = delta(c, "two");
            rewrite(&mut frames(c)[at], "content", "tw".into());
        });
        fault(id, "frames in another order", &|c| {
            let at = [delta(c, "two"), delta(c, " words")];
            frames(c).swap(at[0], at[1]);
        });
    }
    for id in [PYTHON, TYPESCRIPT, BROWSER, LIVE_SERVER, LIVE_CLIENT] {
        fault(id, "an unreadable tap", &|c| c["sockets"][0]["unreadable"] = "opcode 7".into());
        fault(id, "no socket", &|c| c["sockets"] = json!([]));
        fault(id, "a socket that ended early", &|c| {
            let at = delta(c, "ha");
            frames(c).truncate(at);
            c["sockets"][0]["closed"] = json!({"by": "server", "code": 1011, "reason": ""});
        });
        fault(id, "a fault of the rig", &|c| c["rig_faults"] = json!(["something"]));
    }
    fault(PYTHON, "a frame that was reported and did not pass", &|c| {
        let at = delta(c, "two");
        frames(c).remove(at);
    });
}

/// Changes each text that the chat showed.
fn shown(capture: &mut Value, change: impl Fn(&str) -> String) {
    for seen in capture["client"]["canvas"]["seen"].as_array_mut().unwrap() {
        for bubble in seen["bubbles"].as_array_mut().unwrap() {
            *bubble = change(bubble.as_str().unwrap()).into();
        }
    }
}

#[test]
fn a_chat_is_read_as_a_person_reads_it() {
    let nothing = judged(BROWSER, |c| c["client"]["canvas"]["seen"] = json!([]));
    assert_eq!(nothing.1, "silent_loss delivered not_drawn, corrupted - view_differs");
    let only_the_reply = judged(BROWSER, |c| {
        let seen = c["client"]["canvas"]["seen"].as_array_mut().unwrap();
        seen.drain(..seen.len() - 1);
        seen[0]["at"] = (seen[0]["at"].as_f64().unwrap() + 60.0).into();
    });
    assert_eq!(only_the_reply.1, "silent_loss delivered not_drawn");
    let a_word_less = judged(BROWSER, |c| shown(c, |text| text.replace("two", "")));
    assert_eq!(a_word_less.1, "silent_loss delivered not_drawn, corrupted - view_differs");
    let more = judged(BROWSER, |c| shown(c, |text| format!("{text} and more")));
    assert_eq!(more.1, "corrupted - text_altered, corrupted - view_differs");
    let words_run_together = judged(BROWSER, |c| shown(c, |text| text.split_whitespace().collect()));
    assert_eq!(words_run_together.1, "corrupted - view_differs");
    for judged in [nothing, only_the_reply, a_word_less, more, words_run_together] {
        assert_eq!(judged.0, 10, "{}", judged.1);
    }
}

#[test]
fn noise_in_the_log_changes_nothing() {
    let noise = json!({"cell": null, "at": 15.1, "ev": "log", "level": "ERROR", "logger": "httpx",
        "message": "connection reset", "type": "ConnectError", "error": "reset"});
    let healthy = judged(PYTHON, |capture| {
        let at = said(capture).len() / 2;
        said(capture).insert(at, noise.clone());
    });
    assert_eq!(healthy, (0, "delivered - -".to_owned()));
    let staged = judged(STAGED, |capture| {
        let at = said(capture).len() / 2;
        said(capture).insert(at, noise);
    });
    assert_eq!(staged, (0, "silent_loss decoded unknown_kind".to_owned()));
}
