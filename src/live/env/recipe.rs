//! What a release needs beside itself: `scenarios/environments.toml`, read.

use semver::VersionReq;
use serde::Deserialize;

use super::error::EnvError;
use super::wanted::Kind;
use crate::unit::Release;

const TEXT: &str = include_str!("../../../scenarios/environments.toml");

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipes {
    /// The Python packages.
    pub python: Python,
    /// The TypeScript client.
    pub typescript: Npm,
    /// The front end.
    pub browser: Npm,
}

/// How a Python environment is made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The packages that are released together; the first one is the one whose versions are asked for.
    pub packages: Vec<String>,
    /// Minor versions of Python that may run them, the preferred one first: `3.12`.
    pub interpreters: Vec<String>,
    /// What has to load before an environment counts as ready.
    pub modules: Vec<String>,
    /// Why these.
    pub because: String,
    /// Requirements beside the packages.
    #[serde(default)]
    pub pin: Vec<Pin>,
    /// Releases that are laid over another one's environment.
    #[serde(default)]
    pub overlay: Vec<Overlay>,
}

/// Requirements of a range of releases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Which releases.
    pub releases: VersionReq,
    /// What they need, as an installer reads it.
    pub requires: Vec<String>,
    /// Why.
    pub because: String,
}

/// A range of releases for which an installer may find no dependencies any more: then their own files are laid over the
/// environment of `base`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Which releases.
    pub releases: VersionReq,
    /// The release whose dependencies they run on.
    pub base: Release,
    /// Why.
    pub because: String,
}

/// A package from npm.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Npm {
    /// Its name there.
    pub package: String,
    /// Packages beside it.
    #[serde(default)]
    pub extra: Vec<String>,
    /// Only these files and folders of the package are kept, and its dependencies are not installed. Empty: all of it,
    /// with its dependencies.
    #[serde(default)]
    pub keep: Vec<String>,
    /// Why so.
    pub because: String,
}

impl Recipes {
    /// The shipped file.
    pub fn embedded() -> Result<Recipes, EnvError> {
        let recipes: Recipes = toml::from_str(TEXT).map_err(|error| EnvError::Recipe(error.to_string()))?;
        match recipes.python.packages.first() {
            Some(_) => Ok(recipes),
            None => Err(EnvError::Recipe("`python.packages` is empty".to_owned())),
        }
    }

    /// The package whose versions are the versions of this kind.
    pub fn index_of(&self, kind: Kind) -> &str {
        match kind {
            // `embedded` made sure that there is one.
            Kind::Python => self.python.packages.first().map_or("", String::as_str),
            Kind::Typescript => &self.typescript.package,
            Kind::Browser => &self.browser.package,
        }
    }

    /// The requirements of a release beside its packages.
    pub fn pins(&self, release: &Release) -> Vec<String> {
        let pins = self.python.pin.iter().filter(|pin| release.within(&pin.releases));
        pins.flat_map(|pin| pin.requires.iter().cloned()).collect()
    }

    /// What the release is laid over where it does not install by itself.
    pub fn overlay(&self, release: &Release) -> Option<&Overlay> {
        self.python.overlay.iter().find(|overlay| release.within(&overlay.releases))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Release {
        text.parse().unwrap()
    }

    #[test]
    fn old_servers_get_an_old_fastapi() {
        let recipes = Recipes::embedded().unwrap();
        assert_eq!(recipes.pins(&release("1.43.1")), ["fastapi<0.130"]);
        assert_eq!(recipes.pins(&release("1.57.0")), ["fastapi<0.130"]);
        assert_eq!(recipes.pins(&release("1.57.0+A")), ["fastapi<0.130"]);
        assert_eq!(recipes.pins(&release("1.58.0")), [""; 0]);
    }

    #[test]
    fn what_may_not_resolve_is_laid_over_what_does() {
        let recipes = Recipes::embedded().unwrap();
        assert_eq!(recipes.overlay(&release("1.35.0")).unwrap().base, release("1.43.1"));
        for plain in ["1.34.0", "1.37.1", "1.43.1", "1.58.2"] {
            assert_eq!(recipes.overlay(&release(plain)), None, "{plain}");
        }
        // A base that is an overlay itself could not be installed.
        for overlay in &recipes.python.overlay {
            assert_eq!(recipes.overlay(&overlay.base), None);
            assert!(!overlay.because.is_empty());
        }
    }
}
