//! `[budget]` and `[[budget]]`: what cells may cost.
//!
//! Of all tables that match a cell, the first that limits a metric limits it: as with `[[expect]]`, the special
//! ones come first.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::DeValue;

use super::axis;
use super::expression::{Term, Terms};
use super::limit::{Misplaced, Written, written};
use super::names::Names;
use super::pattern::is_literal;
use super::problem::Problem;
use super::rule::{Axes, Place};
use super::section::{Faults, Section, wrong};
use super::workload::Workload;
use crate::record::{Budget, Budgeted, CpuLimit, Limit, Metric};

/// What one table allows, worked out for every workload in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Allowance {
    limits: BTreeMap<String, Vec<Limit>>,
    cpu: Option<CpuLimit>,
}

/// What a limit is written as.
const EXPECTED: &str = "a number, or a comparison with an expression over T, N and S in quotes";
/// The keys that say which cells, and not how much.
const PATTERNS: [&str; 4] = ["server", "client", "workload", "mutation"];

impl Allowance {
    /// Reads the limits of a table whose patterns were read; everything that does not read is a fault.
    pub(super) fn read(
        section: &mut Section<'_>,
        workloads: &[Arc<Workload>],
        subscribers: u32,
        names: &impl Names,
        faults: &mut Faults,
    ) -> Allowance {
        let mut allowance = Allowance::default();
        if section.has_only(&PATTERNS) {
            let message = "this budget limits nothing".to_owned();
            let hint =
                format!("limit {} or {}", Metric::ALL.map(Metric::as_str).join(", "), Budgeted::CPU_RATIO_VS);
            faults.add(section.span.clone(), Problem::BadLimit { message, hint });
        }
        for metric in Metric::ALL {
            for written in written(section, metric.as_str(), EXPECTED, faults) {
                for workload in workloads {
                    match limit(metric, &written, workload, subscribers) {
                        Ok(limit) => {
                            allowance.limits.entry(workload.name.clone()).or_default().push(limit);
                        }
                        // The next workload would most likely say the same.
                        Err((span, problem)) => {
                            faults.add(span, problem);
                            break;
                        }
                    }
                }
            }
        }
        allowance.cpu = cpu(section, names, faults);
        allowance
    }
}

/// The budget of one cell.
pub(super) fn budget(
    rules: &[(Axes, Allowance)],
    place: Place<'_>,
    workload: &Workload,
    subscribers: u32,
) -> Budget {
    let mut budget =
        Budget { tokens: workload.tokens.len() as u64, subscribers: subscribers.into(), ..Budget::default() };
    for (_, allowance) in rules.iter().filter(|(axes, _)| axes.matches(place)) {
        let taken: Vec<Metric> = budget.limits.iter().map(|limit| limit.metric).collect();
        let limits = allowance.limits.get(&workload.name).into_iter().flatten();
        budget.limits.extend(limits.filter(|limit| !taken.contains(&limit.metric)).cloned());
        budget.cpu = budget.cpu.or_else(|| allowance.cpu.clone());
    }
    // A server is as cheap as itself.
    budget.cpu = budget.cpu.filter(|cpu| !place.server.contains(&cpu.server));
    budget
}

fn limit(
    metric: Metric,
    written: &Written,
    workload: &Workload,
    subscribers: u32,
) -> Result<Limit, Misplaced> {
    #[expect(clippy::cast_precision_loss, reason = "a workload has at most 100,000 tokens")]
    let tokens = workload.tokens.len() as f64;
    let all = [
        Term { name: "T", meaning: "seconds of streaming", value: tokens / workload.rate },
        Term { name: "N", meaning: "tokens", value: tokens },
        Term { name: "S", meaning: "subscribers", value: subscribers.into() },
    ];
    let terms = Terms { of: "budget", all: &all };
    let Written { is, span, .. } = written;
    let value = written.value(terms)?;
    if !(value.is_finite() && value >= 0.0) {
        let with = format!("with {} (workload `{}`)", terms.values(), workload.name);
        let hint = if written.plain { String::new() } else { with };
        let message = format!("a limit is 0 or more, and this is {value}");
        return Err((span.clone(), Problem::BadLimit { message, hint }));
    }
    Ok(Limit { metric, is: is.unwrap_or_default(), value, from: written.from() })
}

fn cpu(section: &mut Section<'_>, names: &impl Names, faults: &mut Faults) -> Option<CpuLimit> {
    let value = section.value(Budgeted::CPU_RATIO_VS)?;
    let DeValue::Table(table) = value.get_ref() else {
        wrong(Budgeted::CPU_RATIO_VS, "a table: { server = \"1.43.1\", max = 1.0 }", value, faults);
        return None;
    };
    let mut table = Section::new("`cpu_ratio_vs`", value.span(), table);
    let server = table.required("server", faults);
    let max = table.require("max", faults).then(|| table.positive("max", 1e6, faults)).flatten();
    if let Some(server) = &server {
        if is_literal(server.get_ref()) {
            axis::check_server(server, names, faults);
        } else {
            let message = "a ratio is against one server, and this is a pattern".to_owned();
            faults.add(server.span(), Problem::BadLimit { message, hint: String::new() });
        }
    }
    table.finish(faults);
    Some(CpuLimit { server: server?.into_inner(), max: max? })
}
