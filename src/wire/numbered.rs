//! Numbered text: tokens that say which one they are, so that a reader misses one without being told the total.

/// The text of token `n`: `tok17 `, filled with dots up to `bytes` if it is shorter.
pub fn text(n: u64, bytes: usize) -> String {
    let mut text = format!("tok{n} ");
    while text.len() < bytes {
        text.push('.');
    }
    text
}

/// The number in such a text, or in one of any other word of ASCII letters (`why17 `).
pub fn number(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let (number, _) = digits.split_once(' ')?;
    (digits.len() < text.len()).then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_its_number_at_any_length() {
        for (n, bytes) in [(0, 0), (7, 5), (12_345, 64)] {
            let text = text(n, bytes);
            assert_eq!(number(&text), Some(n));
            assert!(text.len() >= bytes);
        }
        assert_eq!(number("why3 "), Some(3));
    }

    #[test]
    fn other_text_has_no_number() {
        for other in ["", "Hel", "17 ", "tok", "tok17", "tok1x "] {
            assert_eq!(number(other), None, "{other:?}");
        }
    }
}
