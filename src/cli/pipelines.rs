//! What `docs/ci`, `action.yml` and `init` tell a pipeline to type can be typed: every command line in them is read as the
//! binary reads its own, so that no flag is renamed without them.

use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::args::{Args, Command};
use super::live::LiveCommand;

/// Every file of a pipeline, by its place, as a person gets it.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root.join("docs/ci")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.push(root.join("action.yml"));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        (name, std::fs::read_to_string(path).unwrap())
    };
    let mut files: Vec<(String, String)> = paths.into_iter().map(read).collect();
    files.extend(super::init::files().into_iter().map(|(name, text)| (format!("init: {name}"), text)));
    files.retain(|(name, _)| {
        Path::new(name).extension().is_some_and(|ending| ending == "yml" || ending == "sh")
    });
    files
}

/// Blanks before the first sign.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The shell lines of a workflow: what stands behind `run:`, on its line or as a block, and the items of GitLab's `script:`.
fn shell_of_yaml(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let item = line.trim_start().trim_start_matches("- ");
        let Some((key, value)) = item.split_once(':').filter(|(key, _)| ["run", "script"].contains(key))
        else {
            continue;
        };
        // The block is what is indented more than its key.
        let own = line.len() - item.len();
        let rest = &lines[at..];
        let end =
            rest.iter().position(|line| !line.trim().is_empty() && indent(line) <= own).unwrap_or(rest.len());
        let block: Vec<&str> = rest[..end].iter().map(|line| line.trim()).collect();
        at += end;
        match (key, value.trim()) {
            ("run", folded) if folded.starts_with('>') => found.push(block.join(" ")),
            ("run", literal) if literal.starts_with('|') => {
                found.extend(block.iter().map(|line| (*line).to_owned()));
            }
            ("run", one) => found.push(one.to_owned()),
            _ => found.extend(block.iter().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned)),
        }
    }
    found
}

/// The lines of a script, those that go on below as one.
fn joined(lines: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let (text, goes_on) = line.strip_suffix('\\').map_or((line.as_str(), false), |text| (text, true));
        match all.last_mut().filter(|_| open) {
            Some(last) => last.push_str(text.trim_start()),
            None => all.push(text.to_owned()),
        }
        open = goes_on;
    }
    all
}

/// The commands of a shell line as words. A variable becomes a word that fits anywhere, a list of further ones nothing.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        match (sign, quote) {
            ('"' | '\'', None) => (quote, begun) = (Some(sign), true),
            (sign, Some(open)) if sign == open => quote = None,
            ('$', None | Some('"')) => {
                let mut name = String::new();
                if signs.peek() == Some(&'{') {
                    // `${list[@]+"${list[@]}"}`: braces within braces.
                    let mut depth = 0;
                    for sign in signs.by_ref() {
                        depth += i32::from(sign == '{') - i32::from(sign == '}');
                        name.push(sign);
                        if depth == 0 {
                            break;
                        }
                    }
                } else {
                    while let Some(sign) = signs.next_if(|sign| sign.is_ascii_alphanumeric() || *sign == '_')
                    {
                        name.push(sign);
                    }
                }
                if !name.contains("[@]+") {
                    begun = true;
                    word.push_str("variable");
                }
            }
            (' ' | '|' | '&' | ';', None) => {
                if std::mem::take(&mut begun) {
                    all.last_mut().unwrap().push(std::mem::take(&mut word));
                }
                if sign != ' ' {
                    all.push(Vec::new());
                }
            }
            (sign, _) => {
                begun = true;
                word.push(sign);
            }
        }
    }
    if begun {
        all.last_mut().unwrap().push(word);
    }
    all.retain(|command| !command.is_empty());
    all
}

/// Every command line of skewlab in a file.
fn typed(name: &str, text: &str) -> Vec<Vec<String>> {
    let script = Path::new(name).extension().is_some_and(|ending| ending == "sh");
    let lines = if script { text.lines().map(str::to_owned).collect() } else { shell_of_yaml(text) };
    let lines = joined(lines).into_iter().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| commands(&line)).filter(|words| words[0] == "skewlab").collect()
}

/// Why it cannot be typed: clap's words, or those of a version that nobody can set up.
fn refused(words: &[String]) -> Option<String> {
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return Some(error.to_string()),
    };
    let parties = match &args.command {
        Command::Live(LiveCommand::Setup(setup)) => &setup.parties,
        Command::Live(LiveCommand::Matrix(matrix)) => &matrix.parties,
        _ => return None,
    };
    parties.wanted().err().map(|error| error.to_string())
}

#[test]
fn every_command_line_of_a_pipeline_can_be_typed() {
    let mut count = 0;
    for (name, text) in files() {
        for words in typed(&name, &text) {
            assert_eq!(refused(&words), None, "{name}: {}", words.join(" "));
            count += 1;
        }
    }
    assert!(count >= 7, "{count} command lines were found");
}

