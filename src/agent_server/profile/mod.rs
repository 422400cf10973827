//! Profiles: one era of a server or a client as orthogonal traits, in TOML under `scenarios/`.
//!
//! A file may extend another (`extends = "1.43.1"`) and then states only what changed. Within the releases
//! that an era `covers`, `[[since]]` tables change single traits from a release on. Every top-level trait
//! names its source in `[source]`.

pub mod client;
mod embedded;
mod error;
mod faulty;
mod schema;
pub mod server;
mod shelf;

pub use client::{ClientChoice, ClientTraits};
pub use embedded::{CLIENT_FILES, SERVER_FILES};
pub use error::{ProfileError, nearest};
pub use schema::{ClientFile, ServerFile};
pub use server::ServerTraits;
pub use shelf::{About, Profile, Shelf};

use std::path::Path;

use toml::Table;

/// Every profile that can be named: those in the binary, and a user's own.
#[derive(Debug, Clone)]
pub struct Catalogue {
    servers: Shelf,
    clients: Shelf,
}

impl Catalogue {
    /// The profiles that come with skewlab.
    pub fn embedded() -> Result<Catalogue, ProfileError> {
        Ok(Catalogue {
            servers: Shelf::of("server", SERVER_FILES)?,
            clients: Shelf::of("client", CLIENT_FILES)?,
        })
    }

    /// Adds a user's profiles: `DIR/servers/*.toml` and `DIR/clients/*.toml`.
    ///
    /// Errors when a file cannot be read, does not parse, or takes a name that exists.
    pub fn with_dir(mut self, dir: &Path) -> Result<Catalogue, ProfileError> {
        self.servers.add_dir(&dir.join("servers"))?;
        self.clients.add_dir(&dir.join("clients"))?;
        Ok(self)
    }

    /// Adds profiles that are given as text, such as those that a capsule brings; `path` names them in errors.
    pub fn with_texts(
        mut self,
        path: &str,
        servers: &[String],
        clients: &[String],
    ) -> Result<Catalogue, ProfileError> {
        for (shelf, texts) in [(&mut self.servers, servers), (&mut self.clients, clients)] {
            for text in texts {
                shelf.add_text(path, text)?;
            }
        }
        Ok(self)
    }

    /// The servers, by name.
    pub fn servers(&self) -> &Shelf {
        &self.servers
    }

    /// The server that `name` asks for: a profile, or any release that one of them covers.
    ///
    /// Errors when there is none, and when its traits contradict each other.
    pub fn server(&self, name: &str) -> Result<Profile<ServerTraits>, ProfileError> {
        self.server_with(name, &Table::new())
    }

    /// The same with `laid` over its traits: tables merge, everything else replaces.
    ///
    /// Errors also when `laid` names a trait that does not exist or gives one a value that it does not take.
    pub fn server_with(&self, name: &str, laid: &Table) -> Result<Profile<ServerTraits>, ProfileError> {
        let profile: Profile<ServerTraits> = self.servers.resolve_with(name, laid)?;
        match profile.traits.contradiction() {
            Some(message) => Err(ProfileError::Invalid {
                path: format!("server profile `{}`", profile.about.name),
                message,
            }),
            None => Ok(profile),
        }
    }

    /// The clients, by name.
    pub fn clients(&self) -> &Shelf {
        &self.clients
    }

