//! A run that was killed is taken up again, and ends as if nobody had killed it.

use std::path::Path;
use std::time::{Duration, Instant};

use skewlab::record::Run;
use skewlab::suite::JOURNAL;

use crate::runs::{ended, skewlab};

fn stored(dir: &Path) -> Run {
    serde_json::from_str(&std::fs::read_to_string(dir.join("run.json")).unwrap()).unwrap()
}

fn lines(dir: &Path) -> usize {
    std::fs::read_to_string(dir.join(JOURNAL)).map_or(0, |text| text.lines().count())
}

#[test]
fn what_was_finished_before_a_kill_does_not_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, killed) = (dir.path().join("whole"), dir.path().join("killed"));
    let [whole_arg, killed_arg] = [&whole, &killed].map(|path| path.to_str().unwrap());
    let cells = ["matrix", "release-skew", "frame-mutants", "--jobs", "1"];
    let (code, ..) = ended(skewlab(&cells).args(["--out", whole_arg]));
    assert_eq!(code, 0);
    assert!(!whole.join(JOURNAL).exists(), "a run at its end needs none");

    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skewlab"));
    child.args(cells).args(["--out", killed_arg]).stdout(std::process::Stdio::null());
    let mut child = child.spawn().unwrap();
    let patience = Instant::now() + Duration::from_mins(2);
    while lines(&killed) < 20 {
        assert!(
            child.try_wait().unwrap().is_none() && Instant::now() < patience,
            "it was to be killed on its way"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL: nothing in the process gets to tidy up.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!killed.join("run.json").exists());
    let before = lines(&killed) - 1;

    // Another seed is another run.
    let (code, _, stderr) = ended(skewlab(&cells).args(["--seed", "2", "--resume", killed_arg]));
    assert!(code == 2 && stderr.contains("begun with seed 1, and this is 2"), "{stderr}");

    // Another build is another skewlab, whatever its version says; a copy of this one is this one.
    let other = dir.path().join("skewlab");
    std::fs::copy(env!("CARGO_BIN_EXE_skewlab"), &other).unwrap();
    std::io::Write::write_all(&mut std::fs::File::options().append(true).open(&other).unwrap(), b"\n")
        .unwrap();
    let resumed =
        std::process::Command::new(&other).args(cells).args(["--resume", killed_arg]).output().unwrap();
    let told = String::from_utf8(resumed.stderr).unwrap();
    assert!(resumed.status.code() == Some(2) && told.contains("another build of this version"), "{told}");

    let (code, _, stderr) = ended(skewlab(&cells).args(["-v", "--resume", killed_arg]));
    assert_eq!(code, 0, "{stderr}");
    // The line that was being written when it died may be half.
    let told = |n: usize| stderr.contains(&format!("{n} cells are finished and do not run again"));
    assert!(told(before) || told(before - 1), "{before}: {stderr}");
    let (one_go, resumed) = (stored(&whole), stored(&killed));
    assert_eq!((&resumed.digest, resumed.cells.len()), (&one_go.digest, one_go.cells.len()));
    let again = one_go.cells.iter().filter(|cell| stderr.contains(&format!("  {}: ", cell.id))).count();
    assert!(
        (one_go.cells.len() - before..=one_go.cells.len() - before + 1).contains(&again),
        "{again} and {before}"
    );
    assert!(!killed.join(JOURNAL).exists());

    let (code, _, stderr) = ended(skewlab(&cells).args(["--resume", killed_arg]));
    assert!(code == 2 && stderr.contains("there is no run to take up"), "{stderr}");
}

#[test]
fn plain_progress_and_its_opposites_keep_standard_output_to_the_result() {
    let cells = ["matrix", "release-skew", "--client", "python-1.58.2"];
    let (_, table, _) = ended(&mut skewlab(&cells));
    for (flags, lines) in [(&["-q"][..], 0), (&["--progress", "none"], 0), (&["-v"], 1)] {
        let (code, stdout, stderr) = ended(skewlab(&cells).args(flags));
        let timeless = |text: &str| text.lines().filter(|l| !l.contains("cells/s")).count();
        assert_eq!((code, timeless(&stdout)), (0, timeless(&table)), "{flags:?}");
        let told = stderr.lines().filter(|line| line.contains("release-skew/")).count();
        assert_eq!(told > 0, lines > 0, "{flags:?}: {stderr}");
    }
    let (code, _, stderr) = ended(skewlab(&cells).args(["-q", "-v"]));
    assert!(code == 2 && stderr.contains("cannot be used with"), "{stderr}");
}

#[test]
fn ctrl_c_leaves_a_valid_result_that_says_what_is_missing_and_can_be_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let (out, junit) = (dir.path().join("out"), dir.path().join("j.xml"));
    let (out_arg, report) = (out.to_str().unwrap(), format!("junit={}", junit.display()));
    let cells = ["matrix", "frame-mutants", "--server", "1.5*", "--jobs", "1"];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skewlab"));
    child.args(cells).args(["--out", out_arg, "--report", &report]);
    let mut child =
        child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_mins(2);
    while lines(&out) < 20 {
        assert!(
            child.try_wait().unwrap().is_none() && Instant::now() < patience,
            "it was to be stopped on its way"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let asked = Instant::now();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(13), "a run that is not whole is no success");
    assert!(asked.elapsed() < Duration::from_secs(30));
    let part = stored(&out);
    let missing = part.cells.iter().filter(|cell| cell.verdict == skewlab::record::Verdict::NotRun).count();
    assert!(missing > 0 && missing < part.cells.len(), "{missing} of {}", part.cells.len());
    assert!(std::fs::read_to_string(&junit).unwrap().contains("not_run"));
    let (code, _, stderr) = ended(skewlab(&cells).args(["--resume", out_arg]));
    assert_eq!(code, 0, "{stderr}");
    let whole = stored(&out);
    assert_eq!((whole.totals.rig, whole.cells.len()), (0, part.cells.len()));
}