#[test]
fn a_command_line_that_cannot_be_typed_is_found_wherever_it_stands() {
    let yaml = "jobs:\n  a:\n    steps:\n      - run: skewlab matrix --nown x\n      - name: b\n        run: |\n          set -e\n\
                \x20         FOO=1; skewlab compare \"$A\" \\\n            b --formt json | tee x\n      - run: >-\n\
                \x20         skewlab live\n          setup --clients latest\n\n  script:\n    - cd x && skewlab plann\n    - bash gate.sh\n";
    let found = typed("a.yml", yaml);
    let lines: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
    assert_eq!(
        lines,
        [
            "skewlab matrix --nown x",
            "skewlab compare variable b --formt json",
            "skewlab live setup --clients latest",
            "skewlab plann",
        ]
    );
    let why: Vec<String> = found.iter().map(|words| refused(words).unwrap()).collect();
    for (why, what) in why.iter().zip(["--nown", "--formt", "python-latest", "plann"]) {
        assert!(why.contains(what), "{why}");
    }
    let script = "skewlab matrix \"${s[@]}\" ${a[@]+\"${a[@]}\"} --out \"$out\" \\\n    --report junit=\"$out/j.xml\"\n# skewlab x\n";
    let found = typed("gate.sh", script);
    assert_eq!(found[0].join(" "), "skewlab matrix variable --out variable --report junit=variable/j.xml");
    assert!(found.len() == 1 && refused(&found[0]).is_none());
}

/// What a YAML reader would refuse first, and what one would take without a word: tabs, a line that is neither a key, an item
/// nor part of a block, indentation that leads nowhere, and one key twice.
fn faults_of_yaml(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    // Mappings that are open: how far they are indented, and their keys.
    let mut open: Vec<(usize, Vec<String>)> = Vec::new();
    let mut block: Option<usize> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.contains('\t') {
            faults.push(format!("{number}: a tab"));
        }
        let own = indent(line);
        if line.trim().is_empty() || block.is_some_and(|of| own > of) || line.trim_start().starts_with('#') {
            continue;
        }
        block = None;
        let mut at = own;
        let mut rest = &line[own..];
        while let Some(item) = rest.strip_prefix("- ") {
            // A new item is a new mapping.
            open.retain(|(depth, _)| *depth <= at);
            (at, rest) = (at + 2, item);
            open.retain(|(depth, _)| *depth < at);
        }
        open.retain(|(depth, _)| *depth <= at);
        let key = rest.split_once(':').filter(|(key, value)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            !key.is_empty() && key.chars().all(plain) && (value.is_empty() || value.starts_with(' '))
        });
        let Some((key, value)) = key else {
            if line.trim_start().starts_with("- ") {
                continue;
            }
            faults.push(format!("{number}: neither a key nor an item"));
            continue;
        };
        match open.last_mut() {
            Some((depth, keys)) if *depth == at => {
                if keys.iter().any(|known| known == key) {
                    faults.push(format!("{number}: `{key}` twice"));
                }
                keys.push(key.to_owned());
            }
            Some((depth, _)) if !(at - *depth).is_multiple_of(2) => {
                faults.push(format!("{number}: indented by an odd number"));
            }
            _ => open.push((at, vec![key.to_owned()])),
        }
        if ["|", ">-", ">", "|-"].contains(&value.trim()) {
            block = Some(at);
        }
    }
    faults
}

#[test]
fn the_files_are_yaml_as_far_as_can_be_told_without_a_reader() {
    let mut count = 0;
    for (name, text) in
        files().iter().filter(|(name, _)| Path::new(name).extension().is_some_and(|e| e == "yml"))
    {
        assert_eq!(faults_of_yaml(text), Vec::<String>::new(), "{name}");
        let top = |key: &str| text.lines().any(|line| line.starts_with(&format!("{key}:")));
        match name.as_str() {
            "action.yml" => {
                assert!(["name", "description", "inputs", "outputs", "runs"].into_iter().all(top));
            }
            "docs/ci/gitlab-ci.yml" => assert!(text.contains("\n  script:\n")),
            _ => assert!(["name", "on", "permissions", "jobs"].into_iter().all(top), "{name}"),
        }
        count += 1;
    }
    assert_eq!(count, 6);
    for (bad, what) in [
        ("a:\n\tb: 1\n", "a tab"),
        ("a: 1\nb: 2\na: 3\n", "`a` twice"),
        ("on:\n  push:\n  push:\n", "`push` twice"),
        ("s:\n  - uses: a\n    with: b\n    uses: c\n", "`uses` twice"),
        ("a:\n  b: 1\n     c: 2\n", "indented by an odd number"),
        ("a:\n  b\n", "neither"),
    ] {
        assert!(
            faults_of_yaml(bad).iter().any(|fault| fault.contains(what)),
            "{bad}: {:?}",
            faults_of_yaml(bad)
        );
    }
    assert!(
        faults_of_yaml("s:\n  - uses: a\n  - uses: b\n    run: |\n      x: 1\n      x: 1\nt: 1\n").is_empty()
    );
}

#[test]
fn actions_are_pinned_and_a_placeholder_says_what_to_put_there() {
    let mut placeholders = 0;
    for (name, text) in files() {
        for line in text.lines() {
            let Some(action) = line.trim().trim_start_matches("- ").strip_prefix("uses: ") else { continue };
            let (action, comment) = action.split_once(" # ").unwrap_or((action, ""));
            let version = action.split_once("@v").unwrap_or_else(|| panic!("{name}: {action}")).1;
            assert_eq!(
                version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(),
                3,
                "{name}: {action}"
            );
            if let Some(place) = action.strip_suffix(&format!("/skewlab@v{}", env!("CARGO_PKG_VERSION"))) {
                assert_eq!(place, "REPLACE-WITH-OWNER", "{name}");
                assert!(comment.contains("replace") && comment.contains("owner"), "{name}: {line}");
                placeholders += 1;
            }
        }
    }
    assert_eq!(placeholders, 3);
}
