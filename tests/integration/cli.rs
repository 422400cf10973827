//! The binary as a person drives it: exit codes, and what a typing error is told.

use skewlab::record::{CellResult, Run};

use crate::runs::{Folder, ONE, ended, skewlab};

fn code(args: &[&str]) -> i32 {
    ended(&mut skewlab(args)).0
}

#[test]
fn every_exit_code_is_the_documented_one() {
    let folder = Folder::new();
    let pair = "servers = [\"1.58.2+AB\"]\nclients = [\"python@same\"]\n";
    let silent = "[[expect]]\nverdict = \"silent_loss\"\n";
    let known = |day: &str| {
        format!(
            "{pair}[[known]]\nverdict = \"silent_loss\"\nlost_at = \"decoded\"\nreason = \"r\"\nlink = \"l\"\nexpires = {day}\n"
        )
    };
    let run = |name: &str, text: &str| code(&["matrix", &folder.scenario(name, text)]);
    assert_eq!(code(&ONE), 0);
    assert_eq!(run("expected", &format!("{pair}{silent}")), 0);
    assert_eq!(run("unexpected", pair), 10);
    assert_eq!(run("known", &known("9999-12-31")), 0);
    assert_eq!(run("expired", &known("2020-01-01")), 11);
    let passes = format!("{}{silent}", known("9999-12-31"));
    assert_eq!(run("passes", &passes), 11, "as expected, so the known failure is stale");
    let other = known("9999-12-31").replace("decoded", "sent");
    assert_eq!(run("other", &other), 10, "lost at another hop than the known one");
    folder.profile("servers", "1.58.2+hang", "1.58.2", "[mutant]\nhang = true");
    let profiles = folder.arg("");
    let stuck = ["matrix", "release-skew", "--profiles", &profiles, "--server", "1.58.2+hang"];
    assert_eq!(code(&stuck), 13);
    assert_eq!(code(&["matrix", "--only", "nothing-is-called-so"]), 4);
    assert_eq!(code(&["matrix", "--server", "8.*"]), 4);
    assert_eq!(code(&["plan", "--client", "nope-*"]), 4);
    assert_eq!(code(&["matrix", "--bogus"]), 2);
    assert_eq!(code(&["matrix", "--jobs", "0"]), 2);
    assert_eq!((code(&["--help"]), code(&["--version"])), (0, 0));
}

#[test]
fn a_wrong_name_gets_the_nearest_and_leaves_nothing() {
    let folder = Folder::new();
    let out = folder.arg("out");
    for (args, near) in [
        (&["matrix", "release-skwe"][..], "`release-skew`"),
        (&["matrix", "--server", "1.58.3"], "`1.58.2`"),
        (&["matrix", "--client", "pyton-1.58.2"], "`python-1.58.2`"),
        (&["matrix", "--client", "python-1.55.1/token_callback"], "token_callbacks"),
        (&["matrix", "--server", "1.43.1", "--client", "browser-1.20.1"], "`browser-1.20.0`"),
    ] {
        let (code, stdout, stderr) = ended(skewlab(args).args(["--out", &out]));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(near), "{args:?}: {stderr}");
        assert!(!std::path::Path::new(&out).exists(), "{args:?} left something");
    }
    for (args, near) in [
        (["explain", "silent_los"], "`silent_loss`"),
        (["explain", "1.58.22"], "`1.58.2`"),
        (["explain", "browser-sesion"], "`browser-session`"),
        (["list", "server"], "servers"),
    ] {
        let (code, stdout, stderr) = ended(&mut skewlab(&args));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(near), "{args:?}: {stderr}");
    }
    let (_, _, stderr) = ended(&mut skewlab(&["matrix", "--sever", "1.58.2"]));
    assert!(stderr.contains("--server"), "{stderr}");
}

#[test]
fn a_broken_file_is_pointed_at() {
    let folder = Folder::new();
    let pair = "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]";
    // What is wrong, where, what the caret stands under, and what is said.
    let cases = [
        ("servers = [\"1.58.2\"\nclients = [\"*\"]", "4:1", "expected `,`"),
        (&*format!("{pair}\nmutations = [\"source\"]"), "5:14", "`source`"),
        (&*format!("{pair}\nserver = 1"), "5:1", "did you mean `servers`"),
        (&*format!("{pair}\n[[expect]]\nverdict = \"silent_los\""), "6:11", "did you mean `silent_loss`"),
        ("servers = [\"1.58.3\"]\nclients = [\"*\"]", "3:12", "did you mean `1.58.2`"),
        (
            &*format!("{pair}\n[[expect]]\nclient = \"pyton-1.58.2\"\nverdict = \"delivered\""),
            "6:10",
            "python-1.58.2",
        ),
    ];
    for (text, place, said) in cases {
        let file = folder.scenario("broken", text);
        let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &file, "--out", &folder.arg("out")]));
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}");
        assert!(stderr.contains(&format!("broken.toml:{place}\n")), "{text}: {stderr}");
        assert!(stderr.contains(said) && stderr.contains('^'), "{text}: {stderr}");
    }
    assert!(!std::path::Path::new(&folder.arg("out")).exists());
    let (code, _, stderr) = ended(&mut skewlab(&["matrix", "nowhere/at-all.toml"]));
    assert_eq!(code, 2);
    assert!(stderr.contains("nowhere/at-all.toml: "), "{stderr}");
}

