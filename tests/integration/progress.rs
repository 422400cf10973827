//! The bar of a run, in a pseudo terminal: there while the run goes on, gone after it, and never on standard output.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::runs::{Folder, ended, skewlab};

/// Runs it with a terminal of 100 columns on standard error: the exit code, standard output, and all that the terminal got.
fn in_terminal(args: &[&str]) -> (i32, String, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    tcsetwinsize(terminal.as_fd(), Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let seat = File::options().read(true).write(true).open(name).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skewlab"));
    command.args(args).env("TERM", "xterm-256color").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(seat);
    for name in ["GITHUB_ACTIONS", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    let mut child = command.spawn().unwrap();
    // With it goes the last seat of ours: the terminal ends when the child does.
    drop(command);
    let screen = std::thread::spawn(move || {
        let (mut all, mut some, mut terminal) = (Vec::new(), [0; 4096], File::from(terminal));
        // A terminal that nobody has open any more answers with an error.
        while let Ok(read @ 1..) = terminal.read(&mut some) {
            all.extend_from_slice(&some[..read]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), out, screen.join().unwrap())
}

/// Twelve cells, none of which ends as its scenario says.
fn red(folder: &Folder) -> String {
    let text = "servers = [\"1.43.1\", \"1.44.1\", \"1.58.2\"]\n\
                clients = [\"python-1.58.2\", \"python-1.55.1\", \"browser-1.20.0\", \"typescript-1.39.0\"]\n\
                [[expect]]\nverdict = \"leaked\"\nbecause = \"a test wants red\"\n";
    folder.scenario("red", text)
}

/// What the bar showed: cells done, cells in all, and how many were not as expected.
fn shown(screen: &str) -> Vec<(u32, u32, u32)> {
    let number = |text: &str| text.parse::<u32>().ok();
    let one = |before: &str, after: &str| {
        let (done, all) = before.rsplit(' ').next()?.split_once('/')?;
        // The rest of the line is blanks.
        let line = after.split(['\r', '\n', '\u{1b}']).next()?.trim_end();
        let odd = line.split(", ").find_map(|part| number(part.strip_suffix(" not as expected")?));
        Some((number(done)?, number(all)?, odd.unwrap_or(0)))
    };
    let parts: Vec<&str> = screen.split(" cells, ").collect();
    parts.windows(2).filter_map(|pair| one(pair[0], pair[1])).collect()
}

/// Standard output without the line that says how long it took.
fn timeless(out: &str) -> Vec<&str> {
    out.lines().filter(|line| !line.contains("cells/s")).collect()
}

#[test]
fn a_terminal_sees_cells_done_and_findings_and_standard_output_the_result_alone() {
    let folder = Folder::new();
    let red = red(&folder);
    let cells = ["matrix", &red, "--jobs", "1"];
    let (code, out, screen) = in_terminal(&[&cells[..], &["--progress", "auto"]].concat());
    assert_eq!(code, 10, "{out}{screen}");
    let bar = shown(&screen);
    assert!(!bar.is_empty() && bar.iter().all(|(done, all, _)| *all == 12 && done <= all), "{screen:?}");
    assert!(bar.iter().any(|(done, ..)| *done > 0), "{screen:?}");
    assert!(bar.iter().any(|(.., odd)| *odd > 0), "{screen:?}");
    assert!(bar.windows(2).all(|pair| pair[0].0 <= pair[1].0), "it never goes back: {screen:?}");
    // The last thing that it does is to take its line away.
    let rest = screen.rsplit("\u{1b}[2K").next().unwrap();
    assert!(screen.contains("\u{1b}[2K") && !rest.contains("cells"), "{screen:?}");
    // No terminal, no bar; and the same result.
    let (_, piped, stderr) = ended(&mut skewlab(&cells));
    assert!(shown(&stderr).is_empty() && !stderr.contains('\u{1b}'), "{stderr:?}");
    assert_eq!(timeless(&out), timeless(&piped));
    assert!(!out.contains('\u{1b}') && !out.contains('\r'), "{out:?}");
}

#[test]
fn a_green_run_shows_no_findings_and_who_wants_no_bar_gets_none() {
    let cells = ["matrix", "release-skew", "--server", "1.58.2"];
    let (code, _, screen) = in_terminal(&cells);
    assert_eq!(code, 0, "{screen}");
    assert!(shown(&screen).iter().any(|(done, ..)| *done > 0), "{screen:?}");
    assert!(!screen.contains("not as expected"), "{screen:?}");
    for flags in [["--progress", "none"], ["--progress", "plain"], ["-q", "--no-github"]] {
        let (code, out, screen) = in_terminal(&[&cells[..], &flags].concat());
        assert!(code == 0 && out.contains("cells"), "{flags:?}: {out}");
        assert_eq!(screen, "", "{flags:?}");
    }
}
