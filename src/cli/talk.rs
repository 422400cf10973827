//! How much is said on standard error beside the result: `-q`, `-v`, `--progress`.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use crate::record::{CellResult, Outcome};
use crate::report::words::cell_line;

/// How a run that goes on is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Shown {
    /// A bar on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// A line now and then
    Plain,
    /// Nothing
    None,
}

/// What the command line says of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Talk {
    /// Errors alone.
    pub(super) quiet: bool,
    /// A line for every cell.
    pub(super) verbose: bool,
    /// How a run is shown.
    pub(super) shown: Shown,
}

static TALK: OnceLock<Talk> = OnceLock::new();

/// Settles it, once, before any command runs.
pub(super) fn settle(talk: Talk) {
    let _ = TALK.set(talk);
}

fn talk() -> Talk {
    TALK.get().copied().unwrap_or_default()
}

/// A line that is no result and no error.
pub(super) fn note(line: &str) {
    if !talk().quiet {
        anstream::eprintln!("{line}");
    }
}

/// Between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

/// A run that goes on, on standard error.
pub(super) struct Progress {
    total: usize,
    done: AtomicUsize,
    odd: AtomicUsize,
    began: Instant,
    bar: Option<ProgressBar>,
    /// When the next plain line is due; none where nobody wants one.
    next: Option<Mutex<Instant>>,
}

impl Progress {
    /// Of so many cells, of which some were finished by an earlier attempt.
    pub(super) fn new(total: usize, finished: usize) -> Progress {
        let Talk { quiet, shown, .. } = talk();
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && shown == Shown::Auto && terminal).then(|| bar(total, finished));
        let plain = !quiet && (shown == Shown::Plain || (shown == Shown::Auto && !terminal));
        let began = Instant::now();
        let next = plain.then(|| Mutex::new(began + PAUSE));
        let (done, odd) = (AtomicUsize::new(finished), AtomicUsize::new(0));
        Progress { total: total.max(1), done, odd, began, bar, next }
    }

    /// Whether anybody wants to know what a cell means.
    pub(super) fn wants_outcomes(&self) -> bool {
        self.bar.is_some() || self.next.is_some() || talk().verbose
    }

    /// A cell is finished.
    pub(super) fn step(&self, cell: Option<&CellResult>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let is_odd = |cell: &CellResult| !matches!(cell.outcome, Outcome::Expected | Outcome::Known);
        let odd = usize::from(cell.is_some_and(is_odd));
        let odd = self.odd.fetch_add(odd, Ordering::Relaxed) + odd;
        if let Some(cell) = cell.filter(|_| talk().verbose) {
            self.aside(&cell_line(cell));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
            bar.set_message(findings(odd));
        }
        if let Some(next) = &self.next {
            let mut next = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let now = Instant::now();
            if now >= *next {
                *next = now + PAUSE;
                eprintln!("{}", plain(done, self.total, now - self.began, odd));
            }
        }
    }

    /// A line beside the bar.
    pub(super) fn aside(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| anstream::eprintln!("{line}")),
            None => anstream::eprintln!("{line}"),
        }
    }

    /// Nothing is left of it.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: usize, finished: usize) -> ProgressBar {
    let bar = ProgressBar::new(total as u64).with_position(finished as u64);
    let template = "{bar:24} {pos}/{len} cells, {per_sec}, {eta} left{msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.reset_eta();
    bar
}

fn findings(odd: usize) -> String {
    if odd == 0 { String::new() } else { format!(", {odd} not as expected") }
}

fn plain(done: usize, total: usize, spent: Duration, odd: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "cells of one run are far below 2^52")]
    let rate = done as f64 / spent.as_secs_f64().max(0.001);
    #[expect(clippy::cast_precision_loss, reason = "cells of one run are far below 2^52")]
    let left = total.saturating_sub(done) as f64 / rate;
    format!("{done}/{total} cells, {rate:.1}/s, {left:.0} s left{}", findings(odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_says_how_far_how_fast_how_long_and_what_was_found() {
        let line = plain(120, 600, Duration::from_secs(10), 0);
        assert_eq!(line, "120/600 cells, 12.0/s, 40 s left");
        assert!(plain(1, 2, Duration::ZERO, 3).ends_with("3 not as expected"));
    }
}
