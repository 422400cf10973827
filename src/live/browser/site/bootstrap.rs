//! The script that a front end gets before its own: where the server is, with which key, and what was settled already.

use serde_json::Value;

/// The element to stand before `</head>`.
///
/// Up to 1.16.0 the front ends read the server from the storage (`openhands-agent-server-config`), later ones from the
/// global; both together suit every version tried. Without `openhands-onboarded` there is a page of questions first.
pub(super) fn script(key: &str) -> String {
    let key = literal(key);
    format!(
        "<script>(() => {{ const key = {key};\
         window.__AGENT_CANVAS_SESSION_API_KEY__ = key; window.__AGENT_CANVAS_DO_NOT_TRACK__ = true;\
         try {{ const server = {{ baseUrl: location.origin, sessionApiKey: key }};\
         localStorage.setItem('openhands-agent-server-config', JSON.stringify(server));\
         localStorage.setItem('openhands-onboarded', '1');\
         localStorage.setItem('openhands-telemetry-consent', 'denied'); }}\
         catch (error) {{ console.error('skewlab: no storage', error); }} }})();</script>"
    )
}

/// A text as a JavaScript literal that may stand inside of a script element, whatever it holds: there `</script>` ends
/// the element and `<!--` starts a comment, even within a string.
fn literal(text: &str) -> String {
    let mut escaped = String::new();
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.extend(format!("\\u{:04x}", u32::from(c)).chars());
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Puts the script before the end of the head; `None` without a head.
pub(super) fn inject(page: &str, script: &str) -> Option<String> {
    // ASCII lower case keeps every index where it was.
    let at = page.to_ascii_lowercase().find("</head>")?;
    Some([&page[..at], script, &page[at..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cannot_leave_its_literal() {
        let key = "a\"b\\c</script><!--\u{2028}&'";
        let text = literal(key);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), key);
        let whole = script(key);
        assert_eq!(whole.matches("</script>").count(), 1, "{whole}");
    }

    #[test]
    fn the_script_stands_before_the_end_of_the_head() {
        assert_eq!(inject("<Head>é</HEAD><body>", "S").unwrap(), "<Head>éS</HEAD><body>");
        assert_eq!(inject("<body>", "S"), None);
    }
}