#[test]
fn own_profiles_extend_released_ones_and_are_held_to_their_words() {
    let folder = Folder::new();
    let profiles = folder.arg("");
    let run = || {
        let args = ["matrix", "release-skew", "--profiles", &profiles, "--server", "1.58.2+mine"];
        ended(skewlab(&args).args(["--client", "python-1.58.2", "--format", "json"]))
    };
    folder.profile("servers", "1.58.2+mine", "1.58.2", "[delta]\nkind = \"TokenDelta\"");
    let (code, stdout, stderr) = run();
    let result: Run = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, result.cells[0].server.as_str()), (10, "1.58.2+mine"), "{stderr}");
    assert_eq!(result.cells[0].reason.as_ref().unwrap().as_str(), "unknown_kind");
    for (traits, place, said) in [
        ("[delta]\nkind = \"X\"\n\n[bus]\nkind = \"splt\"", ":9:8", "`split`"),
        ("[bus]\nfan = 1", ":6:1", "`fan_out`"),
        ("bux = 1", ":5:1", "`bus`"),
        ("[bus]\nkind = ", ":6:8", "6 | kind = "),
    ] {
        folder.profile("servers", "1.58.2+mine", "1.58.2", traits);
        let (code, stdout, stderr) = run();
        assert_eq!((code, stdout.as_str()), (2, ""), "{traits}");
        assert!(stderr.contains("1.58.2+mine.toml") && stderr.contains(place), "{traits}: {stderr}");
        assert!(stderr.contains(said) && stderr.contains('^'), "{traits}: {stderr}");
    }
    folder.profile("servers", "1.58.2+mine", "1.58.2", "");
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", "--profiles", &profiles, "--format", "json"]));
    let all: Run = serde_json::from_str(&stdout).unwrap();
    let same =
        |c: &&CellResult| c.server == "1.58.2+mine" && c.client_asked.iter().any(|a| a == "python@same");
    let same = all.cells.iter().find(same).unwrap();
    assert_eq!((code, same.client_release.as_str()), (0, "python-1.58.2"), "the tree that it is built from");
    folder.profile("servers", "1.58.2+mine", "1.58.2.0", "");
    let (code, _, stderr) = run();
    assert!(code == 2 && stderr.contains("did you mean `1.58.2`"), "{stderr}");
    folder.write("servers/taken.toml", "name = \"1.43.1\"\nextends = \"1.58.2\"\nsummary = \"s\"\n");
    let (code, _, stderr) = run();
    assert!(code == 2 && stderr.contains("taken.toml") && stderr.contains("exists already"), "{stderr}");
    let (code, _, stderr) = ended(&mut skewlab(&["plan", "--profiles", "/nowhere/at/all"]));
    assert!(code == 2 && stderr.contains("/nowhere/at/all"), "{stderr}");
}

#[test]
fn a_what_if_that_is_mistyped_gets_the_nearest_what_if() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = "question = \"q\"\nservers = [\"1.58.2\"]\nclients = [\"typescript-1.39.0+unbounded-chanel\"]\nworkloads = [\"w\"]\n\
                [workload.w]\ntokens = [\"a\"]\n";
    std::fs::write(&file, text).unwrap();
    let (code, _, stderr) = ended(&mut skewlab(&["matrix", file.to_str().unwrap()]));
    assert!(code == 2 && stderr.contains("did you mean `typescript-1.39.0+unbounded-channel`"), "{stderr}");
}

#[test]
fn list_and_explain_tell_a_newcomer() {
    for (what, count, name) in [
        ("servers", 19, "1.44.1+throttled"),
        ("clients", 30, "browser-session"),
        ("scenarios", 63, "bus-split"),
        ("verdicts", 18, "silent_loss"),
    ] {
        let (code, stdout, _) = ended(&mut skewlab(&["list", what]));
        assert_eq!((code, stdout.lines().count()), (0, count), "{what}");
        let line = stdout.lines().find(|l| l.split(' ').next() == Some(name));
        assert!(line.is_some_and(|l| l.len() > name.len() + 20), "{what}: {name} is not explained");
    }
    for (what, words) in [
        ("silent_loss", &["verdict", "nothing surfaced", "what to do"][..]),
        ("over_budget", &["verdict 16 of 18", "more than the scenario's budget", "what to do"]),
        ("1.44.1", &["server 1.44.1", "covers", "#4689"]),
        ("1.44.1+throttled", &["server 1.44.1+throttled", "What if", "#4706"]),
        ("python-1.47.0", &["client python-1.47.0", "profile python-1.55.1", "callback lists"]),
        ("1.43.1+AB", &["unreleased", "python@same: python-1.43.1+AB", "#4700"]),
        ("1.50.3", &["profile 1.58.2", "python@same: python-1.50.3"]),
    ] {
        let (code, stdout, _) = ended(&mut skewlab(&["explain", what]));
        assert_eq!(code, 0, "{what}");
        assert!(words.iter().all(|w| stdout.contains(w)), "{what}: {stdout}");
    }
}
