//! The profiles of one kind of party: reading, extending, and finding the era of a release.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::error::{ProfileError, nearest};
use super::faulty::{faulty, faulty_in, help};
use crate::unit::Release;

/// What a profile says about itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The name that a person types.
    pub name: String,
    /// The releases that behave like it, as a version range; absent for unreleased variants.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("examples" = [">=1.22.1, <1.31.0"]))]
    pub covers: Option<semver::VersionReq>,
    /// The era's short name (`S3`, `P2`, `B1b`).
    #[serde(default)]
    pub era: String,
    /// One sentence: what is particular about it.
    pub summary: String,
    /// Whether it only answers a question that its name asks. It can be named like any other, and no pattern of a
    /// scenario finds it: a matrix of every server is about those that exist or may come.
    #[serde(default)]
    pub what_if: bool,
    /// Where each trait comes from, by top-level key.
    #[serde(default)]
    pub source: BTreeMap<String, String>,
}

/// A resolved profile: an era with the traits of one release of it.
#[derive(Debug, Clone)]
pub struct Profile<T> {
    /// What the profile says about itself.
    pub about: About,
    /// The release asked for, in full (`python-1.47.0`); equals `about.name` unless another one was named.
    pub release_name: String,
    /// That release; for a profile whose name is none, the one that it is built on.
    pub release: Option<Release>,
    /// How it behaves.
    pub traits: T,
}

#[derive(Debug, Clone)]
struct Raw {
    path: String,
    text: String,
    table: Table,
    about: About,
    extends: Option<String>,
    /// Whether it is a user's own.
    added: bool,
}

/// All profiles of one kind.
#[derive(Debug, Clone)]
pub struct Shelf {
    what: &'static str,
    raws: Vec<Raw>,
}

pub(super) const OWN_KEYS: [&str; 7] = ["name", "covers", "era", "summary", "what_if", "source", "extends"];

impl Shelf {
    /// The shelf of the embedded files, given as path and text.
    pub fn of(what: &'static str, files: &[(&str, &str)]) -> Result<Shelf, ProfileError> {
        let mut shelf = Shelf { what, raws: Vec::new() };
        for (path, text) in files {
            shelf.add((*path).to_owned(), (*text).to_owned(), false)?;
        }
        Ok(shelf)
    }

    /// Adds every `*.toml` of a folder; a folder that does not exist adds nothing.
    pub fn add_dir(&mut self, dir: &Path) -> Result<(), ProfileError> {
        let read = |path: &Path, e: std::io::Error| ProfileError::Read {
            path: path.to_owned(),
            message: e.to_string(),
        };
        if !dir.exists() {
            return Ok(());
        }
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(|e| read(dir, e))? {
            let path = entry.map_err(|e| read(dir, e))?.path();
            if path.extension().is_some_and(|e| e == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).map_err(|e| read(&path, e))?;
            self.add(path.display().to_string(), text, true)?;
        }
        Ok(())
    }

    /// Adds a user's profile, given as text; `path` names it in errors.
    pub(super) fn add_text(&mut self, path: &str, text: &str) -> Result<(), ProfileError> {
        self.add(path.to_owned(), text.to_owned(), true)
    }

    /// The texts of a user's own profiles that `name` is made of, itself last; nothing for one that comes with skewlab.
    pub fn added(&self, name: &str) -> Vec<&str> {
        let mut texts = Vec::new();
        let mut next = self.find(name);
        while let Some(raw) = next.filter(|raw| raw.added && texts.len() < self.raws.len()) {
            texts.push(raw.text.as_str());
            next = raw.extends.as_deref().and_then(|base| self.find(base));
        }
        texts.reverse();
        texts
    }

    fn add(&mut self, path: String, text: String, added: bool) -> Result<(), ProfileError> {
        let mut table: Table = text.parse().map_err(|e| faulty(&path, &text, &e))?;
        let own: Table = OWN_KEYS.iter().filter_map(|k| Some(((*k).to_owned(), table.remove(*k)?))).collect();
        let extends = own.get("extends").and_then(Value::as_str).map(str::to_owned);
        let about: About = own
            .into_iter()
            .filter(|(k, _)| k != "extends")
            .collect::<Table>()
            .try_into()
            .map_err(|e| faulty(&path, &text, &e))?;
        if self.raws.iter().any(|r| r.about.name == about.name) {
            return Err(ProfileError::Taken { path, name: about.name });
        }
        self.raws.push(Raw { path, text, table, about, extends, added });
        Ok(())
    }

    /// The profiles' own words, in shelf order, what-ifs left out.
    pub fn abouts(&self) -> impl Iterator<Item = &About> {
        self.all().filter(|a| !a.what_if)
    }

