//! The query of a socket URL, and what is wrong with it: the real server refuses the upgrade with HTTP 403.

use chrono::{DateTime, NaiveDateTime};

/// What a client asks for when it connects.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SocketQuery {
    /// Key in the query, deprecated and still accepted.
    pub(super) key: Option<String>,
    /// Which history to send first on the legacy socket.
    pub(super) resend: Resend,
    /// Cursor of the session socket: nothing means live only, a negative number means everything.
    pub(super) after_seq: Option<i64>,
}

/// Which history the legacy socket sends first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Resend {
    /// None.
    #[default]
    Nothing,
    /// All of it.
    All,
    /// What is not older than this; without a timestamp nothing at all (measured on 1.58.2).
    Since(Option<NaiveDateTime>),
}

/// The query does not read; the upgrade is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadQuery;

impl SocketQuery {
    pub(super) fn parse(query: &str) -> Result<SocketQuery, BadQuery> {
        let mut parsed = SocketQuery::default();
        let (mut mode, mut all, mut after) = (None, false, None);
        for (name, value) in pairs(query) {
            match name.as_str() {
                "session_api_key" => parsed.key = Some(value),
                "resend_mode" => mode = Some(value),
                "resend_all" => {
                    all = matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "on" | "yes");
                }
                "after_timestamp" => after = Some(timestamp(&value).ok_or(BadQuery)?),
                "after_seq" => parsed.after_seq = Some(value.parse().map_err(|_| BadQuery)?),
                _ => {}
            }
        }
        parsed.resend = match mode.as_deref() {
            Some("all") => Resend::All,
            Some("since") => Resend::Since(after),
            Some(_) => return Err(BadQuery),
            None if all => Resend::All,
            None => Resend::Nothing,
        };
        Ok(parsed)
    }
}

/// The decoded pairs of a query string.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(query.as_bytes()).into_owned()
}

/// An ISO 8601 moment; one with an offset becomes the server's local naive time, which is UTC here.
pub(super) fn timestamp(text: &str) -> Option<NaiveDateTime> {
    let aware = DateTime::parse_from_rfc3339(text).map(|t| t.naive_utc());
    aware
        .or_else(|_| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f"))
        .or_else(|_| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f"))
        .ok()
        .or_else(|| chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_reads() {
        let q = SocketQuery::parse(
            "session_api_key=k%2B%2Fy&resend_mode=since&after_timestamp=2026-11-30T07:45:00.5",
        )
        .unwrap();
        assert_eq!(q.key.as_deref(), Some("k+/y"));
        assert!(matches!(q.resend, Resend::Since(Some(_))));
        assert_eq!(SocketQuery::parse("after_seq=-5").unwrap().after_seq, Some(-5));
        assert_eq!(SocketQuery::parse("resend_all=true").unwrap().resend, Resend::All);
        assert_eq!(SocketQuery::parse("").unwrap(), SocketQuery::default());
        assert_eq!(SocketQuery::parse("resend_mode=since").unwrap().resend, Resend::Since(None));
    }

    #[test]
    fn what_the_real_server_refuses_is_refused() {
        for bad in ["resend_mode=some", "resend_mode=since&after_timestamp=yesterday", "after_seq=abc"] {
            assert_eq!(SocketQuery::parse(bad), Err(BadQuery), "{bad}");
        }
    }

    #[test]
    fn offsets_become_utc() {
        assert_eq!(timestamp("2026-11-30T08:45:00+01:00"), timestamp("2026-11-30T07:45:00"));
        assert_eq!(timestamp("2026-11-30T07:45:00Z"), timestamp("2026-11-30T07:45:00"));
    }
}
