//! From what an axis lists to the parties that it means.

use toml::Spanned;

use super::names::{Names, Resolved, SAME};
use super::pattern::{Glob, is_literal};
use super::problem::Problem;
use super::section::{Faults, hint};
use crate::agent_server::profile::ProfileError;

/// A server of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// The name asked for: a profile or a release.
    pub(super) name: String,
    /// The profile.
    pub(super) profile: String,
}

/// A client of the plan, on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    /// How the axis asks for it, once or more often.
    pub(super) asked: Vec<String>,
    /// Its release, with the callback list.
    pub(super) name: String,
    /// Its profile.
    pub(super) profile: String,
    /// All names that a pattern may use for it.
    pub(super) names: Vec<String>,
}

/// The servers that an axis lists, each once. A glob stands for the profiles that it matches.
pub(super) fn servers(listed: &[String], names: &impl Names) -> Result<Vec<Server>, ProfileError> {
    let mut servers: Vec<Server> = Vec::new();
    for name in literals(listed, &names.server_names()) {
        let Resolved { release, profile } = names.server(&name)?;
        if servers.iter().all(|s| s.name != release) {
            servers.push(Server { name: release, profile });
        }
    }
    Ok(servers)
}

/// The clients that an axis lists, as asked: globs replaced by the profiles that they match.
pub(super) fn asked(listed: &[String], names: &impl Names) -> Vec<String> {
    let mut asked = Vec::new();
    for name in listed {
        let (base, list) = split(name);
        for base in literals(&[base.to_owned()], &names.client_names()) {
            let full = join(&base, list);
            // A glob with a callback list means the clients that have it.
            if is_literal(name) || names.client(&full).is_ok() {
                asked.push(full);
            }
        }
    }
    asked
}

/// The clients to run against `server`, each once; those asked for under several names keep all of them.
pub(super) fn clients(
    asked: &[String],
    server: &Server,
    names: &impl Names,
) -> Result<Vec<Client>, (String, ProfileError)> {
    let mut clients: Vec<Client> = Vec::new();
    let shipped = names.ships_python(&server.name).ok();
    for asked in asked {
        let failed = |e: ProfileError| (asked.clone(), e);
        let (base, list) = split(asked);
        let concrete =
            if base == SAME { names.ships_python(&server.name).map_err(failed)? } else { base.to_owned() };
        let Resolved { release, profile } = names.client(&join(&concrete, list)).map_err(failed)?;
        let name = join(&release, list);
        if let Some(known) = clients.iter_mut().find(|c| c.name == name) {
            if !known.asked.contains(asked) {
                known.asked.push(asked.clone());
            }
            continue;
        }
        // What a cell is expected to do must not depend on the name it was selected by.
        let same = shipped.as_ref().is_some_and(|s| *s == release).then(|| SAME.to_owned());
        let plain: Vec<String> = [Some(release), Some(profile.clone()), same].into_iter().flatten().collect();
        let with_list = plain.iter().filter(|_| list.is_some()).map(|n| join(n, list));
        let all = with_list.chain(plain.iter().cloned()).collect();
        clients.push(Client { asked: vec![asked.clone()], name, profile, names: all });
    }
    Ok(clients)
}

/// Reports a server name of a file that no profile describes, or a glob that matches none.
pub(super) fn check_server(text: &Spanned<String>, names: &impl Names, faults: &mut Faults) {
    let all = names.server_names();
    if is_literal(text.get_ref()) {
        unknown(text, names.server(text.get_ref()).err(), &all, faults);
    } else {
        matching(text, text.get_ref(), "server", &all, faults);
    }
}

/// The same for a client name. `python@same` is looked up on each of `servers`.
pub(super) fn check_client(
    text: &Spanned<String>,
    servers: &[Server],
    names: &impl Names,
    faults: &mut Faults,
) {
    let mut all = names.client_names();
    all.push(SAME.to_owned());
    let (base, list) = split(text.get_ref());
    if base == SAME {
        for server in servers {
            let client = names.ships_python(&server.name).and_then(|c| names.client(&join(&c, list)));
            if let Err(error) = client {
                return unknown(text, Some(error), &all, faults);
            }
        }
    } else if is_literal(text.get_ref()) {
        unknown(text, names.client(text.get_ref()).err(), &all, faults);
    } else {
        matching(text, base, "client", &all, faults);
    }
}

/// Reports a pattern of a table that no server can go by: neither a profile nor a release that one covers.
pub(super) fn check_server_pattern(text: &Spanned<String>, names: &impl Names, faults: &mut Faults) {
    if is_literal(text.get_ref()) {
        return check_server(text, names, faults);
    }
    let all = names.server_names();
    fits(text, text.get_ref(), "server", &all, |name| names.server(name).is_ok(), faults);
}

