//! Where a budget on CPU gets its measurement from.

use std::collections::BTreeMap;

use crate::record::CpuRatio;
use crate::run::CellRun;
use crate::scenario::Cell;

/// Measures CPU per token of the cell's server, with its traits and subscribers, over that of the server named
/// second, by the clock on the wall and with a control; none where it cannot.
pub type MeasureCpu<'a> = dyn FnMut(&Cell, &str) -> Option<CpuRatio> + 'a;

/// Hands every cell with a `cpu_ratio_vs` its measurement. Two servers are measured once, in the order of the plan,
/// and all cells that differ only in client, workload or mutation share it. A cell without evidence needs none.
pub fn measure_cpu_ratios(cells: &[Cell], runs: &mut [CellRun], measure: &mut MeasureCpu<'_>) {
    let mut measured: BTreeMap<(&str, String, u32, &str), Option<CpuRatio>> = BTreeMap::new();
    for (cell, run) in cells.iter().zip(runs) {
        let (Some(limit), Ok(clients)) = (&cell.budget.cpu, &mut run.result) else { continue };
        let vs = limit.server.as_str();
        let pair = (cell.server.as_str(), cell.traits.to_string(), cell.subscribers, vs);
        let ratio = *measured.entry(pair).or_insert_with(|| measure(cell, vs));
        for client in clients {
            client.cpu_ratio = ratio;
        }
    }
}
