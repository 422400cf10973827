//! `skewlab live setup` and `doctor` with a uv, a Python and an npm that are shell scripts: what is kept, what is redone, and
//! what a failure is told.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PYTHON: &str = r#"#!/bin/sh
case "$*" in
  *platform.python_version*) printf '%s\n3.12.9\ncpython-312\n' "$0" ;;
  *"pip index versions"*) [ -e "$HOME/offline" ] && { cat "$HOME/offline" >&2; exit 1; }
    echo "Available versions: 1.58.2, 1.58.1, 1.57.0, 1.43.1, 1.35.0" ;;
  *importlib.metadata*) echo '{"packages": {"openhands-agent-server": "1.58.2"}, "hashes": {}}' ;;
esac
"#;

/// Runs `install.sh` of the home where a test put one.
const UV: &str = r#"#!/bin/sh
for last; do :; done
case "$1 $2" in
  --version*) echo "uv 0.0.1" ;;
  "cache dir") echo "$HOME/uv" ;;
  venv*) mkdir -p "$last/bin" && cp "$(dirname "$0")/python3.12" "$last/bin/python" ;;
  "pip install") echo "$*" >>"$HOME/installs"
    if [ -e "$HOME/install.sh" ]; then . "$HOME/install.sh"; fi ;;
esac
"#;

const NPM: &str = r#"#!/bin/sh
case "$1" in
  --version) echo 1.0 ;;
  view) echo '{"versions": ["1.20.0"], "dist-tags": {"latest": "1.20.0"}}' ;;
  pack) mkdir -p "$HOME/package/build" "$HOME/package/dist"
    echo hello >"$HOME/package/build/index.html"; echo '{}' >"$HOME/package/package.json"
    echo large >"$HOME/package/dist/map"
    tar -czf "$4/canvas.tgz" -C "$HOME" package ;;
esac
"#;

