//! Whether a server is new enough for a client that has a minimum.
//!
//! The rule of the front ends from 1.0.0 on, read in their builds 1.4.0, 1.6.1, 1.14.0 and 1.20.0, which differ in the
//! fields alone: three numbers, a pre-release that is older than its release, and nothing of what follows a `+`. What is
//! written otherwise, as Python writes `1.28.0rc1`, is no version to them.

use std::cmp::Ordering;

use serde_json::Value;

use super::js;
use crate::unit::Release;

/// Why a client opens no conversation on a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It did not say what it is.
    #[error("/server_info: {0}")]
    Unanswered(String),
    /// It says no version.
    #[error("it says no version, and {least} is the least")]
    Unsaid {
        /// The client's minimum.
        least: String,
    },
    /// What it says is no version to that client.
    #[error("`{said}` is no version, and {least} is the least")]
    Unreadable {
        /// What it says.
        said: String,
        /// The client's minimum.
        least: String,
    },
    /// It is older than the client's minimum.
    #[error("{said} is older than {least}")]
    Older {
        /// What it says.
        said: String,
        /// The client's minimum.
        least: String,
    },
}

/// Whether the server whose `/server_info` is `info` will do; `fields` say where its version is.
pub(crate) fn fits(info: &Value, fields: &[String], least: &Release) -> Result<(), Unfit> {
    let texts = fields.iter().filter_map(|field| info.get(field)?.as_str());
    let said = texts.map(js::trim).find(|text| !text.is_empty());
    let least = least.to_string();
    // What a build without metadata calls itself.
    let Some(said) = said.filter(|said| said.to_lowercase() != "unknown") else {
        return Err(Unfit::Unsaid { least });
    };
    let said = said.to_owned();
    match order(&said, &least) {
        None => Err(Unfit::Unreadable { said, least }),
        Some(Ordering::Less) => Err(Unfit::Older { said, least }),
        Some(_) => Ok(()),
    }
}

fn order(one: &str, other: &str) -> Option<Ordering> {
    let ((one, one_pre), (other, other_pre)) = (parts(one)?, parts(other)?);
    let numbers = one.partial_cmp(&other)?;
    Some(numbers.then_with(|| match (one_pre, other_pre) {
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(one), Some(other)) => js::locale_compare(one, other),
        (None, None) => Ordering::Equal,
    }))
}

/// The three numbers, and what is between the first `-` and the next.
fn parts(version: &str) -> Option<([f64; 3], Option<&str>)> {
    let version = js::trim(version);
    let version = version.strip_prefix('v').unwrap_or(version);
    let mut halves = version.split('+').next().unwrap_or_default().split('-');
    let core: Vec<f64> = halves.next().unwrap_or_default().split('.').map(number).collect::<Option<_>>()?;
    Some((core.try_into().ok()?, halves.next().filter(|pre| !pre.is_empty())))
}

/// `Number(text)` where that is a whole number from 0 on; the spellings with a sign, an exponent or a base, which no
/// version has, are none here.
fn number(text: &str) -> Option<f64> {
    match js::trim(text) {
        "" => Some(0.0),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(info: &Value, fields: &[&str]) -> Result<(), &'static str> {
        let fields: Vec<String> = fields.iter().map(|f| (*f).to_owned()).collect();
        fits(info, &fields, &"1.28.0".parse().unwrap()).map_err(|why| match why {
            Unfit::Unanswered(_) => "unanswered",
            Unfit::Unsaid { .. } => "unsaid",
            Unfit::Unreadable { .. } => "unreadable",
            Unfit::Older { .. } => "older",
        })
    }

    fn said(version: &str) -> Result<(), &'static str> {
        asked(&json!({"version": version}), &["version"])
    }

    #[test]
    fn the_minimum_itself_and_what_is_newer_will_do() {
        for version in ["1.28.0", "1.28.1", "1.30.0", "2.0.0", "10.0.0", "1.100.0"] {
            assert_eq!(said(version), Ok(()), "{version}");
        }
        for version in ["1.27.9", "1.22.0", "0.99.99", "1.9.0"] {
            assert_eq!(said(version), Err("older"), "{version}");
        }
    }

    #[test]
    fn stages_do_not_count_and_a_pre_release_is_older_than_its_release() {
        for version in ["1.58.2+AB", "1.43.1+ABC", "1.58.2+step7", "1.28.0+local", "1.28.1-rc.1", "1.28.0-"] {
            assert_eq!(said(version), Ok(()), "{version}");
        }
        for version in ["1.28.0-rc.1", "1.28.0-a-b", "1.22.0+AB"] {
            assert_eq!(said(version), Err("older"), "{version}");
        }
    }

    #[test]
    fn what_is_written_in_another_way_is_no_version() {
        for version in ["1.28", "1.58.2rc1", "1.58.2.dev0", "main", "1.58.x", "V1.58.2", "vv1.58.2", "1.-5.0"]
        {
            assert_eq!(said(version), Err("unreadable"), "{version}");
        }
        assert_eq!(said(" v1.58.2\n"), Ok(()));
    }

    #[test]
    fn a_server_that_says_nothing_is_not_taken_for_a_new_one() {
        for version in ["", "  ", "unknown", " Unknown "] {
            assert_eq!(said(version), Err("unsaid"), "{version:?}");
        }
        for info in [json!({}), json!({"version": 2}), json!({"version": null}), json!(null), json!([])] {
            assert_eq!(asked(&info, &["version"]), Err("unsaid"), "{info}");
        }
    }

    #[test]
    fn a_second_field_counts_where_the_first_holds_nothing() {
        let (both, first) = (["version", "sdk_version"], ["version"]);
        let bare = json!({"sdk_version": "1.58.2"});
        assert_eq!((asked(&bare, &both), asked(&bare, &first)), (Ok(()), Err("unsaid")));
        assert_eq!(asked(&json!({"version": " ", "sdk_version": "1.58.2"}), &both), Ok(()));
        // The first one counts although the second would do.
        assert_eq!(asked(&json!({"version": "1.22.0", "sdk_version": "1.58.2"}), &both), Err("older"));
        assert_eq!(asked(&json!({"version": "unknown", "sdk_version": "1.58.2"}), &both), Err("unsaid"));
    }
}
