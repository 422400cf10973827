//! One headless Chromium under the warden.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::geteuid;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::cdp::Cdp;
use super::error::BrowserError;
use super::memory;
use super::page::Page;
use crate::live::process::{Launch, Running};

/// How long Chromium may take until its debugging port is open. Measured: 0.2 s on a quiet machine, 2.1 s on a busy one.
const LAUNCH: Duration = Duration::from_secs(30);

/// How often the file with the port is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// How long it may take to close by itself before it is told by signal.
const FAREWELL: Duration = Duration::from_secs(3);

/// The file in the profile that says where the debugging port is.
const PORT_FILE: &str = "DevToolsActivePort";

/// The flags that every Chromium gets.
///
/// No page may reach anything but loopback: front ends ask for fonts, for the npm registry and, up to 1.16.0, for
/// telemetry (measured). A page that nobody looks at would have its timers and animation frames held back, and from
/// 1.15.0 on the front end renders deltas in animation frames; the three flags about backgrounding keep them going.
const FLAGS: [&str; 19] = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--mute-audio",
    "--password-store=basic",
    "--window-size=1280,900",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
];

/// A running Chromium. Dropping it kills its whole process group and removes its profile.
pub struct Chromium {
    // Dropped in this order: the connection, the processes, then the folder that they wrote into.
    cdp: Arc<Cdp>,
    running: Running,
    version: String,
    _profile: Profile,
}

impl std::fmt::Debug for Chromium {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chromium")
            .field("version", &self.version)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

impl Chromium {
    /// Starts `program` with a profile in `profile_dir`, which is made when it is missing and removed afterwards if it
    /// was; a folder that was there stays. `warden` is the skewlab program, `log` takes everything that Chromium writes.
    pub async fn launch(
        program: &Path,
        warden: &Path,
        profile_dir: PathBuf,
        log: PathBuf,
    ) -> Result<Chromium, BrowserError> {
        let profile = Profile::make(&profile_dir)?;
        let launch = Launch {
            what: "Chromium".to_owned(),
            program: program.to_owned(),
            args: args(&profile.path),
            env: env(&profile.path),
            cwd: profile.path.clone(),
            log,
            mark: None,
        };
        let mut running = launch.start(warden)?;
        let (addr, path) = debugging_port(&mut running, &profile.path.join(PORT_FILE)).await?;
        let cdp = Cdp::connect(addr, &path).await?;
        let version = cdp.ask("Browser.getVersion", json!({}), "product").await?;
        Ok(Chromium { cdp: Arc::new(cdp), running, version, _profile: profile })
    }

    /// What it calls itself: `Chrome/148.0.7778.167`, say.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Opens an address in a fresh context: no cookie, no storage and no cache of any other page.
    pub async fn open(&self, url: &str) -> Result<Page, BrowserError> {
        Page::open(self.cdp.clone(), url).await
    }

    /// Proportional set size of the whole process group, the warden included, in bytes.
    /// `None` when it is gone or may not be looked into.
    pub fn memory_bytes(&self) -> Option<u64> {
        memory::of_group(self.running.group())
    }

    /// The process group, for looking.
    pub fn group(&self) -> u32 {
        self.running.group()
    }

    /// Closes it: asked first, then by signal, then by force.
    pub async fn stop(mut self) {
        let until = Instant::now() + FAREWELL;
        // One that is gone or hung is stopped below.
        if self.cdp.call(None, "Browser.close", json!({}), FAREWELL).await.is_ok() {
            while self.running.exited().is_none() && Instant::now() < until {
                sleep(LOOK).await;
            }
        }
        let group = self.running.group();
        self.running.stop().await;
        // The processes below the first one are still dying when the warden has seen that end. Dropping the profile
        // after them means that none of them writes into it again.
        while memory::is_group(group) && Instant::now() < until {
            sleep(LOOK).await;
        }
    }
}

fn args(profile: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
    // Chromium refuses to start as root with its sandbox, and the builds of a CI run as root more often than not. For
    // anybody else the sandbox stays.
    if geteuid().is_root() {
        args.push("--no-sandbox".into());
    }
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile);
    args.push(folder);
    args.push("about:blank".into());
    args
}

/// The wrapper script of a distribution needs a path; everything that is written goes below the profile.
fn env(profile: &Path) -> Vec<(OsString, OsString)> {
    let folder = profile.as_os_str();
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("HOME".into(), folder.into()),
        ("XDG_CONFIG_HOME".into(), folder.into()),
        ("XDG_CACHE_HOME".into(), folder.into()),
    ];
    // Chromium makes a Unix socket below its temporary folder, and the address of one holds about a hundred bytes.
    if folder.len() < 60 {
        env.push(("TMPDIR".into(), folder.into()));
    }
    env
}

/// Waits for the file, whose lines are the port and the path of the browser's own endpoint.
async fn debugging_port(running: &mut Running, file: &Path) -> Result<(SocketAddr, String), BrowserError> {
    let until = Instant::now() + LAUNCH;
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(found) = port_and_path(&text) {
            return Ok(found);
        }
        if running.exited().is_some() {
            return Err(running.ended().await.into());
        }
        if Instant::now() >= until {
            let said = running.last_lines();
            return Err(BrowserError::NoPort { path: file.to_owned(), after: LAUNCH, said });
        }
        sleep(LOOK).await;
    }
}

/// `None` while the file is only half written.
fn port_and_path(text: &str) -> Option<(SocketAddr, String)> {
    let (port, path) = text.split_once('\n')?;
    let path = path.trim_end();
    if !path.starts_with("/devtools/browser/") {
        return None;
    }
    Some((SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)), path.to_owned()))
}

/// The profile folder, removed when it was made here.
struct Profile {
    path: PathBuf,
    ours: bool,
}

impl Profile {
    fn make(path: &Path) -> Result<Profile, BrowserError> {
        let failed = |error| BrowserError::Profile { path: path.to_owned(), error };
        let ours = !path.exists();
        std::fs::create_dir_all(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        // A browser that was killed leaves its port behind, and somebody else may listen there by now.
        match std::fs::remove_file(path.join(PORT_FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(BrowserError::Profile { path, error })
            }
            _ => Ok(Profile { path, ours }),
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // Killed processes may write a last file between two looks.
        for _ in 0..20 {
            if !self.ours || std::fs::remove_dir_all(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_written_port_is_none() {
        assert_eq!(port_and_path(""), None);
        assert_eq!(port_and_path("4041"), None);
        assert_eq!(port_and_path("4041\n"), None);
        let (addr, path) = port_and_path("4041\n/devtools/browser/ab-c\n").unwrap();
        assert_eq!((addr.port(), path.as_str()), (4041, "/devtools/browser/ab-c"));
    }

    #[test]
    fn a_profile_that_was_there_stays_and_a_stale_port_goes() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("a/new"));
        std::fs::create_dir(&old).unwrap();
        std::fs::write(old.join(PORT_FILE), "1\n/devtools/browser/x").unwrap();
        drop((Profile::make(&old).unwrap(), Profile::make(&new).unwrap()));
        assert!(old.exists() && !old.join(PORT_FILE).exists());
        assert!(!new.exists());
    }
}
