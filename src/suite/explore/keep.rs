//! From the first cell of a group to its capsule.

use chrono::NaiveDate;

use super::crew::Crew;
use super::group::{Key, Members, size};
use super::search::ExploreError;
use super::shrink::{Smallest, shrink};
use super::specimen::Specimen;
use crate::agent_server::profile::Catalogue;
use crate::record::explore::{Example, Shrunk};
use crate::record::{CellResult, Observation};
use crate::run::{CellFault, Parties};
use crate::scenario::capsule::{CAPSULE_SCHEMA, CLOCK, Capsule, Head};
use crate::suite::{assemble, fingerprint};

/// What stands for a group, and its capsule.
pub(super) struct Kept {
    pub(super) example: Example,
    pub(super) text: String,
}

/// Shrinks the first cell of a group and writes it down.
pub(super) fn keep(
    key: &Key,
    members: &Members,
    crew: &Crew,
    catalogue: &Catalogue,
) -> Result<Kept, ExploreError> {
    let mut same = |smaller: &Specimen| {
        // What cannot be set up does not go wrong in the same way.
        once(smaller, crew, catalogue).is_ok_and(|(cell, _)| Key::of(&cell) == *key)
    };
    // Each run of a cell that hangs takes a thread for good.
    let hangs = key.reason.as_ref().is_some_and(|reason| reason.as_str() == "hung");
    let Smallest { specimen, runs } = if hangs {
        Smallest { specimen: members.first.clone(), runs: 0 }
    } else {
        shrink(&members.first, &mut same)
    };
    let (judged, result) = once(&specimen, crew, catalogue)?;
    let cell = specimen.cell()?;
    let head = Head {
        schema: CAPSULE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        seed: crew.seed.0,
        clock: CLOCK.to_owned(),
        hash: cell.hash.clone(),
        found: fingerprint::found(&judged, &result, crew.seed),
        profiles: Capsule::profiles(&cell, catalogue),
    };
    let why = format!(
        "Drawn by `skewlab explore --seed {}` as number {}, and shrunk.",
        crew.seed.0, members.number
    );
    let text = Capsule::text(&cell, &head, &why);
    let shrunk = Some(Shrunk { to: size(&specimen), runs });
    let capsule = Some(format!("{}.toml", key.slug()));
    Ok(Kept { example: Example { shrunk, capsule, ..example(members, &specimen) }, text })
}

/// What stands for a group when it is shown as `shown`.
pub(super) fn example(members: &Members, shown: &Specimen) -> Example {
    Example {
        number: members.number,
        server: shown.server.clone(),
        bent: shown.cell().map(|cell| cell.bent()).unwrap_or_default(),
        traits: shown.traits.iter().map(|laid| laid.name.to_owned()).collect(),
        drawn: size(&members.first),
        shrunk: None,
        capsule: None,
    }
}

/// Runs and judges it once.
fn once(
    specimen: &Specimen,
    crew: &Crew,
    catalogue: &Catalogue,
) -> Result<(CellResult, Result<Vec<Observation>, CellFault>), ExploreError> {
    let cell = specimen.cell()?;
    let parties = Parties::of([&cell], catalogue)?;
    let runs = crew.run(vec![specimen.planned()?], parties);
    let result = runs.into_iter().next().map_or(Err(CellFault::Interrupted), |run| run.result);
    Ok((assemble::cell(&cell, &result, NaiveDate::default(), false), result))
}
