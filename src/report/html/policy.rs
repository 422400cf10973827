//! The page's own style and script, and the policy that lets these two in by their hashes and nothing else.

use sha2::{Digest, Sha256};

macro_rules! parts {
    ($($name:literal),* $(,)?) => {
        [$(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/html/", $name))),*]
    };
}

/// The colours of the two themes: declarations of variables, nothing else.
const LIGHT: &str = include_str!("../../../templates/html/light.css");
const DARK: &str = include_str!("../../../templates/html/dark.css");

const STYLE: [&str; 4] = parts!("page.css", "grid.css", "detail.css", "print.css");

const SCRIPT: [&str; 6] = parts!("dom.js", "theme.js", "grid.js", "filter.js", "detail.js", "start.js");

/// What is put into every page.
pub(super) struct Assets {
    /// The text between the `style` tags.
    pub style: String,
    /// The text between the `script` tags.
    pub script: String,
    /// The content security policy: no request goes out, and nothing runs that is not the script.
    pub policy: String,
}

/// Puts them together.
pub(super) fn assets() -> Assets {
    // The machine's own wish holds until the reader chooses.
    let themes = format!(
        ":root{{color-scheme:light;\n{LIGHT}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;\n{DARK}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;\n{DARK}}}\n"
    );
    let style = format!("{themes}{}", STYLE.concat());
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(&script)
    );
    Assets { style, script, policy }
}

/// A source of a policy: `'sha256-…'`.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

/// Base64 as in RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn style_and_script_cannot_end_their_own_elements_and_reach_for_nothing() {
        let Assets { style, script, .. } = assets();
        for text in [&style, &script] {
            for part in ["</", "<!--", "http:", "https:", "url(", "@import", "innerHTML", "eval(", "\r"] {
                assert!(!text.contains(part), "{part}");
            }
        }
    }

    fn variables(theme: &str) -> BTreeMap<&str, &str> {
        let pairs = theme.lines().filter_map(|line| line.trim().trim_end_matches(';').split_once(':'));
        pairs.map(|(name, value)| (name.trim().trim_start_matches("--"), value.trim())).collect()
    }

    /// Relative luminance as in WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let digits = colour.strip_prefix('#').unwrap();
        assert_eq!(digits.len(), 6, "{colour}");
        let part = |at: usize| {
            let share = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_stands_out_from_its_ground_in_both_themes() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        let (light, dark) = (variables(LIGHT), variables(DARK));
        assert!(light.keys().eq(dark.keys()), "a variable stands in one theme only");
        for theme in [light, dark] {
            let mut pairs: Vec<(String, String)> = Vec::new();
            // What is written on which ground: `silent-fg` on `silent-bg`, and plain text on each of the page's grounds.
            for name in theme.keys().filter_map(|name| name.strip_suffix("-fg")) {
                pairs.push((format!("{name}-fg"), format!("{name}-bg")));
            }
            assert!(pairs.len() >= 19, "{pairs:?}");
            for ground in ["page", "surface", "sunken"] {
                pairs.extend(["ink", "muted", "link"].map(|ink| (ink.to_owned(), ground.to_owned())));
            }
            for (ink, ground) in pairs {
                let found = contrast(theme[ink.as_str()], theme[ground.as_str()]);
                assert!(found >= 4.5, "{ink} on {ground}: {found:.2}");
            }
            // Lines of a chart are no text: 3 is asked of them.
            for series in theme.keys().filter(|name| name.starts_with("series-")) {
                assert!(contrast(theme[series], theme["surface"]) >= 3.0, "{series}");
            }
        }
    }
}
