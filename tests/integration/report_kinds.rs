//! `skewlab report` takes a result of every kind, and says of a format that has no form for it which ones have.

use serde_json::Value;
use skewlab::record::stored::SCHEMAS;

use crate::fixtures;
use crate::runs::{Folder, ended, skewlab};

const EVERYTHING: [&str; 3] = ["terminal", "json", "html"];
const OTHERS: [&str; 5] = ["markdown", "junit", "sarif", "openmetrics", "csv"];

/// The kept file of a schema, and the schema without its number.
fn kept(schema: &str) -> (String, &str) {
    let (family, version) = schema.rsplit_once('/').unwrap();
    let name = family.strip_prefix("skewlab.").unwrap();
    (fixtures::path(&format!("results/{name}_v{version}.json")).display().to_string(), name)
}

fn report(files: &[&str], format: &str) -> (i32, String, String) {
    ended(skewlab(&["report", "--format", format]).args(files))
}

#[test]
fn a_kept_file_of_every_kind_is_shown_in_every_format_that_has_a_form_for_it() {
    for schema in SCHEMAS {
        let (file, name) = kept(schema);
        for format in EVERYTHING {
            let (code, shown, err) = report(&[&file], format);
            assert_eq!((code, err.as_str()), (0, ""), "{name} as {format}");
            match format {
                "json" => {
                    let (now, then): (Value, String) =
                        (serde_json::from_str(&shown).unwrap(), std::fs::read_to_string(&file).unwrap());
                    assert_eq!(now, serde_json::from_str::<Value>(&then).unwrap(), "{name}");
                }
                "html" => {
                    assert!(shown.starts_with("<!DOCTYPE html>") && shown.contains("</main>"), "{name}");
                }
                _ => assert!(shown.lines().count() >= 2, "{name}: {shown}"),
            }
        }
        let more: &[&str] = match name {
            "run" => &OTHERS,
            "comparison" | "explore" => &["markdown"],
            _ => &[],
        };
        for format in OTHERS {
            let (code, shown, err) = report(&[&file], format);
            if more.contains(&format) {
                assert!(code == 0 && !shown.is_empty(), "{name} as {format}: {err}");
                continue;
            }
            assert_eq!((code, shown.as_str()), (2, ""), "{name} as {format}");
            let can = [&EVERYTHING[..], more].concat().join(", ");
            assert!(
                err.contains(&format!("`{format}` has no form for a result of schema `{schema}`")),
                "{err}"
            );
            assert!(err.contains(&format!("these have: {can}\n")) && err.contains(name), "{err}");
        }
    }
}

