//! From what was read of a package to the profiles that it implies, and to the differences from the committed ones.
//!
//! This lives above `live`, which reads packages and knows no profile, and above `agent_server`, which knows profiles and
//! no package. Nothing here runs anything: a stored document gives the same answer.
//!
//! | file | idea |
//! |---|---|
//! | `claim` | a trait that a fact says, or the reason why none does |
//! | `server`, `client` | which fact says which trait |
//! | `profile` | names, the profile that says the rest, and the TOML |
//! | `compare` | traits and facts held against another side |
//! | `vocabulary` | the event classes held against another release's, in the language of the vocabulary |
//! | `release` | versions as Python writes them |
//!
//! **Adding a trait to a profile** adds its path to `server` or `client`, with the fact that says it or with a reason in
//! `NOT_ASKED`; a test holds the two lists against the committed profiles.

mod claim;
mod client;
mod compare;
mod profile;
mod release;
mod server;
mod vocabulary;

use std::collections::BTreeMap;

use toml::Table;

use crate::agent_server::client::event_model::{EventModel, Options};
use crate::agent_server::profile::{Catalogue, ProfileError};
use crate::live::extract::Package;
use crate::record::extract::{Against, EXTRACT_SCHEMA, Extraction};
use crate::unit::Release;

pub use profile::{client_toml, server_toml};
pub use vocabulary::lines;

/// A package that implies nothing that could be used.
#[derive(Debug, thiserror::Error)]
pub enum ImplyError {
    /// Its version is none.
    #[error("`{version}` is no release: {problem}")]
    Version {
        /// As the distribution says it.
        version: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No committed era is old enough to say the rest.
    #[error("{release} is older than every {what} profile, so none can say what was not extracted")]
    TooOld {
        /// The release.
        release: Release,
        /// `server` or `Python client`.
        what: &'static str,
    },
    /// The profiles, or the vocabulary, contradict themselves.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// What a package implies. `named` is the version to use where the package does not know its own (a source tree).
///
/// Errors when its version is none, is older than every era, or the traits contradict each other.
pub fn imply(
    package: &Package,
    named: Option<&str>,
    catalogue: &Catalogue,
) -> Result<Extraction, ImplyError> {
    let release = release::release(named.unwrap_or_else(|| package.version()))?;
    let (server_base, client_base) = profile::bases(&release, catalogue)?;
    let server_name = profile::name("", &release, catalogue.servers());
    let client_name = profile::name("python-", &release, catalogue.clients());
    let server = server::claims(package).into_profile(server_name, server_base);
    let client = client::claims(package).into_profile(client_name, client_base);
    // Refused here, with the trait named, and not when somebody loads the file.
    catalogue.server_with(&server.extends, &profile::table(&server.traits))?;
    // A delta that is no event is said by a trait, and is then no change of the classes.
    let delta_is_event =
        by_path(&client).get("decode.delta_is_event").and_then(|v| v.as_bool()).unwrap_or(true);
    let options = Options { delta_is_event, ..Options::default() };
    let (vocabulary, foreign) = match vocabulary::shown(package) {
        Ok(own) => vocabulary::changes(&EventModel::shown(&release, options)?, &own, &release),
        Err(why) => (vec![vocabulary::unread(&why)], Vec::new()),
    };
    Ok(Extraction {
        schema: EXTRACT_SCHEMA.to_owned(),
        release: release.to_string(),
        packages: package.packages.iter().map(|(n, p)| (n.clone(), p.version.clone())).collect(),
        server,
        client,
        vocabulary,
        foreign,
        aside: compare::aside(package),
        unanswered: package.faults.iter().map(|f| (f.fact.clone(), f.message.clone())).collect(),
        against: None,
    })
}

/// Holds an extraction against the committed profiles of its release, or of the era before it where none covers it.
///
/// Errors when the profiles contradict themselves.
pub fn against_committed(own: &Extraction, catalogue: &Catalogue) -> Result<Against, ImplyError> {
    let of = |what: &str, name: &str, base: &str| {
        let shelf = if what == "server" { catalogue.servers() } else { catalogue.clients() };
        let name = if shelf.resolve::<Table>(name).is_ok() { name } else { base };
        shelf.resolve::<Table>(name).map(|p| (p.release_name, p.traits))
    };
    let client_name = format!("python-{}", own.release);
    let (server, server_table) = of("server", &own.release, &own.server.extends)?;
    let (client, client_table) = of("client", &client_name, &own.client.extends)?;
    let mut against = Against {
        what: format!("the committed profiles {server} and {client}"),
        compared: 0,
        traits: Vec::new(),
        classes: own.vocabulary.clone(),
        aside: Vec::new(),
    };
    compare::with_table("server", &own.server, &server_table, &mut against);
    compare::with_table("client", &own.client, &client_table, &mut against);
    Ok(against)
}

/// Holds one package against another one, facts that are no trait included.
///
/// Errors when the other one's version is none.
pub fn against_package(
    own: &Extraction,
    own_package: &Package,
    other: &Extraction,
    other_package: &Package,
) -> Result<Against, ImplyError> {
    let mut against = Against {
        what: format!("the package {}", other.release),
        compared: 0,
        traits: Vec::new(),
        classes: Vec::new(),
        aside: compare::facts(own_package, other_package),
    };
    compare::with_profile("server", &own.server, &other.server, &mut against);
    compare::with_profile("client", &own.client, &other.client, &mut against);
    let release = release::release(&own.release)?;
    let (ours, theirs) = (vocabulary::shown(own_package), vocabulary::shown(other_package));
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let theirs = vocabulary::known(&theirs);
            let (own, foreign) = vocabulary::changes(&theirs, &ours, &release);
            against.classes = [own, foreign].concat();
        }
        (ours, theirs) => {
            against.classes =
                [ours.err(), theirs.err()].into_iter().flatten().map(|w| vocabulary::unread(&w)).collect();
        }
    }
    Ok(against)
}

/// Every trait of a profile that was extracted, by its place.
pub fn by_path(profile: &crate::record::extract::ExtractedProfile) -> BTreeMap<&str, &toml::Value> {
    profile.traits.iter().map(|t| (t.path.as_str(), &t.value)).collect()
}
