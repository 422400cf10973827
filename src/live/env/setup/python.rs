//! A Python environment: made by uv, from the index, a checkout or a wheel.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::Workshop;
use super::install::Job;
use super::lock::Lock;
use crate::live::env::ask::ask;
use crate::live::env::error::EnvError;
use crate::live::env::find::{OVERLAY, Resolved, python};
use crate::live::env::ready::{Base, Ready};
use crate::live::env::recipe::Overlay;
use crate::live::env::source::numbers;
use crate::live::env::tools::{self, Interpreter};
use crate::live::env::wanted::Kind;
use crate::unit::Release;

const LIMIT: Duration = Duration::from_mins(2);

/// uv's words for requirements that contradict each other.
const UNSOLVED: &str = "No solution found";

/// Prints what is installed and, of the packages that are named, the hash of the list of their files' hashes. Files of the
/// installer (`.dist-info`) and scripts, which hold the environment's path, are left out.
const INVENTORY: &str = r#"
import hashlib, importlib.metadata, json, re, sys
overlay, names = sys.argv[1], sys.argv[2:]
if overlay:
    sys.path.insert(0, overlay)
packages, hashes = {}, {}
for found in importlib.metadata.distributions():
    name = re.sub(r"[-_.]+", "-", found.metadata["Name"] or "").lower()
    if not name or name in packages:
        continue
    packages[name] = found.version
    if name in names:
        files = [str(f) + " " + f.hash.value for f in found.files or [] if f.hash]
        files = [f for f in files if ".dist-info/" not in f and not f.startswith("..") and not f.startswith("bin/")]
        hashes[name] = hashlib.sha256("\n".join(sorted(files)).encode()).hexdigest()
print(json.dumps({"packages": packages, "hashes": hashes}))
"#;

#[derive(Deserialize)]
struct Inventory {
    packages: BTreeMap<String, String>,
    hashes: BTreeMap<String, String>,
}