    /// The client that `name` asks for: a profile or any release that one of them covers, and after a slash
    /// the callback list that its application uses (`python-1.58.2/token_callbacks`).
    pub fn client(&self, name: &str) -> Result<ClientChoice, ProfileError> {
        ClientChoice::find(&self.clients, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The top-level keys that a profile sets, or inherits, as traits.
    fn traits_of(files: &[(&str, &str)], name: &str, era: &dyn Fn(&str) -> String) -> Vec<String> {
        // `family` is a label: nothing behaves by it.
        let about = ["name", "covers", "era", "summary", "source", "extends", "since", "family", "what_if"];
        let find = |name: &str| files.iter().find(|(path, _)| path.ends_with(&format!("/{name}.toml")));
        let mut keys = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next {
            let table: toml::Table = find(&name).unwrap().1.parse().unwrap();
            keys.extend(table.keys().filter(|k| !about.contains(&k.as_str())).cloned());
            // A base that is named by a release of an era is that era's file.
            let base = table.get("extends").map(|b| b.as_str().unwrap().to_owned());
            next = base.map(|b| era(&b));
        }
        keys
    }

    #[test]
    fn every_trait_of_every_profile_names_its_source() {
        let catalogue = Catalogue::embedded().unwrap();
        let servers = catalogue.servers().all().map(|a| catalogue.server(&a.name).unwrap().about);
        let server_era = |name: &str| catalogue.server(name).unwrap().about.name;
        let servers = servers.map(|a| (traits_of(SERVER_FILES, &a.name, &server_era), a));
        let clients = catalogue.clients().all().map(|a| catalogue.client(&a.name).unwrap().profile.about);
        let client_era = |name: &str| catalogue.client(name).unwrap().profile.about.name;
        let clients = clients.map(|a| (traits_of(CLIENT_FILES, &a.name, &client_era), a));
        let mut seen = 0;
        for (keys, about) in servers.chain(clients) {
            for key in keys {
                assert!(about.source.contains_key(&key), "{}: `{key}` has no source", about.name);
                seen += 1;
            }
        }
        assert!(seen > 200, "only {seen} traits were looked at");
    }

    #[test]
    fn every_profile_file_is_in_the_binary_and_named_as_it_is() {
        for (dir, files) in [("servers", SERVER_FILES), ("clients", CLIENT_FILES)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(dir);
            assert_eq!(std::fs::read_dir(folder).unwrap().count(), files.len(), "{dir}");
            for (path, text) in files {
                let table: toml::Table = text.parse().unwrap();
                let name = table["name"].as_str().unwrap();
                assert_eq!(*path, format!("scenarios/{dir}/{name}.toml"));
            }
        }
    }

    #[test]
    fn a_what_if_can_be_named_and_is_found_by_no_pattern() {
        let catalogue = Catalogue::embedded().unwrap();
        let what_if = catalogue.server("1.44.1+throttled").unwrap();
        assert!(what_if.about.what_if && what_if.about.covers.is_none());
        let listed = |all: Vec<&About>| all.iter().any(|a| a.name == "1.44.1+throttled");
        assert!(
            !listed(catalogue.servers().abouts().collect()) && listed(catalogue.servers().all().collect())
        );
        let on_top = catalogue.server("1.44.1").unwrap();
        assert!(!on_top.about.what_if, "a base does not take over what extends it");
    }

    #[test]
    fn traits_that_contradict_each_other_are_refused() {
        let server = |file: &str| {
            let mut catalogue = Catalogue::embedded().unwrap();
            let all = [SERVER_FILES, &[("mine.toml", file)]].concat();
            catalogue.servers = Shelf::of("server", &all).unwrap();
            catalogue.server("mine").map(|_| ()).map_err(|e| e.to_string())
        };
        let mine =
            |bus: &str| format!("name = \"mine\"\nextends = \"1.44.1\"\nsummary = \"mine\"\n[bus]\n{bus}");
        let error = server(&mine("kind = \"shared\"")).unwrap_err();
        assert!(error.starts_with("server profile `mine`: `bus.deltas_to`"), "{error}");
        server(&mine("kind = \"shared\"\ndeltas_to = []")).unwrap();
        for (idle, complaint) in [
            ("token_writes = true\nheartbeat_s = 30", "`idle.token_writes`"),
            ("delta_throttle_s = 30", "`idle.delta_throttle_s`"),
        ] {
            let error = server(&mine(&format!("[idle]\n{idle}"))).unwrap_err();
            assert!(error.starts_with(&format!("server profile `mine`: {complaint}")), "{error}");
        }
        server(&mine("kind = \"shared\"\ndeltas_to = []\n[idle]\ndelta_throttle_s = 30")).unwrap();
        server(&mine("deltas_to = [\"websocket\", \"idle\"]")).unwrap();
    }

    #[test]
    fn every_release_since_the_first_delta_has_one_era() {
        let catalogue = Catalogue::embedded().unwrap();
        for (release, era) in [
            ("1.18.1", "1.22.0"),
            ("1.22.1", "1.30.0"),
            ("1.31.0", "1.31.1"),
            ("1.31.2", "1.36.1"),
            ("1.37.0", "1.43.1"),
            ("1.44.0", "1.43.1"),
            ("1.44.1", "1.44.1"),
            ("1.46.0", "1.45.0"),
            ("1.47.0", "1.58.2"),
            ("1.50.3", "1.58.2"),
        ] {
            assert_eq!(catalogue.server(release).unwrap().about.name, era, "{release}");
        }
        for unknown in ["1.18.0", "1.58.3", "2.0.0", "1.50.3+AB", "yesterday"] {
            assert!(catalogue.server(unknown).is_err(), "{unknown}");
        }
    }
}