/// A machine with nothing on it but the fakes and a few programs that they use.
struct Machine(TempDir);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        for folder in ["bin", "home"] {
            std::fs::create_dir(machine.at(folder)).unwrap();
        }
        machine.program("python3.12", PYTHON);
        machine.program("uv", UV);
        machine.program("npm", NPM);
        machine.program("node", "#!/bin/sh\necho v20.0.0\n");
        machine.program("git", "#!/bin/sh\necho git version 2\n");
        for name in ["cat", "cp", "dirname", "gzip", "mkdir", "rmdir", "sleep", "tar"] {
            let real =
                ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(name)).into_iter().find(|p| p.exists());
            std::os::unix::fs::symlink(real.unwrap(), machine.at("bin").join(name)).unwrap();
        }
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.at("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What `uv pip install` does from now on.
    fn install(&self, script: &str) {
        std::fs::write(self.at("home/install.sh"), script).unwrap();
    }

    fn installs(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.at("home/installs")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skewlab"));
        command.arg("live").args(args).env_clear();
        command
            .env("PATH", self.at("bin"))
            .env("HOME", self.at("home"))
            .env("SKEWLAB_CACHE", self.at("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        ended(self.start(args))
    }

    fn ready(&self, name: &str) -> bool {
        self.at("cache").join(name).join("READY.json").exists()
    }
}

fn ended(child: Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn within_ten_seconds(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(10), "not within ten seconds: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_environment_is_made_once_with_the_pins_of_its_release() {
    let machine = Machine::new();
    let (code, stdout, stderr) =
        machine.run(&["setup", "--servers", "1.43.1,latest", "--clients", "python-1.58.2"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("latest is 1.58.2, as of ") && stdout.contains("ready before"), "{stdout}");
    let installs = machine.installs();
    assert_eq!(installs.len(), 2, "{installs:?}");
    assert!(
        installs[0].contains("openhands-sdk==1.43.1") && installs[0].ends_with("fastapi<0.130"),
        "{installs:?}"
    );
    assert!(
        installs[1].contains("openhands-tools==1.58.2") && !installs[1].contains("fastapi"),
        "{installs:?}"
    );
    std::fs::write(machine.at("home/offline"), "no network").unwrap();
    // What is here needs no network, and `latest` is still what it was.
    let (code, _, stderr) = machine.run(&["setup", "--servers", "1.43.1"]);
    assert_eq!((code, machine.installs().len()), (0, 2), "{stderr}");
    let (code, stdout, _) = machine.run(&["doctor", "--servers", "latest,1.58.2+AB"]);
    assert!(code == 0 && stdout.contains("latest is 1.58.2, as of "), "{stdout}");
}

#[test]
fn what_does_not_resolve_is_laid_over_its_base() {
    let machine = Machine::new();
    machine.install(
        "case \"$*\" in *--no-deps*) ;; *==1.35.0*) echo '  × No solution found when resolving dependencies:'; exit 1 ;; esac",
    );
    let (code, stdout, stderr) = machine.run(&["setup", "--servers", "1.35.0"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("runs on the dependencies of 1.43.1"), "{stdout}");
    let installs = machine.installs();
    assert!(installs[0].contains("==1.35.0") && !installs[0].contains("--no-deps"), "{installs:?}");
    assert!(installs[1].contains("openhands-sdk==1.43.1"), "{installs:?}");
    assert!(
        installs[2].contains("--no-deps") && installs[2].contains("openhands-sdk==1.35.0"),
        "{installs:?}"
    );
    // It is no use without its base, and needs none where it installs by itself.
    std::fs::remove_dir_all(machine.at("cache/envs/python-1.43.1")).unwrap();
    let (code, stdout, _) = machine.run(&["doctor", "--servers", "1.35.0"]);
    assert!(code == 13 && stdout.contains("it runs on python-1.43.1, and that is not set up"), "{stdout}");
    assert!(stdout.contains("mend: skewlab live setup --servers 1.35.0"), "{stdout}");
    assert_eq!(machine.run(&["setup", "--servers", "1.35.0"]).0, 0);
    assert_eq!(machine.run(&["doctor"]).0, 13, "no Chromium");
    assert_eq!(machine.run(&["doctor", "--servers", "1.35.0"]).0, 0);
    machine.install("");
    std::fs::remove_dir_all(machine.at("cache/envs")).unwrap();
    let (code, stdout, _) = machine.run(&["setup", "--servers", "1.35.0"]);
    assert!(code == 0 && !stdout.contains("1.43.1"), "{stdout}");
}

#[test]
fn a_killed_set_up_leaves_no_installer_and_is_begun_again() {
    let machine = Machine::new();
    machine.install("echo $$ >\"$HOME/pid\"; sleep 60");
    let mut child = machine.start(&["setup", "--servers", "1.58.2"]);
    let pid =
        || std::fs::read_to_string(machine.at("home/pid")).ok().and_then(|t| t.trim().parse::<u32>().ok());
    within_ten_seconds("the installer is at work", || pid().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let installer = PathBuf::from(format!("/proc/{}", pid().unwrap()));
    // A process whose parent has not looked yet is a zombie, which is dead.
    let dead = || std::fs::read_to_string(installer.join("stat")).map_or(true, |stat| stat.contains(") Z "));
    within_ten_seconds("the installer is gone", dead);
    // Without uv the set-up would install it: nothing to mend by hand.
    std::fs::rename(machine.at("bin/uv"), machine.at("uv")).unwrap();
    let (_, stdout, _) = machine.run(&["doctor", "--servers", "1.58.2"]);
    assert_eq!(stdout.matches("mend:").count(), 1, "{stdout}");
    std::fs::rename(machine.at("uv"), machine.at("bin/uv")).unwrap();
    let left = machine.at("cache/envs/python-1.58.2/half");
    std::fs::write(&left, "").unwrap();
    let (code, stdout, _) = machine.run(&["doctor", "--servers", "1.58.2"]);
    assert!(code == 13 && stdout.contains("its set-up did not come to its end"), "{stdout}");
    assert!(stdout.contains("mend: skewlab live setup --servers 1.58.2"), "{stdout}");
    machine.install("");
    let (code, _, stderr) = machine.run(&["setup", "--servers", "1.58.2"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(machine.ready("envs/python-1.58.2") && !left.exists(), "{stderr}");
    assert_eq!(machine.run(&["doctor", "--servers", "1.58.2"]).0, 0);
}

#[test]
fn two_set_ups_of_one_environment_take_turns() {
    let machine = Machine::new();
    machine.install("mkdir \"$HOME/busy\" || exit 9; sleep 1; rmdir \"$HOME/busy\"");
    let children = [(); 2].map(|()| machine.start(&["setup", "--servers", "1.58.2"]));
    let all = children.map(ended);
    assert!(all.iter().all(|(code, ..)| *code == 0), "{all:?}");
    assert_eq!(machine.installs().len(), 1, "{all:?}");
    let waited = all.iter().filter(|(_, stdout, stderr)| {
        stdout.contains("ready before") && stderr.contains("waiting for another set-up")
    });
    assert_eq!(waited.count(), 1, "{all:?}");
}

#[test]
fn an_installers_failure_is_in_its_own_words_shortened_with_the_log_named() {
    let machine = Machine::new();
    machine.install(
        "echo Resolved 9 packages; echo 'error: a.whl is no zip file'; \
         i=0; while [ $i -lt 40 ]; do echo \"  line $i\"; i=$((i+1)); done; exit 2",
    );
    let (code, stdout, stderr) = machine.run(&["setup", "--servers", "1.58.2"]);
    assert_eq!((code, stdout.as_str()), (13, ""), "{stderr}");
    assert!(stderr.contains("error: a.whl is no zip file") && stderr.contains("exit status: 2"), "{stderr}");
    assert!(!stderr.contains("line 30") && stderr.contains("and 29 more lines"), "{stderr}");
    let log = machine.at("cache/logs/python-1.58.2/install.log");
    assert!(stderr.contains(&log.display().to_string()), "{stderr}");
    assert!(std::fs::read_to_string(log).unwrap().contains("line 39"));
    assert!(!machine.at("cache/envs/python-1.58.2").exists(), "half of one is kept");
}

#[test]
fn a_full_disk_and_a_closed_network_are_told_as_such() {
    let machine = Machine::new();
    machine.install("echo 'error: failed to write: No space left on device (os error 28)' >&2; exit 2");
    let (code, _, stderr) = machine.run(&["setup", "--servers", "1.58.2"]);
    assert!(code == 13 && stderr.contains("is full") && stderr.contains("--cache DIR"), "{code}: {stderr}");
    std::fs::write(machine.at("home/offline"), "ERROR: cannot connect to proxy\n").unwrap();
    let (code, _, stderr) = machine.run(&["setup", "--servers", "latest"]);
    assert!(code == 13 && stderr.contains("cannot connect to proxy"), "{code}: {stderr}");
}

#[test]
fn what_cannot_be_set_up_is_told_the_nearest_that_can() {
    let machine = Machine::new();
    for (args, said) in [
        (["--servers", "1.58.9"], "there is no openhands-agent-server 1.58.9; did you mean `1.58.2`"),
        (["--servers", "latest-77"], "5 versions, from 1.35.0 to 1.58.2"),
        (["--servers", "lates"], "did you mean `latest`"),
        (["--servers", "path:/nowhere/at/all"], "/nowhere/at/all: No such file"),
        (["--servers", "/nowhere/openhands_sdk-1.0.0-py3-none-any.whl"], "No such file"),
        (["--clients", "1.58.2"], "did you mean `python-1.58.2`"),
        (["--clients", "browser-1.21.0"], "did you mean `1.20.0`"),
        (["--clients", "browser-nightly"], "its tags are latest"),
    ] {
        let (code, stdout, stderr) = machine.run(&["setup", args[0], args[1]]);
        assert_eq!((code, stdout.contains("ready")), (2, false), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    assert_eq!(machine.installs(), [""; 0]);
}

#[test]
fn of_a_front_end_only_what_a_browser_loads_is_kept() {
    let machine = Machine::new();
    machine.program("chromium", "#!/bin/sh\necho Chromium 1\n");
    let (code, stdout, stderr) = machine.run(&["setup", "--clients", "browser-latest"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Chromium 1 ") && stdout.contains("browser-latest is 1.20.0"), "{stdout}");
    let dir = machine.at("cache/npm/browser-1.20.0");
    assert_eq!(std::fs::read_to_string(dir.join("build/index.html")).unwrap(), "hello\n");
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["READY.json", "build", "package.json"]);
    assert_eq!(machine.run(&["doctor", "--clients", "browser-latest"]).0, 0);
    std::fs::remove_file(machine.at("bin/node")).unwrap();
    std::fs::remove_file(machine.at("bin/chromium")).unwrap();
    let (code, stdout, _) = machine.run(&["doctor", "--clients", "browser-1.20.0,typescript-1.39.0"]);
    assert_eq!(code, 13);
    for said in ["install Node.js 20", "--chromium FILE or SKEWLAB_CHROMIUM", "--clients typescript-1.39.0"] {
        assert!(stdout.contains(said), "{stdout}");
    }
    let (code, _, stderr) = machine.run(&["setup", "--clients", "typescript-1.39.0,browser-1.20.0"]);
    assert_eq!(code, 13);
    assert!(stderr.contains("no node found") && stderr.contains("no Chromium found"), "{stderr}");
}
