//! Where a budget on CPU gets its measurement from.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::bench::fan_out;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::profile::server::DeltaClass;
use crate::record::CpuRatio;
use crate::record::bench::{Delivery, Settings};
use crate::run::CellRun;
use crate::run::fanout::{Options, Subject};
use crate::scenario::{Cell, Planned};
use crate::seed::Seed;

/// Measures CPU per token of the cell's server, with its traits and subscribers, over that of the server named
/// second, by the clock on the wall and with a control; none where it cannot.
pub type MeasureCpu<'a> = dyn FnMut(&Cell, &str) -> Option<CpuRatio> + 'a;

/// Hands every cell with a `cpu_ratio_vs` its measurement. Two servers are measured once, in the order of the plan,
/// and all cells that differ only in client, workload or mutation share it. A cell without evidence needs none.
pub fn measure_cpu_ratios(cells: &[Planned], runs: &mut [CellRun], measure: &mut MeasureCpu<'_>) {
    let mut measured: BTreeMap<(&str, String, u32, &str), Option<CpuRatio>> = BTreeMap::new();
    for (cell, run) in cells.iter().zip(runs) {
        let Some(cell) = cell.agent_server() else { continue };
        let (Some(limit), Ok(clients)) = (&cell.budget.cpu, &mut run.result) else { continue };
        let vs = limit.server.as_str();
        let pair = (cell.server.as_str(), cell.traits.to_string(), cell.subscribers, vs);
        let ratio = *measured.entry(pair).or_insert_with(|| measure(cell, vs));
        for client in clients {
            client.cpu_ratio = ratio;
        }
    }
}

/// Blocks of each server: enough for an interval that says something.
const BLOCKS: u32 = 15;

/// Chunks in a block.
const CHUNKS: u32 = 100;

/// Measures with the fan-out bench: both servers up at once, taking turns, with a second copy of the one they are
/// compared with. None where the bench could not be run; `told` hears why.
pub fn by_bench<'a>(
    catalogue: &'a Catalogue,
    seed: Seed,
    stop: &'a AtomicBool,
    told: &'a dyn Fn(&str),
) -> impl FnMut(&Cell, &str) -> Option<CpuRatio> + 'a {
    move |cell, vs| {
        let ratio = measured(catalogue, seed, stop, cell, vs);
        ratio.map_err(|why| told(&format!("{} against {vs}: CPU was not measured: {why}", cell.server))).ok()
    }
}

fn measured(
    catalogue: &Catalogue,
    seed: Seed,
    stop: &AtomicBool,
    cell: &Cell,
    vs: &str,
) -> Result<CpuRatio, String> {
    let subject = |name: &str| {
        catalogue.server_with(name, &cell.traits).map(Subject::server).map_err(|e| e.to_string())
    };
    let (base, mut of) = (subject(vs)?, subject(&cell.server)?);
    // Two servers may have the same bus; here they go by their names.
    of.bus.clone_from(&of.name);
    let base = Subject { bus: base.name.clone(), ..base };
    let withdrawn = [&base, &of].into_iter().find(|s| s.profile.traits.delta.class == DeltaClass::Withdrawn);
    if let Some(server) = withdrawn {
        return Err(format!("{} publishes no deltas", server.name));
    }
    let settings = Settings {
        server: base.name.clone(),
        subscribers: vec![cell.subscribers],
        tokens: CHUNKS,
        payload_bytes: 16,
        batch: 1,
        rate: None,
        repeats: BLOCKS,
        stalled: 0,
        seed: seed.0,
    };
    let options =
        Options { subjects: vec![base, of], settings, reference: false, unhealthy: Vec::new(), mutant: None };
    let bench = fan_out(&options, stop, &|_| {}).map_err(|e| e.to_string())?;
    let ratio = bench.ratios.first().ok_or("no block of it was measured")?;
    // A server that leaves deltas out is cheap, and no figure of it compares with one that does not.
    if let Some(d) = bench.delivery.iter().find(|d| !d.whole()) {
        let Delivery { bus: server, due, received, .. } = d;
        return Err(format!("{server} did not deliver every chunk once ({received} of {due})"));
    }
    Ok(CpuRatio { ratio: ratio.ratio, ci: ratio.ci, control_ci: ratio.control_ci, valid: bench.rig.valid })
}
