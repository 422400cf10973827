//! Pointing at a place in a file: the line, a caret under the character, and a word of help.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A place in a text file, and what is wrong there.
#[derive(Debug, Clone, Copy)]
pub struct Caret<'a> {
    /// File name, for the heading.
    pub path: &'a str,
    /// The whole text.
    pub text: &'a str,
    /// First byte and end of what is wrong; a span that is not of this text is bent to fit.
    pub span: (usize, usize),
}

impl Caret<'_> {
    /// `error: …`, the line with carets, and `help: …`; with terminal colours or without.
    pub fn show(&self, title: &str, help: Option<&str>, styled: bool) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        let start = border(self.text, self.span.0);
        let span: Range<usize> = start..border(self.text, self.span.1).max(start);
        let primary = AnnotationKind::Primary.span(span);
        let snippet = Snippet::source(self.text).path(self.path).annotation(primary);
        let group = Level::ERROR.primary_title(title).element(snippet);
        let group = match help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        };
        renderer.render(&[group])
    }
}

/// The character border at or before `at`.
fn border(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}
