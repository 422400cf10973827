//! A capsule that was changed and summed up anew: what contradicts itself is refused at its place, and what another skewlab
//! wrote is run with a warning.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::runs::{Folder, ended, skewlab};

fn hex(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// The text with sums, as whoever changes a capsule on the quiet would make them.
fn sealed(body: &str) -> String {
    let lines: String = body.lines().fold(String::new(), |all, line| all + &hex(line)[..4]);
    format!("{body}[capsule.sum]\nlines = \"{lines}\"\ntext = \"{}\"\n", hex(body))
}

/// The only capsule of a search over one server with a mutant, without its sums.
fn found(mutant: &str) -> (Folder, String) {
    let folder = Folder::new();
    folder.profile("servers", "mine", "1.58.2", &format!("[mutant]\n{mutant}"));
    let (out, profiles) = (folder.arg("out"), folder.arg(""));
    let pair = ["--servers", "mine", "--clients", "python-1.58.2", "--budget", "30", "--capsules", "1"];
    ended(skewlab(&["explore", "--out", &out, "--profiles", &profiles]).args(pair));
    let file = std::fs::read_dir(folder.path("out")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    let body = text.split_once("[capsule.sum]").unwrap().0.to_owned();
    assert_eq!(sealed(&body), text, "the sums of this test are not those of a capsule");
    (folder, body)
}

fn replay(folder: &Folder, text: &str) -> (i32, String, String) {
    let file = folder.write("capsule.toml", text);
    ended(&mut skewlab(&["replay", &file]))
}

/// The body with the first line that begins so changed to another, or gone.
fn with(body: &str, beginning: &str, line: &str) -> String {
    let old = body.lines().find(|line| line.starts_with(beginning)).unwrap_or_else(|| panic!("{beginning}"));
    let new = if line.is_empty() { String::new() } else { format!("{line}\n") };
    body.replacen(&format!("{old}\n"), &new, 1)
}

#[test]
fn a_capsule_that_contradicts_itself_is_refused_at_the_place() {
    let (folder, body) = found("drop_every = 2");
    let (code, stdout, stderr) = replay(&folder, &sealed(&body));
    assert_eq!((code, stderr.as_str()), (0, ""), "healthy: {stdout}");
    let expect = body.rfind("[[expect]]").unwrap();
    let own_expect = &body[expect..];
    let cases = [
        (with(&body, "clock", "clock = \"wall\""), "clock =", "no other than `virtual` repeats"),
        (with(&body, "hash", "hash = \"0123456789abcdef\""), "hash =", "the cell of this capsule has `"),
        (with(&body, "rate", "rate = 7.5"), "hash =", "the cell was changed behind its head"),
        (
            with(&body, "question", "question = \"Is all well?\""),
            "question =",
            "expected: question = \"Why does",
        ),
        (body[..expect].to_owned(), "[capsule.found]", "no [[expect]] says so"),
        (
            body[..expect].to_owned() + &with(own_expect, "lost_at", "lost_at = \"parsed\""),
            "[[expect]]",
            "`lost_at` is \"parsed\" here and \"sent\" in [capsule.found]",
        ),
        (
            body[..expect].to_owned() + &with(own_expect, "lost_at", ""),
            "[[expect]]",
            "`lost_at` is nothing here and \"sent\" in [capsule.found]",
        ),
        (
            with(&body, "verdict", "verdict = \"loud_loss\""),
            "[[expect]]",
            "`verdict` is \"silent_loss\" here and \"loud_loss\" in [capsule.found]",
        ),
        (format!("{body}{own_expect}"), "[[expect]]", "this [[expect]] never counts"),
        (with(&body, "seed", "sede = 1"), "sede =", "unknown field `sede`"),
        (with(&body, "servers", "srevers = [\"mine\"]"), "srevers =", "did you mean `servers`"),
        (format!("{body}# nothing to see here\n"), "# nothing", "not what skewlab writes"),
        (
            with(&body, "# Drawn", "# Drawn\nseen = \"https://example.org\""),
            "seen =",
            "not what skewlab writes",
        ),
    ];
    for (bad, place, why) in cases {
        let line = bad.lines().filter(|line| line.starts_with(place)).count();
        assert!(line > 0 && bad != body, "{place}: nothing was changed");
        // Of two such places the last is meant.
        let number =
            bad.lines().count() - bad.lines().rev().position(|line| line.starts_with(place)).unwrap();
        let (code, stdout, stderr) = replay(&folder, &sealed(&bad));
        assert_eq!((code, stdout.as_str()), (2, ""), "{place} {why}: {stderr}");
        assert!(stderr.contains(why), "{place}: no `{why}` in {stderr}");
        assert!(stderr.contains(&format!("capsule.toml:{number}:")), "{place}, line {number}: {stderr}");
    }
}

#[test]
fn another_seed_is_another_capsule() {
    let (folder, body) = found("drop_every = 2");
    let (code, stdout, stderr) = replay(&folder, &sealed(&with(&body, "seed", "seed = 5")));
    assert_eq!((code, stderr.as_str()), (10, ""), "{stdout}");
    assert!(stdout.contains("is not as the capsule says") && stdout.contains("the evidence is "), "{stdout}");
}

#[test]
fn a_cell_that_says_nothing_of_its_subject_is_expected_by_nobody() {
    let (folder, body) = found("forget_every = 3");
    let (code, stdout, stderr) = replay(&folder, &sealed(&body));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let (code, _, stderr) = replay(&folder, &sealed(&format!("{body}[[expect]]\nverdict = \"delivered\"\n")));
    assert!(code == 2 && stderr.contains("a capsule of such a cell has no [[expect]]"), "{stderr}");
}

#[test]
fn a_capsule_of_another_skewlab_is_run_and_that_is_said() {
    let (folder, body) = found("drop_every = 2");
    let theirs = with(&body, "skewlab", "skewlab = \"9.9.9\"");
    let (code, stdout, stderr) = replay(&folder, &sealed(&theirs));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("byte for byte"), "{stdout}");
    assert!(stderr.starts_with("warning: skewlab 9.9.9 wrote ") && stderr.lines().count() == 1, "{stderr}");
    // Its words may be others; what it says twice is held to all the same.
    let asked = with(&theirs, "question", "question = \"Was that all?\"");
    assert_eq!(replay(&folder, &sealed(&asked)).0, 0);
    for bad in
        [with(&theirs, "clock", "clock = \"wall\""), theirs[..theirs.rfind("[[expect]]").unwrap()].to_owned()]
    {
        let (code, stdout, stderr) = replay(&folder, &sealed(&bad));
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    }
}
