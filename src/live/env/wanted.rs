//! What can be typed for a version.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::{EnvError, nearest};
use crate::unit::Release;

/// What kind of package: which index it is from, and what runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The four Python packages: server and client in one environment.
    Python,
    /// The TypeScript client.
    Typescript,
    /// The front end for a browser.
    Browser,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Python, Kind::Typescript, Kind::Browser];

    /// `python`, `typescript` or `browser`: the beginning of a client's name and of a folder's.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Python => "python",
            Kind::Typescript => "typescript",
            Kind::Browser => "browser",
        }
    }
}

/// Which version of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// A release, or stages on one (`1.58.2+AB`): those are laid over it by whoever runs it.
    Release(Release),
    /// `latest`, `latest-1`: so many releases before the newest.
    Latest(usize),
    /// `latest-minor-3`: the newest release of the minor that is so many before the newest.
    LatestMinor(usize),
    /// A tag that npm knows.
    Tag(String),
    /// `path:DIR`: a source checkout.
    Path(PathBuf),
    /// A wheel file of one of the four packages.
    Wheel(PathBuf),
}

/// A server or a client as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What kind of package.
    pub kind: Kind,
    /// Which version.
    pub version: Version,
    /// Whether it was asked for as a server, so that a command can be given back in the same words.
    pub server: bool,
    /// As it was typed.
    pub said: String,
}

const SERVER_FORMS: &str =
    "1.58.2, 1.58.2+AB, latest, latest-1, latest-minor-3, path:DIR or a file that ends in .whl";
const CLIENT_FORMS: &str = "python-, typescript- or browser- and a version, as in python-1.58.2, typescript-latest or browser-1.20.0";

impl Wanted {
    /// A server: one of [`Version`]'s forms, npm tags apart.
    pub fn server(said: &str) -> Result<Wanted, EnvError> {
        let version = version(Kind::Python, said).ok_or_else(|| {
            let hint = nearest(said, ["latest", "latest-1", "latest-minor-1"].into_iter());
            EnvError::Word { what: "server", said: said.to_owned(), expected: SERVER_FORMS, hint }
        })?;
        Ok(Wanted { kind: Kind::Python, version, server: true, said: said.to_owned() })
    }

    /// A client: the family, a dash and a version.
    pub fn client(said: &str) -> Result<Wanted, EnvError> {
        let fault =
            |hint| EnvError::Word { what: "client", said: said.to_owned(), expected: CLIENT_FORMS, hint };
        let (family, rest) = said.split_once('-').unwrap_or((said, ""));
        let kind = Kind::ALL.into_iter().find(|kind| kind.word() == family);
        let kind = kind.ok_or_else(|| {
            fault(match version(Kind::Python, said) {
                Some(_) => format!("; did you mean `python-{said}`?"),
                None => nearest(family, Kind::ALL.iter().map(|kind| kind.word())),
            })
        })?;
        let version = version(kind, rest)
            .ok_or_else(|| fault(nearest(rest, ["latest", "latest-1", "latest-minor-1"].into_iter())))?;
        Ok(Wanted { kind, version, server: false, said: said.to_owned() })
    }

    /// The stages that were asked for on top of a release (`AB`), or nothing.
    pub fn stages(&self) -> &str {
        match &self.version {
            Version::Release(release) => release.stages(),
            _ => "",
        }
    }

    /// The command that sets it up.
    pub fn command(&self) -> String {
        let flag = if self.server { "--servers" } else { "--clients" };
        let said = match self.stages() {
            "" => self.said.as_str(),
            stages => self.said.trim_end_matches(stages).trim_end_matches('+'),
        };
        format!("skewlab live setup {flag} {}", quoted(said))
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+=@~".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn version(kind: Kind, said: &str) -> Option<Version> {
    if kind == Kind::Python {
        if let Some(dir) = said.strip_prefix("path:") {
            return (!dir.is_empty()).then(|| Version::Path(dir.into()));
        }
        if Path::new(said).extension().is_some_and(|e| e == "whl") {
            return Some(Version::Wheel(said.into()));
        }
    }
    if let Some(back) = said.strip_prefix("latest-minor-") {
        return back.parse().ok().map(Version::LatestMinor);
    }
    if let Some(back) = said.strip_prefix("latest-") {
        return back.parse().ok().map(Version::Latest);
    }
    if said == "latest" {
        return Some(Version::Latest(0));
    }
    if let Ok(release) = said.parse::<Release>() {
        // npm has no stages of ours, and a Python release has no build part.
        return (kind == Kind::Python || release.stages().is_empty()).then_some(Version::Release(release));
    }
    let tag = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let named = said.starts_with(|c: char| c.is_ascii_alphabetic()) && said.chars().all(tag);
    (kind != Kind::Python && named).then(|| Version::Tag(said.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(said: &str) -> Version {
        Wanted::server(said).unwrap().version
    }

    #[test]
    fn a_version_is_a_release_a_constraint_a_checkout_or_a_wheel() {
        assert_eq!(server("1.58.2"), Version::Release("1.58.2".parse().unwrap()));
        assert_eq!(server("latest"), Version::Latest(0));
        assert_eq!(server("latest-1"), Version::Latest(1));
        assert_eq!(server("latest-minor-3"), Version::LatestMinor(3));
        assert_eq!(server("path:../sdk"), Version::Path("../sdk".into()));
        assert_eq!(server("a/b-1.0.whl"), Version::Wheel("a/b-1.0.whl".into()));
        let staged = Wanted::server("1.58.2+AB").unwrap();
        assert_eq!(staged.stages(), "AB");
        assert_eq!(staged.command(), "skewlab live setup --servers 1.58.2");
    }

    #[test]
    fn a_client_begins_with_its_family() {
        let client = |said: &str| Wanted::client(said).map(|w| (w.kind, w.version)).unwrap();
        assert_eq!(client("python-latest-1"), (Kind::Python, Version::Latest(1)));
        assert_eq!(client("python-path:x y"), (Kind::Python, Version::Path("x y".into())));
        assert_eq!(client("typescript-next"), (Kind::Typescript, Version::Tag("next".to_owned())));
        let alpha = Version::Release("1.0.0-alpha.10".parse().unwrap());
        assert_eq!(client("browser-1.0.0-alpha.10"), (Kind::Browser, alpha));
        let command = Wanted::client("python-path:x y").unwrap().command();
        assert_eq!(command, "skewlab live setup --clients 'python-path:x y'");
    }

    #[test]
    fn a_wrong_word_is_told_the_forms_and_the_nearest_one() {
        let server = |said: &str| Wanted::server(said).unwrap_err().to_string();
        let client = |said: &str| Wanted::client(said).unwrap_err().to_string();
        for said in ["", "1.58", "v1.58.2", "latest-x", "latest-minor-", "path:", "next"] {
            assert!(server(said).contains("path:DIR"), "{said}: {}", server(said));
        }
        assert!(server("lates").contains("did you mean `latest`"), "{}", server("lates"));
        assert!(client("pyhton-1.58.2").contains("`python`"), "{}", client("pyhton-1.58.2"));
        assert!(client("1.58.2").contains("`python-1.58.2`"), "{}", client("1.58.2"));
        for said in ["browser-1.20.0+A", "browser-", "typescript", "typescript-path:x"] {
            assert!(client(said).contains("browser-1.20.0"), "{said}");
        }
    }
}
