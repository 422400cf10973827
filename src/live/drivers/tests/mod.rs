//! The drivers on packages that only have the shape of the released ones. Python and Node are wanted, not the packages; where
//! one is missing its tests say so and do nothing.

mod driven;
mod python;
mod typescript;

use std::fs;

use super::*;

#[test]
fn every_program_is_written_whole_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("made/on/the/way");
    let drivers = unpack(&into).unwrap();
    let paths = [&drivers.python_client, &drivers.stages, &drivers.typescript_client];
    for (path, (name, text)) in paths.into_iter().zip(PROGRAMS) {
        assert_eq!(path, &into.join(name));
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    assert_eq!(fs::read_dir(&into).unwrap().count(), PROGRAMS.len());
}

#[test]
fn a_program_of_another_version_is_replaced_and_a_right_one_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let drivers = unpack(dir.path()).unwrap();
    let before = fs::metadata(&drivers.stages).unwrap().modified().unwrap();
    fs::write(&drivers.python_client, "of yesterday").unwrap();
    assert_eq!(unpack(dir.path()).unwrap(), drivers);
    assert_eq!(fs::read_to_string(&drivers.python_client).unwrap(), PROGRAMS[0].1);
    assert_eq!(fs::metadata(&drivers.stages).unwrap().modified().unwrap(), before);
}

#[test]
fn the_error_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("stages.py")).unwrap();
    let error = unpack(dir.path()).unwrap_err();
    assert_eq!(error.path, dir.path().join("stages.py"));
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    let mut left = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
    assert!(left.all(|path| path.extension().is_none_or(|end| end != "new")));
}

#[test]
fn the_drivers_mark_their_lines_as_skewlab_reads_them() {
    assert!(PROGRAMS[0].1.contains(&format!("MARK = \"{MARK}\"")));
    assert!(PROGRAMS[2].1.contains(&format!("`{MARK}${{JSON.stringify")));
}
