//! Bytecode, so that a first start is not the slowest one.
//!
//! Environments made by uv share their source files as hard links into uv's cache. Bytecode is valid for a file's time and
//! size, and its path is mended by the import, so it can be shared in the same way: what another environment holds for the
//! very same file is linked, and only the rest is compiled. It is 190 MB and 20 s for one environment otherwise.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Workshop;
use super::install::Job;
use crate::live::env::error::EnvError;
use crate::live::env::find::python;
use crate::live::env::ready::Ready;
use crate::live::env::tools::Interpreter;
use crate::live::env::wanted::Kind;

impl Workshop<'_> {
    /// Links or compiles the bytecode of everything below `folder`, which lies at `below` in every other environment.
    pub(super) async fn bytecode(
        &mut self,
        name: &str,
        interpreter: &Interpreter,
        dir: &Path,
        below: &Path,
    ) -> Result<(), EnvError> {
        self.steps.step(name, "linking bytecode of other environments");
        let folder = dir.join(below);
        let others: Vec<PathBuf> = self
            .cache
            .all()
            .into_iter()
            .filter(|(kind, other)| *kind == Kind::Python && other != name)
            .map(|(kind, other)| self.cache.dir(kind, &other))
            .filter(
                |other| matches!(Ready::read(other), Ok(Some(ready)) if ready.runtime == interpreter.version),
            )
            .map(|other| other.join(below))
            .collect();
        link(&folder, &others, &interpreter.tag);
        let workers = std::thread::available_parallelism().map_or(1, usize::from).to_string();
        let words = ["-I", "-m", "compileall", "-q", "-j", workers.as_str()];
        let job = Job {
            name,
            step: "compiling bytecode".to_owned(),
            log: "bytecode",
            program: python(dir),
            args: words.iter().map(Into::into).chain([folder.into()]).collect(),
            env: Vec::new(),
            cwd: dir,
        };
        // Some packages ship files that are no Python 3. They fail here, as they would if anybody imported them, and are
        // named in the log; the environment is no worse for it.
        self.run(job).await.map(drop)
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
