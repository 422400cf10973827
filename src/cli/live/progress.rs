//! How a set-up goes on: a line that moves on a terminal, otherwise a line for each step.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};

use indicatif::{ProgressBar, ProgressStyle};

use crate::live::env::Steps;

/// Shows steps on standard error.
pub(super) struct Progress {
    /// `None` where nobody watches.
    bar: Option<ProgressBar>,
    /// The environment that is being set up, for whoever interrupts.
    at: Arc<Mutex<String>>,
    step: String,
}

impl Progress {
    pub(super) fn new(at: Arc<Mutex<String>>) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {prefix} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Progress { bar, at, step: String::new() }
    }
}

impl Steps for Progress {
    fn step(&mut self, name: &str, what: &str) {
        name.clone_into(&mut self.at.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        what.clone_into(&mut self.step);
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("{name}:"));
                bar.set_message(what.to_owned());
                bar.tick();
            }
            None => eprintln!("{name}: {what}"),
        }
    }

    fn tick(&mut self, said: Option<&str>) {
        if let Some(bar) = &self.bar {
            if let Some(said) = said {
                bar.set_message(format!("{} … {said}", self.step));
            }
            bar.tick();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
