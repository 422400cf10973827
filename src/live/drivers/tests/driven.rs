//! A driver at the other end of two pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::MARK;

/// Whether the program is there; says so if it is not, because the test then tests nothing.
pub(super) fn available(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

pub(super) struct Driven {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Driven {
    pub(super) fn start(command: &mut Command) -> Driven {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Driven { child, out }
    }

    pub(super) fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next report. Nothing but reports may be on standard output.
    pub(super) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        let said = line.strip_prefix(MARK);
        assert!(line.is_empty() || said.is_some(), "not a report: {line}");
        said.map(|json| serde_json::from_str(json).unwrap())
    }

    /// Reports up to one of this kind, with it.
    pub(super) fn until(&mut self, ev: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let report = self.next().unwrap_or_else(|| panic!("no {ev}, only {all:?}"));
            let last = report["ev"] == ev;
            all.push(report);
            if last {
                return all;
            }
        }
    }

    /// Tells it to quit; what it says then, and its exit code.
    pub(super) fn quit(mut self) -> (Vec<Value>, Option<i32>) {
        self.tell(r#"{"do":"quit"}"#);
        let rest = std::iter::from_fn(|| self.next()).collect();
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        // After `quit` it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Some fields of a report, as one text.
pub(super) fn brief(report: &Value, fields: &[&str]) -> String {
    let words = fields.iter().map(|field| match &report[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    words.collect::<Vec<_>>().join(" ")
}
