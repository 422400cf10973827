//! Loading an environment once: proof that it starts, and bytecode, so that the next start is not the slowest one.
//!
//! Compiling everything instead would cost 130 MB for each environment, most of it for modules that nobody loads. What uv
//! installs is hard links into its cache, so environments share their source files. Their bytecode can be shared as well:
//! it is valid for a file's time and size, and an import mends the path in it. What another environment holds for the very
//! same file is linked; the rest is compiled by the load.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Workshop;
use super::install::Job;
use crate::live::env::error::EnvError;
use crate::live::env::find::python;
use crate::live::env::ready::Ready;
use crate::live::env::tools::Interpreter;
use crate::live::env::wanted::Kind;

/// Loads the modules that are named, with a folder before all others if one is given.
const LOAD: &str = "import importlib, sys
if sys.argv[1]:
    sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
";

impl Workshop<'_> {
    /// Links the bytecode of everything below `folder` that another environment holds for the same file.
    pub(super) fn share_bytecode(&mut self, name: &str, interpreter: &Interpreter, dir: &Path) {
        self.steps.step(name, "linking bytecode of other environments");
        let minor: Vec<&str> = interpreter.version.split('.').take(2).collect();
        let below = format!("lib/python{}/site-packages", minor.join("."));
        let others: Vec<PathBuf> = self
            .cache
            .all()
            .into_iter()
            .filter(|(kind, other)| *kind == Kind::Python && other != name)
            .map(|(kind, other)| self.cache.dir(kind, &other))
            .filter(
                |other| matches!(Ready::read(other), Ok(Some(ready)) if ready.runtime == interpreter.version),
            )
            .map(|other| other.join(&below))
            .collect();
        link(&dir.join(&below), &others, &interpreter.tag);
    }

    /// Loads the server and the client once. `overlay` is put before what the environment in `dir` holds.
    pub(super) async fn load(
        &mut self,
        name: &str,
        dir: &Path,
        overlay: Option<&Path>,
    ) -> Result<(), EnvError> {
        let home = self.cache.logs(name).join("home");
        std::fs::create_dir_all(&home).map_err(EnvError::io(&home))?;
        let overlay = overlay.map_or_else(OsString::new, Into::into);
        let mut args: Vec<OsString> = ["-I", "-c", LOAD].iter().map(Into::into).collect();
        args.push(overlay);
        args.extend(self.recipes.python.modules.iter().map(Into::into));
        let job = Job {
            name,
            step: "loading it once".to_owned(),
            log: "load",
            program: python(dir),
            args,
            // A home of its own: what a package leaves there must not meet the user's, and the price list of litellm is not
            // fetched.
            env: vec![
                ("HOME".into(), home.clone().into()),
                ("LITELLM_LOCAL_MODEL_COST_MAP".into(), "True".into()),
                ("OPENHANDS_SUPPRESS_BANNER".into(), "1".into()),
            ],
            cwd: &home,
        };
        self.install(job).await
    }
}

/// Links `__pycache__/NAME.TAG.pyc` for every source file that is the same file in one of the other folders.
fn link(folder: &Path, others: &[PathBuf], tag: &str) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut made = false;
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = path.file_name() else { continue };
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() && name != "__pycache__" {
            let below: Vec<PathBuf> = others.iter().map(|o| o.join(name)).filter(|o| o.is_dir()).collect();
            if !below.is_empty() {
                link(&path, &below, tag);
            }
        }
        if !meta.is_file() || meta.nlink() < 2 || path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        let same = |other: &&PathBuf| {
            let other = other.join(name).symlink_metadata();
            other.is_ok_and(|other| (other.ino(), other.dev()) == (meta.ino(), meta.dev()))
        };
        let Some(other) = others.iter().find(same) else { continue };
        let file = format!("{}.{tag}.pyc", path.file_stem().unwrap_or_default().to_string_lossy());
        made = made || std::fs::create_dir_all(folder.join("__pycache__")).is_ok();
        // Where it cannot be linked it is compiled.
        let _ =
            std::fs::hard_link(other.join("__pycache__").join(&file), folder.join("__pycache__").join(&file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytecode_is_shared_for_the_same_file_only() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["a/p/__pycache__", "b/p"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for name in ["same", "other"] {
            std::fs::write(at(&format!("a/p/{name}.py")), "x = 1").unwrap();
            std::fs::write(at(&format!("a/p/__pycache__/{name}.cpython-312.pyc")), name).unwrap();
        }
        std::fs::hard_link(at("a/p/same.py"), at("b/p/same.py")).unwrap();
        std::fs::write(at("b/p/other.py"), "x = 1").unwrap();
        link(&at("b"), &[at("a")], "cpython-312");
        let linked = std::fs::metadata(at("b/p/__pycache__/same.cpython-312.pyc")).unwrap();
        assert_eq!(
            linked.ino(),
            std::fs::metadata(at("a/p/__pycache__/same.cpython-312.pyc")).unwrap().ino()
        );
        assert!(!at("b/p/__pycache__/other.cpython-312.pyc").exists());
    }
}
