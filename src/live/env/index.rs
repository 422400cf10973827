//! Which versions exist, as the last set-up heard it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cache::Cache;
use super::error::{EnvError, nearest};
use super::ready::replace;
use super::wanted::{Version, Wanted};
use crate::unit::Release;

/// `index.json` of the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    /// By package.
    #[serde(default)]
    pub(super) packages: BTreeMap<String, Versions>,
}

/// The versions of one package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Versions {
    /// Oldest first; what is no release in our sense is left out.
    pub(super) released: Vec<Release>,
    /// npm's tags.
    #[serde(default)]
    pub(super) tags: BTreeMap<String, String>,
    /// When they were asked for, in UTC: `2026-11-30`.
    pub(super) asked: String,
}

impl Index {
    /// What was heard last. A file that cannot be read counts as never asked: the next set-up writes it again.
    pub(super) fn read(cache: &Cache) -> Index {
        let text = std::fs::read_to_string(cache.index()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn write(&self, cache: &Cache) -> Result<(), EnvError> {
        let path = cache.index();
        let text = serde_json::to_vec_pretty(self)
            .map_err(|e| EnvError::Io { path: path.clone(), error: e.into() })?;
        replace(&path, &text)
    }
}

impl Versions {
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>, tags: BTreeMap<String, String>) -> Versions {
        let mut versions: Vec<Release> = words.filter_map(|word| word.parse().ok()).collect();
        versions.sort_by(|a, b| match (a.at_least(b), b.at_least(a)) {
            (true, true) => std::cmp::Ordering::Equal,
            (true, false) => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Less,
        });
        versions.dedup();
        let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
        let asked = now.split('T').next().unwrap_or_default().to_owned();
        Versions { released: versions, tags, asked }
    }

    /// The release that a constraint or a tag stands for, or that is named and exists.
    pub(super) fn choose(&self, package: &str, wanted: &Wanted) -> Result<Release, EnvError> {
        // What came out last is the newest; an alpha is only had by its name.
        let stable: Vec<&Release> =
            self.released.iter().rev().filter(|r| !r.to_string().contains('-')).collect();
        let chosen = match &wanted.version {
            Version::Release(release) => self.released.iter().find(|r| **r == release.released()),
            Version::Latest(back) => {
                // A package may have taken its newest release back by moving the tag.
                let newest =
                    self.tags.get("latest").and_then(|tag| stable.iter().position(|r| r.to_string() == *tag));
                stable.get(newest.unwrap_or(0) + back).copied()
            }
            Version::LatestMinor(back) => {
                let mut minors: Vec<&Release> = stable;
                minors.dedup_by_key(|release| minor(release));
                minors.get(*back).copied()
            }
            Version::Tag(tag) => self
                .tags
                .get(tag)
                .and_then(|version| self.released.iter().find(|r| r.to_string() == *version)),
            Version::Path(_) | Version::Wheel(_) => None,
        };
        chosen.cloned().ok_or_else(|| self.unknown(package, wanted))
    }

    fn unknown(&self, package: &str, wanted: &Wanted) -> EnvError {
        let names: Vec<String> = self.released.iter().rev().map(ToString::to_string).collect();
        let (version, hint) = match &wanted.version {
            Version::Release(release) => {
                let version = release.released().to_string();
                let hint = nearest(&version, names.iter().map(String::as_str));
                (version, hint)
            }
            Version::Tag(tag) => {
                let tags = self.tags.keys().map(String::as_str);
                let hint = nearest(tag, tags.clone());
                let known = format!("; its tags are {}", tags.collect::<Vec<_>>().join(", "));
                (format!("tagged `{tag}`"), if hint.is_empty() { known } else { hint })
            }
            _ => {
                let ends = names.last().zip(names.first());
                let ends = ends.map_or_else(String::new, |(old, new)| {
                    format!(": there are {} versions, from {old} to {new}", names.len())
                });
                (format!("that `{}` could be", wanted.said), ends)
            }
        };
        EnvError::NoVersion { package: package.to_owned(), version, hint }
    }
}

/// `1.58` of `1.58.2`.
fn minor(release: &Release) -> String {
    release.to_string().split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions() -> Versions {
        let words = ["1.9.0", "1.10.1", "1.10.0", "2.0.0-alpha.1", "1.8.3", "no version", "1.8.4"];
        Versions::of(words.into_iter(), BTreeMap::from([("next".to_owned(), "2.0.0-alpha.1".to_owned())]))
    }

    fn chosen(said: &str) -> Result<String, String> {
        let wanted = Wanted::client(&format!("browser-{said}")).unwrap();
        versions().choose("canvas", &wanted).map(|r| r.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn constraints_count_releases_back_from_the_newest() {
        for (said, is) in [
            ("latest", "1.10.1"),
            ("latest-1", "1.10.0"),
            ("latest-2", "1.9.0"),
            ("latest-minor-1", "1.9.0"),
            ("latest-minor-2", "1.8.4"),
            ("next", "2.0.0-alpha.1"),
            ("1.8.3", "1.8.3"),
            ("2.0.0-alpha.1", "2.0.0-alpha.1"),
        ] {
            assert_eq!(chosen(said).as_deref(), Ok(is), "{said}");
        }
    }

    #[test]
    fn a_tag_that_was_moved_back_is_the_newest() {
        let mut moved = versions();
        moved.tags.insert("latest".to_owned(), "1.10.0".to_owned());
        let newest = |said: &str| moved.choose("canvas", &Wanted::client(said).unwrap()).unwrap().to_string();
        assert_eq!((newest("browser-latest"), newest("browser-latest-1")), ("1.10.0".into(), "1.9.0".into()));
    }

    #[test]
    fn what_does_not_exist_names_what_does() {
        assert_eq!(
            chosen("1.8.9").unwrap_err(),
            "there is no canvas 1.8.9; did you mean `1.8.4`, `1.8.3`, `1.9.0`?"
        );
        assert!(
            chosen("latest-9").unwrap_err().ends_with("there are 6 versions, from 1.8.3 to 2.0.0-alpha.1")
        );
        assert!(chosen("nxt").unwrap_err().contains("did you mean `next`"));
        assert!(chosen("beta").unwrap_err().contains("its tags are next"));
    }
}