impl Workshop<'_> {
    /// uv and a Python to make environments of. One of the two may be missing, and is then installed by the other.
    pub(super) async fn python(&mut self) -> Result<(PathBuf, Interpreter), EnvError> {
        if let Some(found) = &self.python {
            return Ok(found.clone());
        }
        let minors = self.recipes.python.interpreters.clone();
        let uv = tools::uv(self.cache);
        let found = match (tools::python(self.named_python, &minors, uv.as_deref()).await, uv) {
            (Ok(python), Some(uv)) => (uv, python),
            (Ok(python), None) => (self.own_uv(&python).await?, python),
            (Err(_), Some(uv)) if self.named_python.is_none() => {
                let minor = minors.first().cloned().unwrap_or_default();
                let words = ["python", "install", minor.as_str()];
                let step = format!("downloading Python {minor}, as none was found");
                let cwd = self.cache.root();
                let args = words.iter().map(Into::into).collect();
                let job =
                    Job { name: "python", step, log: "python", program: uv.clone(), args, env: vec![], cwd };
                self.install(job).await?;
                let python = tools::python(None, &minors, Some(&uv)).await?;
                (uv, python)
            }
            (Err(error), _) => return Err(error),
        };
        self.python = Some(found.clone());
        Ok(found)
    }

    /// Installs uv into an environment of skewlab's own.
    async fn own_uv(&mut self, with: &Interpreter) -> Result<PathBuf, EnvError> {
        let _lock = Lock::take(self.cache, "uv", self.steps).await?;
        if let Some(uv) = tools::uv(self.cache) {
            return Ok(uv);
        }
        let dir = self.cache.own_uv();
        let cwd = self.cache.root();
        let job = |step: &str, log, program, words: &[&str]| {
            let args = words.iter().map(Into::into).collect();
            Job { name: "uv", step: step.to_owned(), log, program, args, env: vec![], cwd }
        };
        let place = dir.display().to_string();
        self.install(job(
            "making a place for uv, as none was found",
            "venv",
            with.path.clone(),
            &["-I", "-m", "venv", &place],
        ))
        .await?;
        self.install(job(
            "installing uv",
            "install",
            python(&dir),
            &["-I", "-m", "pip", "install", "--quiet", "uv"],
        ))
        .await?;
        tools::uv(self.cache).ok_or_else(|| EnvError::NoProgram {
            program: "uv",
            looked: place,
            mend: "install uv by hand, as in pip install uv".to_owned(),
        })
    }

    pub(super) async fn python_environment(
        &mut self,
        resolved: &Resolved,
        dir: &Path,
    ) -> Result<Ready, EnvError> {
        let overlay = match (&resolved.source, &resolved.release) {
            (None, Some(release)) => self.recipes.overlay(release).cloned(),
            _ => None,
        };
        let whole = self.whole(resolved, dir).await;
        match (overlay, whole) {
            // Its own dependencies are the better ones, as long as there are any.
            (Some(overlay), Err(EnvError::Installer { said, .. }))
                if said.iter().any(|l| l.contains(UNSOLVED)) =>
            {
                self.clear(&resolved.name, dir)?;
                self.laid_over(&overlay, resolved, dir).await
            }
            (_, whole) => whole,
        }
    }

    async fn whole(&mut self, resolved: &Resolved, dir: &Path) -> Result<Ready, EnvError> {
        let (uv, interpreter) = self.python().await?;
        let name = resolved.name.as_str();
        let env = self.uv_env(&uv).await;
        let words = ["venv", "--quiet", "--allow-existing", "--python"];
        let args =
            words.iter().map(Into::into).chain([interpreter.path.clone().into(), dir.into()]).collect();
        let step = format!("making an environment with Python {}", interpreter.version);
        let job = Job {
            name,
            step,
            log: "venv",
            program: uv.clone(),
            args,
            env: env.clone(),
            cwd: self.cache.root(),
        };
        self.install(job).await?;
        let (requirements, refresh) = self.requirements(resolved).await?;
        let pins = resolved.release.as_ref().map(|release| self.recipes.pins(release)).unwrap_or_default();
        let mut args: Vec<OsString> = ["pip", "install", "--python"].iter().map(Into::into).collect();
        args.push(python(dir).into());
        // uv takes a checkout for unchanged while its pyproject.toml is.
        for package in refresh {
            args.extend(["--refresh-package".into(), package.clone().into()]);
            args.extend(["--reinstall-package".into(), package.into()]);
        }
        args.extend(requirements.iter().chain(&pins).map(Into::into));
        let step = if pins.is_empty() {
            "installing its packages".to_owned()
        } else {
            format!("installing its packages with {}", pins.join(", "))
        };
        let job = Job { name, step, log: "install", program: uv, args, env, cwd: self.cache.root() };
        self.install(job).await?;
        self.share_bytecode(name, &interpreter, dir);
        self.load(name, dir, None).await?;
        let inventory = self.inventory(name, dir, None).await?;
        let release = self.installed(resolved, &inventory)?;
        let source = resolved.source.as_ref().map(|source| source.fingerprint.clone());
        let mut ready = Ready::new(release, interpreter.version, source);
        (ready.packages, ready.hashes, ready.pins) = (inventory.packages, inventory.hashes, pins);
        Ok(ready)
    }

    /// The release's own files in a folder, to be put before the environment of another release.
    async fn laid_over(
        &mut self,
        overlay: &Overlay,
        resolved: &Resolved,
        dir: &Path,
    ) -> Result<Ready, EnvError> {
        let base = Resolved::release(Kind::Python, &overlay.base, None);
        // Boxed, because making the base is what this is part of.
        let (below, _) = Box::pin(self.environment(&base)).await?;
        let (uv, interpreter) = self.python().await?;
        let name = resolved.name.as_str();
        let target = dir.join(OVERLAY);
        let base_dir = self.cache.dir(Kind::Python, &base.name);
        let env = self.uv_env(&uv).await;
        let mut args: Vec<OsString> =
            ["pip", "install", "--no-deps", "--python"].iter().map(Into::into).collect();
        args.extend([python(&base_dir).into(), "--target".into(), target.clone().into()]);
        args.extend(self.requirements(resolved).await?.0.into_iter().map(OsString::from));
        let step = format!("installing its files, to run on what {} runs on", overlay.base);
        let job = Job { name, step, log: "install", program: uv, args, env, cwd: self.cache.root() };
        self.install(job).await?;
        self.load(name, &base_dir, Some(&target)).await?;
        let inventory = self.inventory(name, &base_dir, Some(&target)).await?;
        let mut ready = Ready::new(self.installed(resolved, &inventory)?, interpreter.version, None);
        ready.note = Some(format!("runs on the dependencies of {}: {}", overlay.base, overlay.because));
        ready.base = Some(Base { name: base.name, hash: below.hash() });
        ready.runtime.clone_from(&below.runtime);
        (ready.packages, ready.hashes, ready.pins) = (inventory.packages, inventory.hashes, below.pins);
        Ok(ready)
    }

    /// What to install, and the packages of it that uv must not take from its cache.
    async fn requirements(&mut self, resolved: &Resolved) -> Result<(Vec<String>, Vec<String>), EnvError> {
        let names = self.recipes.python.packages.clone();
        let Some(source) = &resolved.source else {
            let release = Self::released(resolved)?;
            return Ok((names.iter().map(|name| format!("{name}=={release}")).collect(), Vec::new()));
        };
        let mut requirements = Vec::new();
        let mut refresh = Vec::new();
        let given: Vec<&String> = source.packages.iter().map(|(name, _)| name).collect();
        // What is not in the source is of the same version if that was released, else the newest.
        let mut released = None;
        if names.iter().any(|name| !given.contains(&name)) {
            let package = self.recipes.index_of(Kind::Python).to_owned();
            let versions = self.versions(Kind::Python, &package).await?;
            let same = |release: &&Release| source.version.as_deref() == Some(release.to_string().as_str());
            released = versions.released.iter().find(same).cloned();
        }
        for name in &names {
            match (source.packages.iter().find(|(given, _)| given == name), &released) {
                (Some((_, place)), _) => {
                    requirements.push(format!("{name} @ file://{}", escaped(place)));
                    refresh.push(name.clone());
                }
                (None, Some(release)) => requirements.push(format!("{name}=={release}")),
                (None, None) => requirements.push(name.clone()),
            }
        }
        Ok((requirements, refresh))
    }

    /// The release that was asked for, or what the installed server's version begins with.
    fn installed(&self, resolved: &Resolved, inventory: &Inventory) -> Result<Release, EnvError> {
        let server = self.recipes.index_of(Kind::Python);
        let found = inventory.packages.get(server).and_then(|version| numbers(version));
        resolved.release.clone().or(found).map_or_else(|| Self::released(resolved), Ok)
    }

    async fn inventory(
        &mut self,
        name: &str,
        dir: &Path,
        overlay: Option<&Path>,
    ) -> Result<Inventory, EnvError> {
        self.steps.step(name, "taking stock");
        let overlay = overlay.map_or_else(String::new, |path| path.display().to_string());
        let mut args = vec!["-I", "-c", INVENTORY, &overlay];
        args.extend(self.recipes.python.packages.iter().map(String::as_str));
        let said = match ask(&python(dir), &args, &[], LIMIT).await {
            Ok(answer) if answer.well => match serde_json::from_str(&answer.out) {
                Ok(inventory) => return Ok(inventory),
                Err(error) => error.to_string(),
            },
            Ok(answer) => answer.err,
            Err(said) => said,
        };
        let said = said.lines().map(str::to_owned).collect();
        let log = self.cache.logs(name);
        Err(EnvError::Installer {
            name: name.to_owned(),
            step: "taking stock".into(),
            how: "no answer".into(),
            said,
            log,
        })
    }

    /// uv never chooses an interpreter by itself here, and its cache has to be on the disk of ours: it links files, and
    /// otherwise would copy 570 MB for each environment.
    async fn uv_env(&self, uv: &Path) -> Vec<(OsString, OsString)> {
        use std::os::unix::fs::MetadataExt as _;
        let mut env =
            vec![("UV_PYTHON_DOWNLOADS".into(), "never".into()), ("UV_NO_PROGRESS".into(), "1".into())];
        let there = match ask(uv, &["cache", "dir"], &[], LIMIT).await {
            Ok(answer) => PathBuf::from(answer.out.trim()),
            Err(_) => return env,
        };
        let disk = |path: &Path| path.ancestors().find_map(|p| p.metadata().ok()).map(|meta| meta.dev());
        if disk(&there) != disk(self.cache.root()) {
            env.push(("UV_CACHE_DIR".into(), self.cache.root().join("uv").into()));
        }
        env
    }
}

/// A path within a `file://` address.
fn escaped(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'+' => text.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(*byte)),
            byte => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