    /// The same with what-ifs.
    pub fn all(&self) -> impl Iterator<Item = &About> {
        self.raws.iter().map(|r| &r.about)
    }

    /// The profile called `name`, or the era that covers it, with the traits of exactly that release.
    pub fn resolve<T: DeserializeOwned>(&self, name: &str) -> Result<Profile<T>, ProfileError> {
        self.resolve_with(name, &Table::new())
    }

    /// The same with `laid` over its traits.
    pub(super) fn resolve_with<T: DeserializeOwned>(
        &self,
        name: &str,
        laid: &Table,
    ) -> Result<Profile<T>, ProfileError> {
        let raw = self.find(name).ok_or_else(|| self.unknown(name))?;
        let release = version(name);
        let (mut table, sinces) = self.merged(raw, &mut Vec::new())?;
        for (since, change) in sinces {
            if release.as_ref().is_some_and(|r| r.at_least(&since)) {
                overlay(&mut table, &change);
            }
        }
        let read = |table: Table| Value::Table(table).try_into();
        let faulty = |e| faulty(&raw.path, &raw.text, &e);
        let traits = if laid.is_empty() {
            read(table).map_err(faulty)?
        } else {
            let mut over = table.clone();
            overlay(&mut over, laid);
            // What the profile itself has wrong is not to be blamed on what is laid over it.
            read(over).map_err(|error: toml::de::Error| match read(table) {
                Err(own) => faulty(own),
                Ok(_) => ProfileError::Laid {
                    server: name.to_owned(),
                    message: error.message().to_owned(),
                    hint: help(error.message()).unwrap_or_default(),
                },
            })?
        };
        let mut about = raw.about.clone();
        about.source = self.sources(raw);
        let release = release.or_else(|| self.built_on(raw));
        Ok(Profile { about, release_name: name.to_owned(), release, traits })
    }

    fn find(&self, name: &str) -> Option<&Raw> {
        if let Some(raw) = self.raws.iter().find(|r| r.about.name == name) {
            return Some(raw);
        }
        let release = version(name)?;
        let family = family(name);
        let covers = |r: &&Raw| {
            family == self::family(&r.about.name)
                && r.about.covers.as_ref().is_some_and(|c| release.within(c))
        };
        // An unreleased build is never covered by a release's era: nobody has measured it.
        if release.stages().is_empty() { self.raws.iter().find(covers) } else { None }
    }

    fn unknown(&self, name: &str) -> ProfileError {
        let mut hint = nearest(name, self.raws.iter().map(|r| r.about.name.as_str()));
        if hint.is_empty() {
            let all: Vec<&str> = self.raws.iter().map(|r| r.about.name.as_str()).collect();
            hint = format!("; there are {}", all.join(", "));
        }
        ProfileError::Unknown { what: self.what, name: name.to_owned(), hint }
    }

    /// The traits of a file laid over those that it extends, and the `[[since]]` changes in order.
    fn merged<'a>(
        &'a self,
        raw: &'a Raw,
        seen: &mut Vec<&'a str>,
    ) -> Result<(Table, Vec<(Release, Table)>), ProfileError> {
        let mut own = raw.table.clone();
        let own_since = own.remove("since");
        let Some(base_name) = &raw.extends else {
            return Ok((own, sinces(raw, own_since)?));
        };
        let problem = |problem: String| ProfileError::Extends {
            path: raw.path.clone(),
            name: base_name.clone(),
            problem,
        };
        seen.push(&raw.about.name);
        let base = self.find(base_name).ok_or_else(|| {
            problem(format!(
                "names no profile{}",
                nearest(base_name, self.raws.iter().map(|r| r.about.name.as_str()))
            ))
        })?;
        if seen.contains(&base.about.name.as_str()) {
            return Err(problem("leads in a circle".into()));
        }
        let (mut table, base_since) = self.merged(base, seen)?;
        // What the base became by its own release is where the extension starts from.
        let base_release = version(base_name);
        for (since, change) in base_since {
            if base_release.as_ref().is_some_and(|r| r.at_least(&since)) {
                overlay(&mut table, &change);
            }
        }
        overlay(&mut table, &own);
        Ok((table, sinces(raw, own_since)?))
    }

    /// The release of the nearest profile below that has one in its name.
    fn built_on(&self, raw: &Raw) -> Option<Release> {
        let base = raw.extends.as_deref()?;
        version(base).or_else(|| self.built_on(self.find(base)?))
    }

    fn sources(&self, raw: &Raw) -> BTreeMap<String, String> {
        let mut sources = match raw.extends.as_deref().and_then(|base| self.find(base)) {
            Some(base) if base.about.name != raw.about.name => self.sources(base),
            _ => BTreeMap::new(),
        };
        sources.extend(raw.about.source.clone());
        sources
    }
}

