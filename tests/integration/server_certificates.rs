//! The certificates of servers: every committed one is still held by its emulation, and where the released packages are
//! set up they are asked again.

use std::path::{Path, PathBuf};

use skewlab::agent_server::profile::Catalogue;
use skewlab::live::env::{Cache, Wanted, find};
use skewlab::record::Certificate;
use skewlab::run::calibrate::Identity;
use skewlab::run::calibrate_server::{calibrate_server, server_answers_hash, server_cases_hash};
use skewlab::run::live::PythonPackage;

/// Servers that hold one.
const SERVERS: [&str; 4] = ["1.43.1", "1.44.1", "1.45.0", "1.58.2"];

fn path(server: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "reports", "certificates", &format!("{server}.json")].iter().collect()
}

fn committed(server: &str) -> Certificate {
    let path = path(server);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_committed_server_certificate_is_still_held() {
    let catalogue = Catalogue::embedded().unwrap();
    for server in SERVERS {
        let certificate = committed(server);
        let again = "ask the package again (tests/integration/certificates.rs says how)";
        assert_eq!(certificate.profile, server);
        assert!(certificate.proves(), "{server}: it proves nothing: {:?}", certificate.disagreements);
        assert_eq!(certificate.cases_hash, server_cases_hash().unwrap(), "{server}: other cases; {again}");
        let answers = server_answers_hash(&catalogue.server(server).unwrap()).unwrap();
        assert_eq!(certificate.answers_hash, answers, "{server}: the emulation answers otherwise; {again}");
    }
}

/// Needs the packages: `SKEWLAB_CACHE` names a cache with them (`skewlab live setup`), and `SKEWLAB_WARDEN` the skewlab
/// program. With `UPDATE_CERTIFICATES=1` what comes out is written to `reports/certificates`.
#[test]
fn released_servers_answer_as_their_certificates_say() {
    let (Some(cache), true) =
        (std::env::var_os("SKEWLAB_CACHE"), std::env::var_os("SKEWLAB_WARDEN").is_some())
    else {
        eprintln!("skipped: SKEWLAB_CACHE and SKEWLAB_WARDEN are not set, so no released server is asked");
        return;
    };
    let cache = Cache::locate(Some(Path::new(&cache))).unwrap();
    let only = std::env::var("SKEWLAB_SERVERS").unwrap_or_default();
    let mut differ = Vec::new();
    for server in SERVERS.into_iter().filter(|s| only.is_empty() || only.split(',').any(|o| o == *s)) {
        let environment = match find(&cache, &Wanted::server(server).unwrap()) {
            Ok(environment) => environment,
            Err(error) => {
                eprintln!("skipped {server}: {error}");
                continue;
            }
        };
        let package = "openhands-agent-server";
        let version = environment.packages[package].clone();
        let python = PythonPackage {
            python: environment.python.clone(),
            overlay: environment.pythonpath.clone(),
            stages: None,
            ran: format!("{package} {version}"),
        };
        let laid_over = environment.pythonpath.as_ref().and(environment.note.clone());
        let identity =
            Identity { package: package.to_owned(), version, hash: environment.hash.clone(), laid_over };
        let profile = Catalogue::embedded().unwrap().server(server).unwrap();
        let folder =
            std::env::temp_dir().join(format!("skewlab-certificate-{server}-{}", std::process::id()));
        let certificate = calibrate_server(&profile, &python, &identity, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        let certificate = certificate.unwrap();
        for d in &certificate.disagreements {
            eprintln!("{server}: {}, {}:\n  emulated {}\n  real     {}", d.case, d.what, d.emulated, d.real);
        }
        if std::env::var_os("UPDATE_CERTIFICATES").is_some() {
            std::fs::create_dir_all(path(server).parent().unwrap()).unwrap();
            let text = serde_json::to_string_pretty(&certificate).unwrap() + "\n";
            std::fs::write(path(server), text).unwrap();
        }
        if !certificate.proves() {
            differ.push(server);
        }
    }
    assert!(differ.is_empty(), "these say something else than their emulation: {differ:?}");
}
