//! From what was typed to the parties of a live plan: a released package, or `emulated:` and a profile.

use crate::agent_server::profile::Catalogue;
use crate::cli::error::CliError;
use crate::live::env::{Cache, Environment, Kind, Version, Wanted, find, find_canvas, find_typescript};
use crate::run::live::{ClientPackage, PythonPackage, ServerPackage};
use crate::scenario::Names;
use crate::suite::live::Named;

/// What makes a party our emulation.
const EMULATED: &str = "emulated:";

/// The client of the tree that a server is built from.
const SAME: &str = "python@same";

/// A client that lacks what it needs on Node.
const NO_SHIM: &str = "+no-shim";

/// The servers that were typed; with none, every release that is set up.
pub(in crate::cli) fn servers(
    cache: &Cache,
    typed: &[String],
    catalogue: &Catalogue,
) -> Result<Vec<Named<ServerPackage>>, CliError> {
    let typed = if typed.is_empty() { set_up(cache, Kind::Python, "") } else { typed.to_vec() };
    if typed.is_empty() {
        return Err(CliError::Usage(
            "no server is set up: `skewlab live setup --servers latest` sets one up, and --servers names it"
                .to_owned(),
        ));
    }
    typed.iter().map(|said| server(cache, said, catalogue)).collect()
}

fn server(cache: &Cache, said: &str, catalogue: &Catalogue) -> Result<Named<ServerPackage>, CliError> {
    if let Some(name) = said.strip_prefix(EMULATED) {
        let profile = catalogue.server(name)?.release_name;
        return Ok(named(said, profile, ServerPackage::Emulated));
    }
    let wanted = Wanted::server(said)?;
    let environment = find(cache, &wanted)?;
    let label = label(&wanted, &environment, said);
    let names: Vec<String> = catalogue.servers().all().map(|a| a.name.clone()).collect();
    let profile = standing_in(&wanted, &environment, "", &names, |name| catalogue.server(name).is_ok());
    let package = ServerPackage::Python(python(&wanted, &environment, "openhands-agent-server"));
    Ok(named(&label, profile, package))
}

/// The clients that were typed; with none, every release that is set up.
pub(in crate::cli) fn clients(
    cache: &Cache,
    typed: &[String],
    servers: &[Named<ServerPackage>],
    catalogue: &Catalogue,
) -> Result<Vec<Named<ClientPackage>>, CliError> {
    let mut typed = typed.to_vec();
    if typed.is_empty() {
        for kind in Kind::ALL {
            typed.extend(set_up(cache, kind, &format!("{}-", kind.word())));
        }
    }
    let mut clients = Vec::new();
    for said in &typed {
        match said.strip_prefix(SAME) {
            Some(list) => {
                for server in servers {
                    clients.push(shipped(cache, server, list, catalogue)?);
                }
            }
            None => clients.push(client(cache, said, catalogue)?),
        }
    }
    Ok(clients)
}

/// The client of a server's own tree; `list` is empty or `/LIST`.
fn shipped(
    cache: &Cache,
    server: &Named<ServerPackage>,
    list: &str,
    catalogue: &Catalogue,
) -> Result<Named<ClientPackage>, CliError> {
    let ships = catalogue.ships_python(&server.profile)?;
    let client = match &server.package {
        ServerPackage::Emulated => client(cache, &format!("{EMULATED}{ships}{list}"), catalogue)?,
        ServerPackage::Python(package) => {
            // The client is in the server's own environment; what the tree lays over it may be another stage.
            let stages = ships.split_once('+').map(|(_, stages)| stages.to_owned());
            let ran = package.ran.replace("openhands-agent-server", "openhands-sdk");
            let package = PythonPackage { stages, ran, ..package.clone() };
            let own = server.label == server.profile;
            let label = if own { ships.clone() } else { format!("python-{}", server.label) };
            catalogue.client(&format!("{ships}{list}"))?;
            named(&format!("{label}{list}"), format!("{ships}{list}"), ClientPackage::Python(package))
        }
    };
    Ok(Named { only_with: Some(server.label.clone()), ..client })
}