#[test]
fn what_each_of_them_says_is_on_the_page_and_in_the_terminal() {
    for (schema, on_page, in_terminal) in [
        ("skewlab.comparison/1", "newly silent", "newly silent (1)"),
        ("skewlab.interleaved/1", "server 1.43.1+AB", "noise too large"),
        ("skewlab.contract/1", "member_removed/Event/StreamingDeltaEvent", "SILENT"),
        ("skewlab.explore/1", "Not declared by any scenario", "not declared by any scenario: "),
        ("skewlab.bench-client/1", "characters that the durable end holds", "missing    60 characters"),
    ] {
        let (file, name) = kept(schema);
        for (format, text) in [("html", on_page), ("terminal", in_terminal)] {
            let (_, shown, _) = report(&[&file], format);
            assert!(shown.contains(text), "{name} as {format}: no {text}");
        }
    }
    // All of them on one page, each under its own name.
    let files = SCHEMAS.map(|schema| kept(schema).0);
    let (code, page, err) = report(&files.iter().map(String::as_str).collect::<Vec<_>>(), "html");
    assert_eq!(code, 0, "{err}");
    for heading in [
        "What has changed",
        "Cost, measured in turns",
        "What a server advertises",
        "Many subscribers",
        "What nobody had declared",
    ] {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn a_list_of_comparisons_is_several_results_and_its_errors_name_the_place() {
    let folder = Folder::new();
    let (file, _) = kept("skewlab.comparison/1");
    let one = std::fs::read_to_string(file).unwrap();
    let both = folder.write("both.json", &format!("[{one},{}]", one.replace("\"run\"", "\"bench\"")));
    let (code, shown, err) = report(&[&both], "terminal");
    assert!(
        code == 0 && shown.contains("=== result 2 of 2") && shown.contains("2 points compared"),
        "{shown}{err}"
    );
    let (code, shown, _) = report(&[&both], "markdown");
    assert_eq!((code, shown.matches("### skewlab: ").count()), (0, 2));
    for (text, why) in [
        (format!("[{one},{}]", one.replace("\"base\"", "\"bsae\"")), "bad.json[1]: unknown field `bsae`"),
        (format!("[{one},3]"), "bad.json[1]: no result of skewlab"),
        ("[]".to_owned(), "it is an empty list"),
        (format!("[{one},"), "the file ends here"),
    ] {
        let bad = folder.write("bad.json", &text);
        let (code, shown, err) = report(&[&bad], "terminal");
        assert!(code == 2 && shown.is_empty() && err.contains(why), "{why}: {err}");
    }
}

/// Something done to a result.
type Bend = fn(&mut Value);

/// A search as a file: what `explore` prints.
fn searched(folder: &Folder) -> (String, Value) {
    let args = ["explore", "--budget", "40", "--seed", "2", "--capsules", "0", "--format", "json"];
    let (code, text, _) = ended(skewlab(&args).args(["--out", &folder.arg("capsules")]));
    assert_eq!(code, 10, "it found nothing");
    (folder.write("search.json", &text), serde_json::from_str(&text).unwrap())
}

#[test]
fn a_search_is_shown_with_all_that_it_found() {
    let folder = Folder::new();
    let (file, search) = searched(&folder);
    for (format, heading) in [
        ("terminal", "40 drawn cells, seed 2: "),
        ("markdown", "### skewlab explore: not declared by any scenario: "),
        ("html", "<h2"),
    ] {
        let (code, shown, err) = report(&[&file], format);
        assert!(code == 0 && shown.contains(heading), "{format}: {shown}{err}");
        for group in search["groups"].as_array().unwrap() {
            // Its reason stands in a row of those that nobody declared or of the others.
            let reason = group["reason"].as_str().unwrap_or("-").to_owned();
            let escaped = reason.replace('_', "&#95;");
            assert!(shown.contains(&reason) || shown.contains(&escaped), "{format}: no {reason}");
        }
    }
    let (_, shown, _) = report(&[&file], "terminal");
    assert!(!shown.contains("--all"), "an option of another command: {shown}");
}

#[test]
fn a_search_that_contradicts_itself_is_refused() {
    let folder = Folder::new();
    let (file, search) = searched(&folder);
    assert_eq!(report(&[&file], "terminal").0, 0);
    let refused = |value: &Value, place: &str, why: &str| {
        let file = folder.write("bent.json", &value.to_string());
        let (code, shown, err) = report(&[&file], "html");
        assert_eq!((code, shown.as_str()), (2, ""), "{place}");
        assert!(err.contains(&format!("bent.json: {place}")) && err.contains(why), "{place}: {err}");
    };
    let bends: [(Bend, &str, &str); 5] = [
        (|v| v["groups"][0]["note"] = "all is well".into(), "digest", "what the file holds has"),
        (|v| drop(v["groups"].as_array_mut().unwrap().pop()), "cells", "it is 40, and there are"),
        (|v| v["groups"][1] = v["groups"][0].clone(), "groups[1]", "the same group stands before it"),
        (|v| v["groups"][0]["cells"] = 0.into(), "groups[0]", "a group of no cell"),
        (|v| v["groups"][0]["verdict"] = "delivered".into(), "groups[0]", "it ended well"),
    ];
    for (bend, place, why) in bends {
        let mut bent = search.clone();
        bend(&mut bent);
        refused(&bent, place, why);
    }
    // One of before there was a digest is held to what it says twice.
    let (old, _) = kept("skewlab.explore/1");
    let old: Value = serde_json::from_str(&std::fs::read_to_string(old).unwrap()).unwrap();
    let mut bent = old.clone();
    bent["healthy"] = 1000.into();
    refused(&bent, "cells", "it is 40, and there are 1000 that ended well");
    let mut bent = old.clone();
    bent["coverage"]["pairs"][1]["share"]["tried"] = 61.into();
    refused(&bent, "coverage.pairs[1] (`client × fault`)", "61 are tried and 3 are not, of 62");
}
