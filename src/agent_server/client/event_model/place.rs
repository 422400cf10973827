//! Where in a frame a value is.

use crate::wire::json::LONE_SURROGATE;

/// Where a value is: a list of steps, kept on the stack until an error needs it in words.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    step: Step<'a>,
    outer: Option<&'a Place<'a>>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    /// At `key` of what is at `outer`.
    pub(super) fn key(outer: At<'a>, key: &'a str) -> Place<'a> {
        Place { step: Step::Key(key), outer }
    }

    /// At `index` of what is at `outer`.
    pub(super) fn index(outer: At<'a>, index: usize) -> Place<'a> {
        Place { step: Step::Index(index), outer }
    }

    /// The steps joined by dots, as pydantic reports are printed.
    pub(super) fn words(&self) -> String {
        let mut words = self.outer.map_or_else(String::new, |outer| outer.words() + ".");
        match self.step {
            // The three bytes of a surrogate, each of them unreadable to pydantic.
            Step::Key(key) => words.push_str(&key.replace(LONE_SURROGATE, "\u{fffd}\u{fffd}\u{fffd}")),
            Step::Index(index) => words.push_str(&index.to_string()),
        }
        words
    }
}

/// A place, or the outermost value.
pub(super) type At<'a> = Option<&'a Place<'a>>;
