//! `skewlab generate`: completions and manual pages have every command, and no internal one.

use std::collections::BTreeSet;

use crate::runs::{Folder, ended, skewlab};

/// Every command as a person types it, `bench fanout`, read out of the help.
fn commands(of: &[&str]) -> BTreeSet<String> {
    let (code, help, _) = ended(skewlab(of).arg("--help"));
    assert_eq!(code, 0, "{of:?}");
    let mut found = BTreeSet::new();
    let Some((_, list)) = help.split_once("Commands:\n") else { return found };
    for line in list.lines().take_while(|line| line.starts_with("  ")) {
        let Some(name) =
            line.strip_prefix("  ").filter(|l| !l.starts_with(' ')).and_then(|l| l.split(' ').next())
        else {
            continue;
        };
        if name != "help" {
            let path: Vec<&str> = of.iter().copied().chain([name]).collect();
            found.extend(commands(&path));
            found.insert(path.join(" "));
        }
    }
    found
}

#[test]
fn every_shell_gets_every_command() {
    let commands = commands(&[]);
    assert!(commands.len() > 25 && commands.contains("live bench fanout"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, err) = ended(&mut skewlab(&["generate", "completions", shell]));
        assert_eq!((code, err.as_str()), (0, ""), "{shell}");
        let words: BTreeSet<&str> = out.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for command in &commands {
            let last = command.rsplit(' ').next().unwrap();
            assert!(words.contains(last) || out.contains(last), "{shell}: {command}");
        }
        assert!(out.contains("skewlab") && !internal(&out), "{shell}");
        let again = ended(&mut skewlab(&["generate", "completions", shell])).1;
        assert_eq!(out, again, "{shell}");
    }
    let (code, _, err) = ended(&mut skewlab(&["generate", "completions", "tcsh"]));
    assert!(code == 2 && err.contains("bash"), "{err}");
}

/// How the binary calls itself for its own ends.
fn internal(text: &str) -> bool {
    text.contains(skewlab::live::process::WARDEN)
        || text.contains(skewlab::session_feed::store::crash::FEED_WRITER)
}

#[test]
fn every_command_gets_a_page() {
    let folder = Folder::new();
    let (code, out, err) = ended(&mut skewlab(&["generate", "man", "--out", &folder.arg("man")]));
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let pages = std::fs::read_dir(folder.path("man")).unwrap();
    let pages: BTreeSet<String> =
        pages.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let wanted = commands(&[]).into_iter().map(|command| format!("skewlab-{}.1", command.replace(' ', "-")));
    let wanted: BTreeSet<String> = wanted.chain(["skewlab.1".to_owned()]).collect();
    assert_eq!(pages, wanted);
    for page in &pages {
        let text = std::fs::read_to_string(folder.path("man").join(page)).unwrap();
        assert!(
            text.contains(".SH NAME") && text.contains(".SH SYNOPSIS") && !internal(&text),
            "{page}: {text}"
        );
    }
    let (code, out, _) = ended(&mut skewlab(&["generate", "man"]));
    assert_eq!((code, out), (0, std::fs::read_to_string(folder.path("man/skewlab.1")).unwrap()));
}
