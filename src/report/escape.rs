//! Text of somebody else's, made harmless for a person's screen: what moves the cursor, changes colours or turns the
//! direction of writing stands as an escape that can be read.

use std::borrow::Cow;

/// The text on one line: `\n`, `\t` and every other control character as an escape, as in `\u{1b}`.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_odd)
}

/// The same, with its line breaks and tabs.
pub(super) fn block(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_odd(c) && !matches!(c, '\n' | '\t'))
}

/// The same for an error message, which may quote anything: no line of it is a command to the runner of a workflow, which
/// reads lines that begin with two colons.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let shown = block(text);
    if !shown.lines().any(is_command) {
        return shown;
    }
    let line =
        |line: &str| if is_command(line) { line.replacen("::", "\\u{3a}:", 1) } else { line.to_owned() };
    Cow::Owned(shown.split('\n').map(line).collect::<Vec<_>>().join("\n"))
}

fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::")
}

fn escaped(text: &str, odd: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if odd(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Control characters, other line ends, marks of direction, and the two that no XML may hold.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_screen_is_shown_and_the_rest_stays() {
        assert_eq!(line("a\nb\t\u{1b}[31m\u{0}\u{202e}é`<>"), "a\\nb\\t\\u{1b}[31m\\u{0}\\u{202e}é`<>");
        assert_eq!(block("a\nb\t\r\u{7}"), "a\nb\t\\r\\u{7}");
        assert!(matches!(line("plain"), Cow::Borrowed("plain")));
        assert_eq!(harmless("error: `a\n ::error::b`\n::c"), "error: `a\n \\u{3a}:error::b`\n\\u{3a}:c");
        assert!(matches!(harmless("a::b"), Cow::Borrowed("a::b")));
    }
}
