//! Versions as Python writes them (`1.59.0rc1`), as releases.

use super::ImplyError;
use crate::unit::Release;

/// The release of a Python version: pre-releases get semver's spelling, `1.59.0rc1` becomes `1.59.0-rc.1`.
///
/// Errors when it is no version of three numbers.
pub(super) fn release(version: &str) -> Result<Release, ImplyError> {
    let wrong = |problem: String| ImplyError::Version { version: version.to_owned(), problem };
    if let Ok(release) = version.parse() {
        return Ok(release);
    }
    let (public, local) = match version.split_once('+') {
        Some((public, local)) => (public, format!("+{}", local.replace('_', "-"))),
        None => (version, String::new()),
    };
    let end = public.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(public.len());
    let (numbers, rest) = public.split_at(end);
    let mut parts: Vec<&str> = numbers.trim_end_matches('.').split('.').collect();
    while parts.len() < 3 {
        parts.push("0");
    }
    let letters: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    let more = rest[letters.len()..].replace(['-', '_'], ".");
    let word = match letters.as_str() {
        "" => String::new(),
        "a" => "alpha".to_owned(),
        "b" => "beta".to_owned(),
        other => other.to_owned(),
    };
    let pre: Vec<&str> =
        std::iter::once(word.as_str()).chain(more.split('.')).filter(|p| !p.is_empty()).collect();
    let pre = if pre.is_empty() { String::new() } else { format!("-{}", pre.join(".")) };
    let text = format!("{}{pre}{local}", parts.join("."));
    text.parse().map_err(|e| wrong(format!("{e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_versions_become_releases() {
        for (python, ours) in [
            ("1.58.2", "1.58.2"),
            ("1.59", "1.59.0"),
            ("1.59.0rc1", "1.59.0-rc.1"),
            ("1.59.0a2", "1.59.0-alpha.2"),
            ("1.59.0.dev3", "1.59.0-dev.3"),
            ("1.59.0.dev3+g1a2b", "1.59.0-dev.3+g1a2b"),
            ("1.58.2+AB", "1.58.2+AB"),
        ] {
            assert_eq!(release(python).unwrap().to_string(), ours, "{python}");
        }
        let error = release("main").unwrap_err().to_string();
        assert!(error.starts_with("`main` is no release"), "{error}");
    }
}
