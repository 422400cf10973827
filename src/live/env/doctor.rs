//! What is there, what is missing, and the one command that mends it.

use std::path::Path;

use super::cache::Cache;
use super::error::EnvError;
use super::find::{Resolved, inspect, resolve};
use super::recipe::Recipes;
use super::tools;
use super::wanted::{Kind, Wanted};

/// How one thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is there.
    Found,
    /// It is not, or may not be used.
    Missing {
        /// The one command that mends it, or what to do where no command can.
        mend: String,
    },
    /// It is not there, and nothing that was asked for needs it, or a set-up brings it along.
    NotNeeded,
}

/// One line of the doctor's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked for: `python`, `python-1.58.2`.
    pub what: String,
    /// How it is.
    pub state: State,
    /// Version and place, or what is wrong.
    pub detail: String,
}

/// Looks at the programs that the wanted parties need, and at their environments. With nothing wanted everything is
/// needed, and every environment in the cache is looked at. Changes nothing and downloads nothing.
pub async fn doctor(
    cache: &Cache,
    wanted: &[Wanted],
    python: Option<&Path>,
    chromium: Option<&Path>,
) -> Result<Vec<Check>, EnvError> {
    let needs = |kind: Kind| wanted.is_empty() || wanted.iter().any(|w| w.kind == kind);
    let recipes = Recipes::embedded()?;
    let mut checks = Vec::new();
    let uv = tools::uv(cache);
    let found = tools::python(python, &recipes.python.interpreters, uv.as_deref()).await;
    let found = found.map(|python| tools::Program { version: python.version, path: python.path });
    // A set-up downloads a Python with uv, and installs uv with a Python: only without both there is something to mend.
    checks.push(check("python", found, needs(Kind::Python) && uv.is_none()));
    let has_python = checks.iter().any(|check| check.state == State::Found);
    let found = match &uv {
        Some(path) => tools::version(path).await.map_err(|looked| none("uv", looked)),
        None => Err(none("uv", "PATH, ~/.local/bin, ~/.cargo/bin and the cache".to_owned())),
    };
    checks.push(check("uv", found, needs(Kind::Python) && !has_python));
    let git = tools::program("git", "apt-get install git").await;
    checks.push(check("git", git, needs(Kind::Python)));
    let node = tools::program("node", "install Node.js 20 or newer, as in apt-get install nodejs").await;
    checks.push(check("node", node, needs(Kind::Typescript) || needs(Kind::Browser)));
    let npm = tools::program("npm", "install npm, as in apt-get install npm").await;
    checks.push(check("npm", npm, needs(Kind::Typescript) || needs(Kind::Browser)));
    checks.push(check("chromium", tools::find_chromium(chromium).await, needs(Kind::Browser)));
    if wanted.is_empty() {
        checks.extend(cache.all().into_iter().map(|(kind, name)| held(cache, kind, name)));
    }
    for wanted in wanted {
        let check = environment(cache, wanted);
        // A server and a client of one version share an environment.
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    Ok(checks)
}

fn none(program: &'static str, looked: String) -> EnvError {
    EnvError::NoProgram { program, looked, mend: "pip install uv".to_owned() }
}

fn check(what: &str, found: Result<tools::Program, EnvError>, needed: bool) -> Check {
    let what = what.to_owned();
    match found {
        Ok(program) => {
            let detail = format!("{}  {}", program.version, program.path.display());
            Check { what, state: State::Found, detail }
        }
        Err(error) => {
            let (detail, mend) = match error {
                EnvError::NoProgram { looked, mend, .. } => (format!("looked at {looked}"), mend),
                other => (other.to_string(), String::new()),
            };
            let state = if needed { State::Missing { mend } } else { State::NotNeeded };
            Check { what, state, detail }
        }
    }
}

/// An environment that somebody asks for.
fn environment(cache: &Cache, wanted: &Wanted) -> Check {
    let missing = |what: &str, detail: String| Check {
        what: what.to_owned(),
        state: State::Missing { mend: wanted.command() },
        detail,
    };
    match resolve(cache, wanted) {
        Ok(resolved) => match looked_at(cache, &resolved) {
            Ok(check) => check,
            Err(problem) => missing(&resolved.name, problem),
        },
        Err(EnvError::NeverAsked { .. }) => {
            missing(&wanted.said, "which release that is has not been asked yet".to_owned())
        }
        Err(error) => missing(&wanted.said, error.to_string()),
    }
}

/// An environment that is in the cache, ready or not.
fn held(cache: &Cache, kind: Kind, name: String) -> Check {
    let release = name.split_once('-').and_then(|(_, rest)| rest.parse::<crate::unit::Release>().ok());
    let resolved = Resolved { kind, name: name.clone(), release: None, note: None, source: None };
    looked_at(cache, &resolved).unwrap_or_else(|problem| {
        let dir = cache.dir(kind, &name);
        let mend = match release {
            Some(_) => format!("skewlab live setup --clients {name}"),
            // Only its folder is known, not the file that it was made from.
            None => format!("rm -r {}", dir.display()),
        };
        Check { what: name, state: State::Missing { mend }, detail: problem }
    })
}

fn looked_at(cache: &Cache, resolved: &Resolved) -> Result<Check, String> {
    let ready = inspect(cache, resolved)?.ok_or_else(|| "not set up".to_owned())?;
    let on = if resolved.kind == Kind::Python { "Python" } else { "node" };
    let mut detail = format!("set up {} with {on} {}", ready.set_up, ready.runtime);
    for more in [resolved.note.as_ref(), ready.note.as_ref()].into_iter().flatten() {
        detail.push_str("; ");
        detail.push_str(more);
    }
    Ok(Check { what: resolved.name.clone(), state: State::Found, detail })
}
