//! `splitInlineThink` (1.4.0 on): a leading `<think>` block goes to the thinking fold.

use super::super::js;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Text divided between the fold and the bubble.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) reasoning: String,
    pub(super) message: String,
}

/// Divides `content`. An unclosed block is reasoning while `streaming` and plain text afterwards.
pub(super) fn split(content: &str, streaming: bool) -> Split {
    let plain = || Split { reasoning: String::new(), message: content.to_owned() };
    let Some(inside) = js::trim_start(content).strip_prefix(OPEN) else {
        return plain();
    };
    match inside.split_once(CLOSE) {
        Some((reasoning, message)) => {
            Split { reasoning: js::trim(reasoning).to_owned(), message: js::trim(message).to_owned() }
        }
        None if streaming => Split { reasoning: js::trim(inside).to_owned(), message: String::new() },
        None => plain(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_block_is_taken_out() {
        let of = |text: &str, streaming| {
            let s = split(text, streaming);
            (s.reasoning, s.message)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of("\n<think> why </think> Hel ", true), pair("why", "Hel"));
        assert_eq!(of("<think>why", true), pair("why", ""));
        assert_eq!(of("<think>why", false), pair("", "<think>why"));
        assert_eq!(of("Hel <think>why</think>", true), pair("", "Hel <think>why</think>"));
    }
}
