//! An error ends with what to do next.

use crate::runs::{Folder, ended, skewlab};

#[test]
fn the_common_mistakes_end_with_the_next_step() {
    let folder = Folder::new();
    let scenario = |name: &str, text: &str| folder.scenario(name, text);
    let pair = "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]";
    let fine = scenario("fine", pair);
    let twin = folder.write("twin/fine.toml", &std::fs::read_to_string(&fine).unwrap());
    let typed = scenario("typed", "servers = \"*\"\nclients = [\"python-1.58.2\"]");
    let misspelt = scenario("misspelt", &format!("{pair}\n[[expect]]\nverdict = \"silent_los\""));
    folder.profile("servers", "1.58.2+bad", "1.58.2", "[bus]\nfan_out = 3");
    let profiles = folder.arg("");
    folder.write("lost/clients/l.toml", "name = \"python-9\"\nextends = \"python-8\"\nsummary = \"s\"\n");
    let lost = folder.arg("lost");
    folder.write("taken/servers/t.toml", "name = \"1.43.1\"\nextends = \"1.58.2\"\nsummary = \"s\"\n");
    let taken = folder.arg("taken");
    let blocked = folder.write("blocked", "");
    let out = format!("{blocked}/out");
    let empty = folder.write("empty.jsonl", "");
    for (args, code, next) in [
        (&["matrix", "release-skwe"][..], 2, "skewlab list scenarios"),
        (&["matrix", "nowhere/at-all.toml"], 2, "skewlab init"),
        (&["matrix", &typed], 2, "skewlab generate schema scenario"),
        (&["matrix", &misspelt], 2, "did you mean `silent_loss`?"),
        (&["matrix", &fine, &twin], 2, "rename one"),
        (&["matrix", "--server", "8.8.8"], 2, "skewlab list servers"),
        (&["matrix", "--client", "pyton"], 2, "skewlab list clients"),
        (&["matrix", "session-feed", "--variant", "mirored"], 2, "skewlab list variants"),
        (&["matrix", "session-feed", "--consumer", "rendrer"], 2, "skewlab list consumers"),
        (&["matrix", "--client", "python-1.55.1/nope"], 2, "skewlab explain python-1.55.1"),
        (&["matrix", "--only", "[a"], 2, "skewlab plan"),
        (&["matrix", "--only", "nothing"], 4, "skewlab plan"),
        (
            &["plan", "--profiles", &profiles, "--server", "1.58.2+bad"],
            2,
            "skewlab generate schema server-profile",
        ),
        (&["plan", "--profiles", &lost, "--client", "python-9"], 2, "skewlab list clients"),
        (&["plan", "--profiles", &taken], 2, "a name of its own"),
        (&["plan", "--profiles", "/nowhere/at/all"], 2, "servers/*.toml"),
        (&["matrix", &fine, "--out", &out], 2, "--out"),
        (&["explain", "xyzzy"], 2, "skewlab list"),
        (&["check", "/nowhere.jsonl"], 2, "may be read"),
        (&["check", &empty], 4, "one frame a line"),
        (&["check", &empty, "--clients", "zzz*"], 2, "skewlab list clients"),
        (&["idle", "--server", "zzz*"], 2, "skewlab list servers"),
        (&["serve", "--server", "1.58.2", "--mutation", "source"], 2, "-field"),
        (&["serve", "--server", "1.58.2", "--script", "release-skew:chad"], 2, "chat"),
        (&["generate", "schema", "xyzzy"], 2, "there are run"),
        (&["matrix", "--bogus"], 2, "--help"),
        (&["judge", "/nowhere"], 2, "--record"),
    ] {
        let (found, stdout, stderr) = ended(&mut skewlab(args));
        assert_eq!(found, code, "{args:?}: {stderr}");
        assert!(code != 2 || stdout.is_empty(), "{args:?}: {stdout}");
        let end: Vec<&str> = stderr.trim_end().lines().rev().take(3).collect();
        assert!(end.iter().any(|line| line.contains(next)), "{args:?} does not end with {next}:\n{stderr}");
    }
}
