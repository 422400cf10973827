//! Packages from npm: a client with its dependencies, or only the built files of a front end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Workshop;
use super::heard::npm;
use super::install::Job;
use crate::live::env::error::EnvError;
use crate::live::env::find::Resolved;
use crate::live::env::ready::{Ready, hex};
use crate::live::env::recipe::Npm;
use crate::live::env::tools;

/// npm waits ten seconds and more before it tries again, for each package; who cannot be reached is to be told soon.
pub(super) const QUICK: [(&str, &str); 4] = [
    ("npm_config_fetch_retries", "1"),
    ("npm_config_fetch_retry_mintimeout", "1000"),
    ("npm_config_fetch_retry_maxtimeout", "2000"),
    ("npm_config_update_notifier", "false"),
];

/// npm's own list of what it installed.
#[derive(Deserialize)]
struct Installed {
    packages: BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    version: Option<String>,
    integrity: Option<String>,
}

impl Workshop<'_> {
    /// The package and what it needs, as `npm install` lays them out.
    pub(super) async fn typescript(&mut self, resolved: &Resolved, dir: &Path) -> Result<Ready, EnvError> {
        let recipe = self.recipes.typescript.clone();
        let mut ready = self.started(resolved).await?;
        let file = dir.join("package.json");
        std::fs::write(&file, "{\"private\": true}\n").map_err(super::full_or_io(
            &resolved.name,
            self.cache,
            &file,
        ))?;
        let step = if recipe.extra.is_empty() {
            "installing it".to_owned()
        } else {
            format!("installing it with {}", recipe.extra.join(", "))
        };
        let words =
            ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--save-exact"];
        let args = words.iter().map(|w| (*w).to_owned()).chain([wanted(&recipe, &ready)]);
        let args = args.chain(recipe.extra.iter().cloned()).map(OsString::from).collect();
        self.npm(&resolved.name, step, args, dir).await?;
        let list = dir.join("node_modules/.package-lock.json");
        let text = std::fs::read_to_string(&list).map_err(EnvError::io(&list))?;
        let installed: Installed = serde_json::from_str(&text)
            .map_err(|error| EnvError::Io { path: list.clone(), error: error.into() })?;
        for (place, package) in installed.packages {
            let name = place.rsplit("node_modules/").next().unwrap_or(&place).to_owned();
            ready.packages.extend(package.version.map(|version| (name.clone(), version)));
            ready.hashes.extend(package.integrity.map(|hash| (name, hash)));
        }
        Ok(ready)
    }

    /// The package's archive, and of that only what is kept.
    pub(super) async fn browser(&mut self, resolved: &Resolved, dir: &Path) -> Result<Ready, EnvError> {
        let recipe = self.recipes.browser.clone();
        let mut ready = self.started(resolved).await?;
        let mut args: Vec<OsString> =
            ["pack", "--ignore-scripts", "--pack-destination"].iter().map(Into::into).collect();
        args.extend([dir.into(), wanted(&recipe, &ready).into()]);
        self.npm(&resolved.name, "downloading it".to_owned(), args, dir).await?;
        let archive = archive(dir)?;
        let mut args: Vec<OsString> = ["--strip-components=1", "-xzf"].iter().map(Into::into).collect();
        args.push(archive.clone().into());
        args.extend(recipe.keep.iter().map(|kept| format!("package/{kept}").into()));
        let step = format!("unpacking {}", recipe.keep.join(" and "));
        let tar = tools::on_path("tar").ok_or_else(|| EnvError::NoProgram {
            program: "tar",
            looked: "PATH".to_owned(),
            mend: "apt-get install tar".to_owned(),
        })?;
        let job =
            Job { name: &resolved.name, step, log: "unpack", program: tar, args, env: Vec::new(), cwd: dir };
        self.install(job).await?;
        let bytes = std::fs::read(&archive).map_err(EnvError::io(&archive))?;
        ready.hashes.insert(recipe.package.clone(), format!("sha256-{}", hex(&Sha256::digest(&bytes))));
        ready.packages.insert(recipe.package, ready.release.to_string());
        std::fs::remove_file(&archive).map_err(EnvError::io(&archive))?;
        Ok(ready)
    }

    async fn started(&mut self, resolved: &Resolved) -> Result<Ready, EnvError> {
        let node = tools::program("node", "install Node.js 20 or newer").await?;
        Ok(Ready::new(Self::released(resolved)?, node.version, None))
    }

    async fn npm(
        &mut self,
        name: &str,
        step: String,
        args: Vec<OsString>,
        cwd: &Path,
    ) -> Result<(), EnvError> {
        let env = QUICK.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let job = Job { name, step, log: "npm", program: npm()?, args, env, cwd };
        self.install(job).await
    }
}

fn wanted(recipe: &Npm, ready: &Ready) -> String {
    format!("{}@{}", recipe.package, ready.release)
}

/// The one archive in a folder.
fn archive(dir: &Path) -> Result<PathBuf, EnvError> {
    let entries = std::fs::read_dir(dir).map_err(EnvError::io(dir))?;
    let found =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "tgz"));
    found.ok_or_else(|| EnvError::Io {
        path: dir.to_owned(),
        error: std::io::Error::other("npm packed no archive"),
    })
}
