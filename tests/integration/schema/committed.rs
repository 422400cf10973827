//! The files under `schemas/` are those that `skewlab generate schema all` writes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skewlab::schema::DRAFT;
use skewlab::suite::schemas;

use crate::runs::{Folder, ended, skewlab};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "schemas"].iter().collect()
}

#[test]
fn the_committed_schemas_are_those_of_the_code() {
    let all = schemas::all();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        for schema in &all {
            std::fs::write(folder().join(&schema.file), schema.text()).unwrap();
        }
    }
    let committed = std::fs::read_dir(folder()).unwrap();
    let committed: BTreeSet<String> =
        committed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let files: BTreeSet<String> = all.iter().map(|schema| schema.file.clone()).collect();
    assert_eq!(committed, files, "schemas/ holds a file too many or too few");
    for schema in &all {
        let text = std::fs::read_to_string(folder().join(&schema.file)).unwrap();
        assert!(
            text == schema.text(),
            "schemas/{} is not what the code says. For a wanted change run\n  UPDATE_SCHEMA=1 cargo test --test \
             integration schema\nand commit schemas/",
            schema.file
        );
    }
}

#[test]
fn every_schema_is_one_and_has_an_id_of_its_own() {
    let mut ids = BTreeSet::new();
    for schema in schemas::all() {
        let (name, value) = (schema.name, &schema.schema);
        jsonschema::meta::validate(value).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(value["$schema"], DRAFT, "{name}");
        assert_eq!(value["title"], schema.title, "{name}");
        assert!(value["description"].is_string(), "{name}");
        assert!(ids.insert(value["$id"].as_str().unwrap().to_owned()), "{name}");
        let text = schema.text();
        assert!(!text.contains("[`"), "{name}: a link of rustdoc is left");
    }
}

#[test]
fn the_command_writes_the_same_bytes() {
    let folder = Folder::new();
    let (code, out, err) = ended(&mut skewlab(&["generate", "schema", "all", "--out", &folder.arg("s")]));
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    for schema in schemas::all() {
        assert_eq!(std::fs::read_to_string(folder.path("s").join(&schema.file)).unwrap(), schema.text());
    }
    let (code, out, err) = ended(&mut skewlab(&["generate", "schema", "scenario"]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, schemas::all().into_iter().find(|s| s.name == "scenario").unwrap().text());
    for (what, said) in
        [("scenaro", "did you mean `scenario`"), ("all", "--out DIR"), ("x", "there are run, bench")]
    {
        let (code, out, err) = ended(&mut skewlab(&["generate", "schema", what]));
        assert!(code == 2 && out.is_empty() && err.contains(said), "{what}: {code} {err}");
    }
}