fn client(cache: &Cache, said: &str, catalogue: &Catalogue) -> Result<Named<ClientPackage>, CliError> {
    if let Some(name) = said.strip_prefix(EMULATED) {
        let choice = catalogue.client(name)?;
        let list = choice.list.map(|list| format!("/{list}")).unwrap_or_default();
        let profile = format!("{}{list}", choice.profile.release_name);
        return Ok(named(said, profile, ClientPackage::Emulated));
    }
    // A path or a wheel holds slashes of its own; a callback list is a plain word after the last one.
    let plain = |list: &str| !list.is_empty() && list.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let (base, list) = match said.rsplit_once('/') {
        Some((base, list)) if plain(list) && !said.contains("path:") => (base, format!("/{list}")),
        _ => (said, String::new()),
    };
    let unshimmed = base.strip_suffix(NO_SHIM);
    let wanted = Wanted::client(unshimmed.unwrap_or(base))?;
    let names: Vec<String> = catalogue.clients().all().map(|a| a.name.clone()).collect();
    let is_known = |name: &str| catalogue.client(name).is_ok();
    match wanted.kind {
        Kind::Python => {
            let environment = find(cache, &wanted)?;
            let label =
                format!("python-{}{list}", label(&wanted, &environment, base.trim_start_matches("python-")));
            let profile = standing_in(&wanted, &environment, "python-", &names, is_known);
            catalogue.client(&format!("{profile}{list}"))?;
            let package = ClientPackage::Python(python(&wanted, &environment, "openhands-sdk"));
            Ok(named(&label, format!("{profile}{list}"), package))
        }
        Kind::Typescript => {
            let found = find_typescript(cache, &wanted)?;
            let suffix = if unshimmed.is_some() { NO_SHIM } else { "" };
            let name = format!("typescript-{}{suffix}", found.release);
            let profile = known_or_newest(&name, &format!("typescript-1.39.0{suffix}"), is_known);
            catalogue.client(&profile)?;
            let ran = format!("@openhands/typescript-client {}", found.release);
            let (node, folder, shim) = (found.node, found.dir, unshimmed.is_none());
            Ok(named(&name, profile, ClientPackage::Node { node, folder, shim, ran }))
        }
        Kind::Browser => {
            let found = find_canvas(cache, &wanted)?;
            let name = format!("browser-{}", found.release);
            let profile = known_or_newest(&name, "browser-1.20.0", is_known);
            let ran = format!("@openhands/agent-canvas {}", found.release);
            Ok(named(&name, profile, ClientPackage::Canvas { build: found.build, ran }))
        }
    }
}

fn named<P>(label: &str, profile: String, package: P) -> Named<P> {
    Named { label: label.to_owned(), profile, package, only_with: None }
}

/// What a party is called in the result: its release, or as it was typed where that is none.
fn label(wanted: &Wanted, environment: &Environment, said: &str) -> String {
    match &wanted.version {
        Version::Release(_) => said.to_owned(),
        Version::Latest(_) | Version::LatestMinor(_) | Version::Tag(_) => environment.release.to_string(),
        // A cell's id is a path: one that is typed must not add to it.
        Version::Path(_) | Version::Wheel(_) => {
            let name = said.trim_start_matches("path:").trim_end_matches(['/']);
            name.rsplit('/').next().unwrap_or(name).to_owned()
        }
    }
}

fn python(wanted: &Wanted, environment: &Environment, package: &str) -> PythonPackage {
    let version =
        environment.packages.get(package).cloned().unwrap_or_else(|| environment.release.to_string());
    let note = environment.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    PythonPackage {
        python: environment.python.clone(),
        overlay: environment.pythonpath.clone(),
        stages: Some(wanted.stages().to_owned()).filter(|stages| !stages.is_empty()),
        ran: format!("{package} {version}{note}"),
    }
}

/// The profile whose expectations a package has: its own, or for one that nobody has described yet the newest of its kind.
fn standing_in(
    wanted: &Wanted,
    environment: &Environment,
    prefix: &str,
    names: &[String],
    is_known: impl Fn(&str) -> bool,
) -> String {
    let own = match &wanted.version {
        Version::Release(_) => wanted.said.clone(),
        _ => format!("{prefix}{}", environment.release),
    };
    if is_known(&own) {
        return own;
    }
    let release = |name: &String| name.strip_prefix(prefix)?.parse::<crate::unit::Release>().ok();
    let released = names.iter().filter_map(|name| Some((name, release(name)?)));
    let newest = released
        .filter(|(_, release)| release.stages().is_empty())
        .reduce(|newest, next| if next.1.at_least(&newest.1) { next } else { newest });
    newest.map_or(own, |(name, _)| name.clone())
}

fn known_or_newest(name: &str, newest: &str, is_known: impl Fn(&str) -> bool) -> String {
    if is_known(name) { name.to_owned() } else { newest.to_owned() }
}

/// The releases of a kind that are set up, as they are typed.
fn set_up(cache: &Cache, kind: Kind, prefix: &str) -> Vec<String> {
    let names = cache.all().into_iter().filter(|(of, _)| *of == kind).map(|(_, name)| name);
    let version = |name: String| name.strip_prefix(&format!("{}-", kind.word())).map(str::to_owned);
    let released = |version: &String| version.parse::<crate::unit::Release>().is_ok();
    names.filter_map(version).filter(released).map(|version| format!("{prefix}{version}")).collect()
}
