//! What a server is asked: the same list for every release, so that certificates can be compared.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Case {
    /// Its name in a certificate.
    pub(super) name: String,
    /// What is asked.
    pub(super) what: What,
}

/// What a case does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(super) enum What {
    /// A turn in a conversation of its own, which is then removed: what the webhook and the log got.
    SideEffects,
    /// A turn that both sockets watch. The second one is in the same conversation.
    Frames,
    /// What a socket sends to whoever comes after the turns.
    Replay {
        /// The socket with its query.
        path: String,
    },
    /// How a connection is taken or refused.
    Handshake(Knock),
    /// What is answered to a frame of the client.
    Inbound {
        /// `events` or `session`.
        socket: &'static str,
        /// The frame.
        text: &'static str,
    },
    /// How many sockets a conversation takes.
    Cap,
}

/// A connection that is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Knock {
    /// `/sockets/…`, where `{id}` is a conversation and `{key}` the session API key.
    pub(super) path: String,
    /// The key in the header, where there is one.
    pub(super) header: Option<&'static str>,
    /// The first frame of the client.
    pub(super) first: Option<&'static str>,
}

/// Stands for the session API key.
pub(super) const KEY: &str = "{key}";

const SOCKETS: [&str; 2] = ["events", "session"];

const GOOD: &str = r#"{"type":"auth","session_api_key":"{key}"}"#;

/// First frames that do not open a server.
const BAD_FIRST: [(&str, &str); 6] = [
    ("a bad key", r#"{"type":"auth","session_api_key":"bad"}"#),
    ("no key", r#"{"type":"auth"}"#),
    ("another type", r#"{"type":"hello"}"#),
    ("a list", "[]"),
    ("a number", "1"),
    ("no JSON", "not json"),
];

/// Frames of a client that start no turn.
const INBOUND: [(&str, &str); 11] = [
    ("no JSON", "not json"),
    ("nothing", ""),
    ("null", "null"),
    ("a list", "[1]"),
    ("an empty object", "{}"),
    ("a text", r#""hi""#),
    ("no content", r#"{"role":"user"}"#),
    ("an assistant", r#"{"role":"assistant","content":[{"type":"text","text":"hi"}]}"#),
    ("an unknown role", r#"{"role":"person","content":[{"type":"text","text":"hi"}]}"#),
    ("a late authentication", GOOD),
    ("a late authentication with more", r#"{"type":"auth","session_api_key":"{key}","more":1}"#),
];

/// All cases, in the order in which they are asked.
pub(super) fn cases() -> Vec<Case> {
    let case = |name: String, what| Case { name, what };
    // First: what the webhook of an emulation got is told of all conversations together.
    let mut all = vec![case("side effects/turn".into(), What::SideEffects)];
    all.extend(["first", "second"].map(|turn| case(format!("frames/{turn} turn"), What::Frames)));
    let replays = [
        "events/{id}",
        "events/{id}?resend_mode=all",
        "events/{id}?resend_all=true",
        "events/{id}?resend_mode=since",
        "events/{id}?resend_mode=since&after_timestamp=2000-01-01T00:00:00",
        "events/{id}?resend_mode=since&after_timestamp=2100-01-01T00:00:00Z",
        "session/{id}",
        "session/{id}?after_seq=-1",
        "session/{id}?after_seq=2",
        "session/{id}?after_seq=999",
    ];
    all.extend(
        replays
            .iter()
            .map(|path| case(format!("replay/{path}"), What::Replay { path: format!("/sockets/{path}") })),
    );
    for socket in SOCKETS {
        all.extend(
            knocks(socket)
                .into_iter()
                .map(|(name, knock)| case(format!("handshake/{socket}/{name}"), What::Handshake(knock))),
        );
        all.extend(
            INBOUND
                .iter()
                .map(|(name, text)| case(format!("inbound/{socket}/{name}"), What::Inbound { socket, text })),
        );
    }
    all.push(case("cap/sockets of one conversation".into(), What::Cap));
    all
}

fn knocks(socket: &str) -> Vec<(String, Knock)> {
    let path = |rest: &str| format!("/sockets/{socket}/{rest}");
    let knock = |name: &str, rest: &str, header: Option<&'static str>, first: Option<&'static str>| {
        (name.to_owned(), Knock { path: path(rest), header, first })
    };
    let with_key = "{id}?session_api_key={key}";
    let mut all = vec![
        knock("a key in the query", with_key, None, None),
        knock("a key in the header", "{id}", Some(KEY), None),
        knock("a key in the first frame", "{id}", None, Some(GOOD)),
        knock("a bad key in the query", "{id}?session_api_key=bad", None, None),
        knock("a bad key in the header", "{id}", Some("bad"), None),
        knock(
            "a bad key in the query and a good one in the header",
            "{id}?session_api_key=bad",
            Some(KEY),
            None,
        ),
        knock("an unknown conversation", "11111111-1111-4111-8111-111111111111", Some(KEY), None),
        knock("an unknown conversation and no key", "11111111-1111-4111-8111-111111111111", None, Some(GOOD)),
        knock("no UUID", "not-a-uuid", Some(KEY), None),
        knock("a UUID without hyphens", "{hex}", Some(KEY), None),
        knock("an unknown parameter", "{id}?colour=red", Some(KEY), None),
    ];
    if socket == "events" {
        all.push(knock("an unknown resend mode", "{id}?resend_mode=some", Some(KEY), None));
        all.push(knock("no timestamp", "{id}?resend_mode=since&after_timestamp=soon", Some(KEY), None));
    } else {
        all.push(knock("a cursor that is no number", "{id}?after_seq=abc", Some(KEY), None));
    }
    all.extend(
        BAD_FIRST
            .map(|(name, frame)| knock(&format!("{name} in the first frame"), "{id}", None, Some(frame))),
    );
    all
}

impl What {
    /// The word under which a certificate counts it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            What::SideEffects => "side_effects",
            What::Frames => "frames",
            What::Replay { .. } => "replay",
            What::Handshake(_) => "handshake",
            What::Inbound { .. } => "inbound",
            What::Cap => "cap",
        }
    }
}

/// SHA-256 over something as JSON, in hexadecimal.
pub(super) fn hash(of: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut hex = String::new();
    for byte in Sha256::digest(serde_json::to_vec(of)?) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_and_every_kind_is_there() {
        let all = cases();
        let names: std::collections::BTreeSet<&str> = all.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        let words: std::collections::BTreeSet<&str> = all.iter().map(|c| c.what.word()).collect();
        assert_eq!(words.len(), 6);
        assert!(matches!(all[0].what, What::SideEffects));
    }

    #[test]
    fn another_case_is_another_hash() {
        let all = cases();
        assert_eq!(hash(&all).unwrap(), hash(&cases()).unwrap());
        assert_ne!(hash(&all).unwrap(), hash(&&all[1..]).unwrap());
    }
}
