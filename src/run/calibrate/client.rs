//! One client: every frame by itself, and the corpus on a socket.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::answer::{Answer, Difference, difference};
use super::canvas;
use super::cases::{Case, CaseKind, cases_for, cases_hash};
use super::error::CalibrateError;
use super::frames::{answers, answers_hash, ask};
use super::socket;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::profile::client::ClientChoice;
use crate::live::driver::Driver;
use crate::record::{CERTIFICATE_SCHEMA, Certificate, Disagreement};
use crate::run::CellFault;
use crate::run::live::ClientPackage;
use crate::run::live::crew::driver_spec;
use crate::run::live::rig::Rig;

/// The server in front of a client that no server of its own release is known for.
const NEWEST: &str = "1.58.2";

/// Which package was asked, as a certificate has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `openhands-sdk`.
    pub package: String,
    /// `1.58.2`, with its stages.
    pub version: String,
    /// Hash of the environment, as its set-up noted it.
    pub hash: String,
    /// What it runs on, where that is not its own set of dependencies.
    pub laid_over: Option<String>,
}

/// A client to calibrate.
#[derive(Debug)]
pub struct ClientAsked<'a> {
    /// Where its server and its profile come from.
    pub catalogue: &'a Catalogue,
    /// Its profile, with its own callback list.
    pub choice: &'a ClientChoice,
    /// The package.
    pub package: &'a ClientPackage,
    /// What the certificate says of it.
    pub identity: Identity,
    /// Where its driver may write.
    pub folder: PathBuf,
    /// The browser, for a front end.
    pub chromium: Option<PathBuf>,
}

/// The server that a client is asked in front of: its own release's, or the newest.
pub fn own_server(catalogue: &Catalogue, choice: &ClientChoice) -> String {
    let own = choice.profile.release.as_ref().map(|release| release.released().to_string());
    own.filter(|server| catalogue.server(server).is_ok()).unwrap_or_else(|| NEWEST.to_owned())
}

/// Asks emulation and package the same, frame by frame and on a socket, and says where they differ.
///
/// Errors when the package could not be asked.
pub fn calibrate_client(asked: &ClientAsked<'_>) -> Result<Certificate, CalibrateError> {
    let profile = asked.choice.profile.release_name.as_str();
    let rig_fault = |fault| CalibrateError::Rig { profile: profile.to_owned(), fault };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| rig_fault(CellFault::Setup(e.to_string())))?;
    let cases = cases_for(asked.catalogue, asked.choice)?;
    let mine = answers(asked.choice, &cases)?;
    let found = match asked.package {
        ClientPackage::Canvas { .. } => runtime.block_on(page(asked, &cases))?,
        _ => runtime.block_on(library(asked, &cases, &mine))?,
    };
    Ok(Certificate {
        schema: CERTIFICATE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        profile: profile.to_owned(),
        package: asked.identity.package.clone(),
        version: asked.identity.version.clone(),
        package_hash: asked.identity.hash.clone(),
        laid_over: asked.identity.laid_over.clone(),
        cases_hash: cases_hash(&cases),
        answers_hash: answers_hash(&mine),
        asked: found.asked,
        disagreements: found.disagreements,
    })
}

/// What was asked of a package, and where it differs.
struct Found {
    asked: BTreeMap<String, u64>,
    disagreements: Vec<Disagreement>,
}

/// A front end: every case in a page.
async fn page(asked: &ClientAsked<'_>, cases: &[Case]) -> Result<Found, CalibrateError> {
    let profile = asked.choice.profile.release_name.as_str();
    let rig_fault = |fault| CalibrateError::Rig { profile: profile.to_owned(), fault };
    let rig = Rig::start(asked.folder.clone(), asked.chromium.clone()).await.map_err(rig_fault)?;
    // Its number is not the servers': the newest one writes what the corpus holds.
    let server = asked.catalogue.server(NEWEST)?;
    let shown = canvas::show(&rig, asked.package, asked.choice, &server, cases).await?;
    let differ = cases.iter().zip(&shown).flat_map(|(case, (emulated, real))| {
        canvas::difference(emulated, real).into_iter().map(|found| disagreement(&case.name, found))
    });
    Ok(Found { asked: counted(cases), disagreements: differ.collect() })
}

/// A library: every case by itself, and the corpus on a socket.
async fn library(asked: &ClientAsked<'_>, cases: &[Case], mine: &[Answer]) -> Result<Found, CalibrateError> {
    let (real, heard) = both(asked, cases).await?;
    let mut found = Found { asked: counted(cases), disagreements: disagreements(cases, mine, &real) };
    found.asked.insert("socket".to_owned(), heard.len() as u64);
    for (case, (emulated, real)) in cases.iter().zip(&heard) {
        let name = format!("{} on a socket", case.name);
        let differ = socket::difference(emulated, real);
        found.disagreements.extend(differ.into_iter().map(|found| disagreement(&name, found)));
    }
    Ok(found)
}

/// The package's answers, and what was heard on the socket, in the order of the cases.
async fn both(
    asked: &ClientAsked<'_>,
    cases: &[Case],
) -> Result<(Vec<Answer>, Vec<(socket::Heard, socket::Heard)>), CalibrateError> {
    let profile = asked.choice.profile.release_name.as_str();
    let rig_fault = |fault| CalibrateError::Rig { profile: profile.to_owned(), fault };
    let rig = Rig::start(asked.folder.clone(), None).await.map_err(rig_fault)?;
    let spec = driver_spec(&rig, profile, asked.package).ok_or_else(|| CalibrateError::Unasked {
        profile: profile.to_owned(),
        problem: "it is no library, and has no driver that could be asked".to_owned(),
    })?;
    let failed = |error| CalibrateError::Driver { profile: profile.to_owned(), error };
    let mut driver = Driver::start(spec, &rig.warden, rig.clock).await.map_err(failed)?;
    let server = asked.catalogue.server(&own_server(asked.catalogue, asked.choice))?;
    let corpus: Vec<Case> = cases.iter().filter(|case| case.kind == CaseKind::Corpus).cloned().collect();
    let told = async {
        let real = ask(profile, &mut driver, cases).await?;
        let heard = socket::hear(&rig, &mut driver, asked.choice, &server, &corpus).await?;
        Ok((real, heard))
    };
    let told = told.await;
    driver.stop().await;
    told
}

fn counted(cases: &[Case]) -> BTreeMap<String, u64> {
    let mut asked = BTreeMap::new();
    for case in cases {
        *asked.entry(case.kind.as_str().to_owned()).or_insert(0) += 1;
    }
    asked
}

/// Where the answers to the same cases differ.
pub fn disagreements(cases: &[Case], emulated: &[Answer], real: &[Answer]) -> Vec<Disagreement> {
    let each = cases.iter().zip(emulated.iter().zip(real));
    let each = each.flat_map(|(case, (emulated, real))| {
        difference(emulated, real).into_iter().map(|found| disagreement(&case.name, found))
    });
    each.collect()
}

fn disagreement(case: &str, (what, emulated, real): Difference) -> Disagreement {
    Disagreement { case: case.to_owned(), what: what.to_owned(), emulated, real, because: None }
}