/// The same for clients.
pub(super) fn check_client_pattern(text: &Spanned<String>, names: &impl Names, faults: &mut Faults) {
    let (base, _) = split(text.get_ref());
    if is_literal(text.get_ref()) || base == SAME {
        return check_client(text, &[], names, faults);
    }
    let mut all = names.client_names();
    all.push(SAME.to_owned());
    fits(text, base, "client", &all, |name| names.client(name).is_ok(), faults);
}

fn fits(
    text: &Spanned<String>,
    base: &str,
    what: &'static str,
    all: &[String],
    is_known: impl Fn(&str) -> bool,
    faults: &mut Faults,
) {
    // What is no pattern at all was said.
    let Ok(glob) = Glob::new(base) else { return };
    if !all.iter().any(|name| glob.matches(name)) && covered(&glob, all, is_known).is_none() {
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let word = base.replace(['*', '?', '[', ']', '!'], "");
        let (pattern, hint) = (text.get_ref().clone(), hint(&word, &all));
        faults.add(text.span(), Problem::MatchesNothing { what, pattern, hint });
    }
}

/// A release that some profile covers and the pattern matches. A profile covers more releases than are written down anywhere, so
/// those that there could be are tried.
fn covered(glob: &Glob, all: &[String], is_known: impl Fn(&str) -> bool) -> Option<String> {
    let kinds: std::collections::BTreeSet<&str> =
        all.iter().filter_map(|name| Some(&name[..name.find(|c: char| c.is_ascii_digit())?])).collect();
    let minors = (0..100).flat_map(|minor| (0..10).map(move |patch| format!("1.{minor}.{patch}")));
    let releases: Vec<String> = minors.collect();
    let each = kinds.iter().flat_map(|kind| releases.iter().map(move |release| format!("{kind}{release}")));
    each.filter(|name| glob.matches(name)).find(|name| is_known(name))
}

/// A pattern of a table as something to ask for: itself, or where no profile goes by it a release that does.
pub(super) fn some_server(pattern: &str, names: &impl Names) -> String {
    some(pattern, &names.server_names(), |name| names.server(name).is_ok())
}

/// The same for clients, with the callback list.
pub(super) fn some_client(pattern: &str, names: &impl Names) -> String {
    let (base, list) = split(pattern);
    join(&some(base, &names.client_names(), |name| names.client(name).is_ok()), list)
}

fn some(pattern: &str, all: &[String], is_known: impl Fn(&str) -> bool) -> String {
    let release = Glob::new(pattern)
        .ok()
        .filter(|glob| !glob.is_literal() && !all.iter().any(|name| glob.matches(name)));
    release.and_then(|glob| covered(&glob, all, is_known)).unwrap_or_else(|| pattern.to_owned())
}

fn unknown(text: &Spanned<String>, error: Option<ProfileError>, all: &[String], faults: &mut Faults) {
    let Some(error) = error else { return };
    let (message, hint) = match &error {
        ProfileError::Unknown { what, name, hint: near } => {
            // The shelf knows what-ifs as well, which no pattern finds: their names have a plus.
            let near = near.strip_prefix("; ");
            let near = near.filter(|near| name.contains('+') && near.starts_with("did you mean"));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let help = near.map_or_else(|| hint(name, &all), str::to_owned);
            (format!("no {what} profile is called `{name}` and none covers it"), help)
        }
        other => (other.to_string(), String::new()),
    };
    faults.add(text.span(), Problem::UnknownParty { message, hint });
}

fn matching(text: &Spanned<String>, base: &str, what: &'static str, all: &[String], faults: &mut Faults) {
    let pattern = text.get_ref().clone();
    match Glob::new(base) {
        Ok(glob) if all.iter().any(|name| glob.matches(name)) => {}
        Ok(_) => faults.add(text.span(), Problem::NoMatch { what, pattern }),
        Err(e) => faults.add(text.span(), Problem::BadPattern { pattern, message: e.to_string() }),
    }
}

/// Literal names as they are, globs as the names that they match; a bad glob matches nothing.
fn literals(listed: &[String], all: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in listed {
        match Glob::new(name) {
            Ok(glob) if !glob.is_literal() => out.extend(all.iter().filter(|n| glob.matches(n)).cloned()),
            _ => out.push(name.clone()),
        }
    }
    out
}

fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once('/').map_or((name, None), |(base, list)| (base, Some(list)))
}

fn join(base: &str, list: Option<&str>) -> String {
    list.map_or_else(|| base.to_owned(), |list| format!("{base}/{list}"))
}
