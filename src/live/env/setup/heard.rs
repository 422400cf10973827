//! Asking which versions there are: pip for the Python packages, npm for the others. Both know the user's mirrors, proxies
//! and certificates.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::Workshop;
use super::install::{proxy, shortened};
use super::lock::Lock;
use super::node::QUICK;
use crate::live::env::ask::{Answer, ask};
use crate::live::env::error::EnvError;
use crate::live::env::index::{Index, Versions};
use crate::live::env::tools;
use crate::live::env::wanted::Kind;

/// How long an index may take.
const LIMIT: Duration = Duration::from_secs(90);

/// What was asked in this set-up already.
#[derive(Debug, Default)]
pub(super) struct Heard {
    packages: BTreeMap<String, Versions>,
}

/// What `npm view` prints.
#[derive(Deserialize)]
struct View {
    /// A package with one version has a string here.
    versions: serde_json::Value,
    #[serde(rename = "dist-tags", default)]
    tags: BTreeMap<String, String>,
}

impl Workshop<'_> {
    /// The versions of a package, asked once in a set-up, and kept for the commands that may not ask.
    pub(super) async fn versions(&mut self, kind: Kind, package: &str) -> Result<Versions, EnvError> {
        if let Some(known) = self.heard.packages.get(package) {
            return Ok(known.clone());
        }
        let versions = match kind {
            Kind::Python => self.of_pip(package).await?,
            Kind::Typescript | Kind::Browser => self.of_npm(package).await?,
        };
        self.heard.packages.insert(package.to_owned(), versions.clone());
        let _lock = Lock::take(self.cache, "index", self.steps).await?;
        let mut index = Index::read(self.cache);
        index.packages.insert(package.to_owned(), versions.clone());
        index.write(self.cache).map_err(|error| self.full("the index", error))?;
        Ok(versions)
    }

    async fn of_pip(&mut self, package: &str) -> Result<Versions, EnvError> {
        let (uv, python) = self.python().await?;
        self.steps.step(package, "asking which versions there are");
        let question = ["index", "versions", package];
        let mut env =
            vec![("PIP_DISABLE_PIP_VERSION_CHECK", "1".to_owned()), ("PIP_RETRIES", "1".to_owned())];
        // A mirror that was set for uv holds for the question too.
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        if set("PIP_INDEX_URL").is_none() {
            env.extend(set("UV_DEFAULT_INDEX").or(set("UV_INDEX_URL")).map(|url| ("PIP_INDEX_URL", url)));
        }
        let own = [&["-I", "-m", "pip"][..], &question].concat();
        let mut answer = ask(&python.path, &own, &env, LIMIT).await;
        // A Python of a distribution may come without pip; uv fetches one.
        if answer.as_ref().is_ok_and(|a| !a.well && a.err.contains("No module named pip")) {
            env.push(("UV_PYTHON", python.path.display().to_string()));
            env.push(("UV_PYTHON_DOWNLOADS", "never".to_owned()));
            answer = ask(&uv, &[&["tool", "run", "pip"][..], &question].concat(), &env, LIMIT).await;
        }
        let answer = answered(package, answer)?;
        let line = answer.out.lines().find_map(|line| line.strip_prefix("Available versions:"));
        let words = line.ok_or_else(|| silent(package, &answer.out))?.split(',').map(str::trim);
        Ok(Versions::of(words, BTreeMap::new()))
    }

    async fn of_npm(&mut self, package: &str) -> Result<Versions, EnvError> {
        let npm = npm()?;
        self.steps.step(package, "asking which versions there are");
        let args = ["view", package, "versions", "dist-tags", "--json"];
        let env = QUICK.map(|(name, value)| (name, value.to_owned()));
        let answer = answered(package, ask(&npm, &args, &env, LIMIT).await)?;
        let view: View = serde_json::from_str(&answer.out).map_err(|_| silent(package, &answer.out))?;
        let words: Vec<&str> = match &view.versions {
            serde_json::Value::Array(all) => all.iter().filter_map(|v| v.as_str()).collect(),
            one => one.as_str().into_iter().collect(),
        };
        Ok(Versions::of(words.into_iter(), view.tags))
    }
}

/// The npm on this machine. It needs a node, which is the error to give where both are missing.
pub(super) fn npm() -> Result<PathBuf, EnvError> {
    tools::on_path("node").ok_or_else(tools::no_node)?;
    tools::on_path("npm").ok_or_else(|| EnvError::NoProgram {
        program: "npm",
        looked: "PATH".to_owned(),
        mend: "install npm, as in apt-get install npm".to_owned(),
    })
}

fn answered(package: &str, answer: Result<Answer, String>) -> Result<Answer, EnvError> {
    let said = match answer {
        Ok(answer) if answer.well => return Ok(answer),
        Ok(answer) => reasons(&(answer.err + &answer.out)),
        Err(said) => vec![said],
    };
    let proxy = proxy().map_or_else(String::new, |line| format!(" ({line})"));
    Err(EnvError::Index { package: package.to_owned(), proxy, said })
}

/// pip says why it could not connect in a warning before its error.
fn reasons(output: &str) -> Vec<String> {
    let warned = output.lines().filter(|line| line.contains("after connection broken")).take(1);
    let warned = warned.map(|line| line.chars().take(300).collect::<String>());
    warned.chain(shortened(output)).collect()
}

fn silent(package: &str, out: &str) -> EnvError {
    let mut said = vec!["the answer holds no versions".to_owned()];
    said.extend(out.lines().take(3).map(str::to_owned));
    EnvError::Index { package: package.to_owned(), proxy: String::new(), said }
}
