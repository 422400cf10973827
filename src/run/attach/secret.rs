//! Keeping the key out of what a foreign server says.

/// Characters of a foreign text that are kept.
const MOST: usize = 200;

/// The key, in every way in which it is written on the wire.
#[derive(Clone)]
pub(super) struct Secret(Vec<String>);

impl Secret {
    pub(super) fn of(key: Option<&str>) -> Secret {
        let Some(key) = key.filter(|key| !key.is_empty()) else { return Secret(Vec::new()) };
        let encoded = form_urlencoded::byte_serialize(key.as_bytes()).collect();
        let quoted = serde_json::Value::from(key).to_string();
        let mut ways = vec![key.to_owned(), encoded, quoted.trim_matches('"').to_owned()];
        ways.sort_by_key(|way| std::cmp::Reverse(way.len()));
        ways.dedup();
        Secret(ways)
    }

    /// Foreign words that can be shown: a server may repeat the key that it was given, or send what moves a cursor.
    pub(super) fn out_of(&self, text: &str) -> String {
        let text = self.0.iter().fold(text.to_owned(), |text, way| text.replace(way, "[key]"));
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        text.chars().map(shown).take(MOST).collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_however_it_is_written() {
        let secret = Secret::of(Some("s3 \"cr+et"));
        for said in ["bad key s3 \"cr+et!", "bad key s3+%22cr%2Bet!", "bad key s3 \\\"cr+et!"] {
            assert_eq!(secret.out_of(said), "bad key [key]!");
        }
        assert_eq!(Secret::of(None).out_of("a\u{1b}[2J\n"), "a [2J");
    }
}
