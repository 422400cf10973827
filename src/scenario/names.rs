//! What expansion has to know about parties: their names, their eras, and which client a server ships.

use toml::Table;

#[cfg(test)]
use crate::agent_server::profile::nearest;
use crate::agent_server::profile::{Catalogue, ProfileError};

/// The client that the server's release ships, as a scenario writes it.
pub const SAME: &str = "python@same";

/// A party's name, looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The release asked for, without a callback list: `python-1.47.0`.
    pub release: String,
    /// The profile that describes it: `python-1.55.1`.
    pub profile: String,
}

/// The names that a scenario may use. The catalogue has them; tests have a small list of their own.
pub trait Names {
    /// The server that `name` asks for: a profile, or a release that one covers.
    fn server(&self, name: &str) -> Result<Resolved, ProfileError>;
    /// The client that `name` asks for, with its callback list (`NAME/LIST`) checked.
    fn client(&self, name: &str) -> Result<Resolved, ProfileError>;
    /// All server profiles, in catalogue order.
    fn server_names(&self) -> Vec<String>;
    /// All client profiles, in catalogue order.
    fn client_names(&self) -> Vec<String>;
    /// The Python client that the server `name` ships.
    fn ships_python(&self, name: &str) -> Result<String, ProfileError>;
    /// Whether these traits can be laid over those of the server `name`.
    fn check_traits(&self, name: &str, laid: &Table) -> Result<(), ProfileError>;
}

impl Names for Catalogue {
    fn server(&self, name: &str) -> Result<Resolved, ProfileError> {
        let profile = Catalogue::server(self, name)?;
        Ok(Resolved { release: profile.release_name, profile: profile.about.name })
    }

    fn client(&self, name: &str) -> Result<Resolved, ProfileError> {
        let choice = Catalogue::client(self, name)?;
        Ok(Resolved { release: choice.profile.release_name, profile: choice.profile.about.name })
    }

    fn server_names(&self) -> Vec<String> {
        self.servers().abouts().map(|a| a.name.clone()).collect()
    }

    fn client_names(&self) -> Vec<String> {
        self.clients().abouts().map(|a| a.name.clone()).collect()
    }

    fn ships_python(&self, name: &str) -> Result<String, ProfileError> {
        let server = Catalogue::server(self, name)?;
        Ok(match server.traits.ships.python {
            // A server that says nothing ships the client of its release, or of the one that it is built on.
            own if own.is_empty() => match &server.release {
                Some(release) => format!("python-{}", release.released()),
                None => format!("python-{}", server.release_name),
            },
            other => other,
        })
    }

    fn check_traits(&self, name: &str, laid: &Table) -> Result<(), ProfileError> {
        self.server_with(name, laid).map(drop)
    }
}

#[cfg(test)]
pub(super) mod double {
    //! The real servers and a fixed list of clients.

    use super::*;
    use crate::unit::Release;

    const CLIENTS: [&str; 17] = [
        "python-1.30.0",
        "python-1.34.0",
        "python-1.37.1",
        "python-1.55.1",
        "python-1.58.2",
        "python-1.43.1+AB",
        "python-1.43.1+ABC",
        "python-1.58.2+AB",
        "python-1.58.2+ABC",
        "typescript-1.39.0",
        "typescript-1.39.0+no-shim",
        "browser-1.0.0-alpha.10",
        "browser-1.4.0",
        "browser-1.6.1",
        "browser-1.14.0",
        "browser-1.20.0",
        "browser-session",
    ];

    pub(in crate::scenario) struct Double(Catalogue);

    impl Double {
        pub(in crate::scenario) fn new() -> Double {
            Double(Catalogue::embedded().unwrap())
        }
    }

    /// The Python era of a plain release.
    fn era(name: &str) -> Option<&'static str> {
        let release: Release = name.strip_prefix("python-")?.parse().ok()?;
        let eras = [
            (">=1.10, <1.31", "python-1.30.0"),
            (">=1.31, <1.35", "python-1.34.0"),
            (">=1.35, <1.38", "python-1.37.1"),
            (">=1.38, <1.56", "python-1.55.1"),
            (">=1.56, <=1.58.2", "python-1.58.2"),
        ];
        let plain = release.stages().is_empty();
        eras.into_iter().find(|(r, _)| plain && release.within(&r.parse().unwrap())).map(|(_, name)| name)
    }

    impl Names for Double {
        fn server(&self, name: &str) -> Result<Resolved, ProfileError> {
            Names::server(&self.0, name)
        }

        fn client(&self, name: &str) -> Result<Resolved, ProfileError> {
            let (base, list) = name.split_once('/').map_or((name, None), |(b, l)| (b, Some(l)));
            let profile =
                CLIENTS.into_iter().find(|c| *c == base).or_else(|| era(base)).ok_or_else(|| {
                    let hint = nearest(base, CLIENTS.into_iter());
                    ProfileError::Unknown { what: "client", name: base.to_owned(), hint }
                })?;
            let has = list.is_none_or(|l| {
                profile.starts_with("python-")
                    && (l == "callbacks" || l == "token_callbacks" || l == "delta_callbacks")
            });
            if !has {
                let known = "callbacks, token_callbacks".to_owned();
                let list = list.unwrap_or_default().to_owned();
                return Err(ProfileError::List { client: base.to_owned(), list, known });
            }
            Ok(Resolved { release: base.to_owned(), profile: profile.to_owned() })
        }

        fn server_names(&self) -> Vec<String> {
            Names::server_names(&self.0)
        }

        fn client_names(&self) -> Vec<String> {
            CLIENTS.iter().map(|c| (*c).to_owned()).collect()
        }

        fn ships_python(&self, name: &str) -> Result<String, ProfileError> {
            Names::ships_python(&self.0, name)
        }

        fn check_traits(&self, name: &str, laid: &Table) -> Result<(), ProfileError> {
            Names::check_traits(&self.0, name, laid)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_ships_the_client_of_its_release() {
        let names = double::Double::new();
        let ships = |s: &str| names.ships_python(s).unwrap();
        assert_eq!(ships("1.43.1"), "python-1.43.1");
        assert_eq!(ships("1.50.3"), "python-1.50.3");
        assert_eq!(ships("1.43.1+A"), "python-1.43.1+AB");
        assert_eq!(ships("1.58.2+step7"), "python-1.58.2");
        for server in names.server_names() {
            names.client(&ships(&server)).unwrap();
        }
    }
}