fn sinces(raw: &Raw, value: Option<Value>) -> Result<Vec<(Release, Table)>, ProfileError> {
    #[derive(Deserialize)]
    struct Since {
        release: Release,
        #[serde(flatten)]
        change: Table,
    }
    let Some(value) = value else { return Ok(Vec::new()) };
    let list: Vec<Since> = value.try_into().map_err(|e| faulty_in("since", &raw.path, &raw.text, &e))?;
    Ok(list.into_iter().map(|s| (s.release, s.change)).collect())
}

/// Lays `change` over `base`: tables merge, everything else replaces.
fn overlay(base: &mut Table, change: &Table) {
    for (key, new) in change {
        match (base.get_mut(key), new) {
            (Some(Value::Table(old)), Value::Table(new)) => overlay(old, new),
            _ => {
                base.insert(key.clone(), new.clone());
            }
        }
    }
}

/// The release in a profile name: `python-1.47.0` and `1.47.0` alike.
pub(super) fn version(name: &str) -> Option<Release> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    name[digits..].parse().ok()
}

fn family(name: &str) -> &str {
    name.find(|c: char| c.is_ascii_digit()).map_or(name, |at| name[..at].trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Traits {
        a: u32,
        t: Inner,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        x: u32,
        y: u32,
    }

    const BASE: (&str, &str) = (
        "base.toml",
        "name = '1.2.0'\ncovers = '>=1.1.0, <1.3.0'\nsummary = 's'\na = 1\n[t]\nx = 1\ny = 1\n\
         [source]\na = 'one'\n[[since]]\nrelease = '1.2.0'\nt.y = 2\n",
    );
    const CHILD: (&str, &str) =
        ("child.toml", "name = '1.2.0+AB'\nextends = '1.2.0'\nsummary = 's'\n[t]\nx = 9\n");

    fn shelf(files: &[(&str, &str)]) -> Result<Shelf, ProfileError> {
        Shelf::of("server", files)
    }

    #[test]
    fn a_release_gets_the_traits_it_had() {
        let shelf = shelf(&[BASE, CHILD]).unwrap();
        let y = |name: &str| shelf.resolve::<Traits>(name).unwrap().traits.t.y;
        assert_eq!((y("1.1.5"), y("1.2.0"), y("1.2.9")), (1, 2, 2));
    }

    #[test]
    fn an_extension_states_only_what_changed() {
        let shelf = shelf(&[BASE, CHILD]).unwrap();
        let child = shelf.resolve::<Traits>("1.2.0+AB").unwrap();
        assert_eq!(child.traits, Traits { a: 1, t: Inner { x: 9, y: 2 } });
        assert_eq!(child.about.source["a"], "one");
    }

    #[test]
    fn names_that_do_not_exist_get_the_nearest() {
        let shelf = shelf(&[BASE, CHILD]).unwrap();
        let text = shelf.resolve::<Traits>("1.2.0+ABD").unwrap_err().to_string();
        assert!(text.contains("`1.2.0+AB`"), "{text}");
        assert!(shelf.resolve::<Traits>("1.1.5+AB").is_err(), "an unreleased build is not covered");
        assert!(shelf.resolve::<Traits>("1.3.0").is_err());
    }

    #[test]
    fn a_wrong_trait_points_at_its_line() {
        let bad = ("bad.toml", "name = 'z'\nextends = '1.2.0'\nsummary = 's'\n[t]\nx = 'one'\n");
        let text = shelf(&[BASE, bad]).unwrap().resolve::<Traits>("z").unwrap_err().to_string();
        assert!(text.contains("bad.toml:5:5") && text.contains("^^^^^"), "{text}");
    }

    #[test]
    fn circles_and_taken_names_are_refused() {
        let own = ("own.toml", "name = '2.0.0'\ncovers = '>=2'\nextends = '2.1.0'\nsummary = 's'\n");
        let text = shelf(&[own]).unwrap().resolve::<Traits>("2.0.0").unwrap_err().to_string();
        assert!(text.contains("circle"), "an era that covers what it extends: {text}");
        let one = ("1.toml", "name = 'p'\nextends = 'q'\nsummary = 's'\n");
        let two = ("2.toml", "name = 'q'\nextends = 'p'\nsummary = 's'\n");
        let text = shelf(&[one, two]).unwrap().resolve::<Traits>("p").unwrap_err().to_string();
        assert!(text.contains("circle"), "{text}");
        assert!(matches!(shelf(&[BASE, BASE]), Err(ProfileError::Taken { .. })));
    }
}
