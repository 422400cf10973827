//! `[budget]` and `[[budget]]`: what cells may cost.
//!
//! Of all tables that match a cell, the first that limits a metric limits it: as with `[[expect]]`, the special
//! ones come first.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeValue;

use super::axis;
use super::expression::{Misread, Terms, work_out};
use super::names::Names;
use super::pattern::is_literal;
use super::problem::Problem;
use super::rule::{Axes, Place};
use super::section::{Faults, Section, number, wrong};
use super::workload::Workload;
use crate::record::{Budget, Budgeted, Comparison, CpuLimit, Limit, Metric};

/// What one table allows, worked out for every workload in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Allowance {
    limits: BTreeMap<String, Vec<Limit>>,
    cpu: Option<CpuLimit>,
}

/// The keys that say which cells, and not how much.
const PATTERNS: [&str; 4] = ["server", "client", "workload", "mutation"];

/// One limit as written.
struct Written {
    is: Comparison,
    expression: String,
    /// The bytes of the file that the expression stands in, and whether they are its bytes one to one.
    span: std::ops::Range<usize>,
    exact: bool,
    plain: bool,
}

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
            for written in written(section, metric.as_str(), faults) {
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

/// The limits on one metric: one, or a list of which all have to hold.
fn written(section: &mut Section<'_>, key: &'static str, faults: &mut Faults) -> Vec<Written> {
    let Some(value) = section.value(key) else { return Vec::new() };
    let items: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            faults.add(value.span(), Problem::Empty { key: key.to_owned() });
            Vec::new()
        }
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    items.into_iter().filter_map(|item| one(key, item, faults)).collect()
}

fn one(key: &'static str, value: &Spanned<DeValue<'_>>, faults: &mut Faults) -> Option<Written> {
    let span = value.span();
    if let Some(n) = number(value) {
        let expression = n.to_string();
        return Some(Written { is: Comparison::AtMost, expression, span, exact: false, plain: true });
    }
    let Some(text) = value.get_ref().as_str() else {
        wrong(key, "a number, or a comparison with an expression over T, N and S in quotes", value, faults);
        return None;
    };
    let blanks = text.len() - text.trim_start().len();
    let is = Comparison::ALL.into_iter().find(|is| text[blanks..].starts_with(is.as_str()));
    let skipped = blanks + is.map_or(0, |is| is.as_str().len());
    let expression = text[skipped..].to_owned();
    // Without escapes, a string's bytes stand in the file as they are, between one quote on either side.
    let exact = span.len() == text.len() + 2;
    let span = if exact { span.start + 1 + skipped..span.end - 1 } else { span };
    let plain = expression.trim().parse::<f64>().is_ok();
    Some(Written { is: is.unwrap_or_default(), expression, span, exact, plain })
}

type Misplaced = (std::ops::Range<usize>, Problem);

fn limit(
    metric: Metric,
    written: &Written,
    workload: &Workload,
    subscribers: u32,
) -> Result<Limit, Misplaced> {
    #[expect(clippy::cast_precision_loss, reason = "a workload has at most 100,000 tokens")]
    let tokens = workload.tokens.len() as f64;
    let terms = Terms { seconds: tokens / workload.rate, tokens, subscribers: subscribers.into() };
    let Written { is, expression, span, exact, plain } = written;
    let placed = |Misread { at, message, hint }: Misread| {
        let span = if *exact { span.start + at.start..span.start + at.end } else { span.clone() };
        (span, Problem::BadLimit { message, hint })
    };
    // A bare number that is not finite is no expression either.
    let value = match plain {
        true => expression.trim().parse::<f64>().unwrap_or(f64::NAN),
        false => work_out(expression, terms).map_err(placed)?,
    };
    if !(value.is_finite() && value >= 0.0) {
        let Terms { seconds, tokens, subscribers } = terms;
        let with =
            format!("with T = {seconds}, N = {tokens}, S = {subscribers} (workload `{}`)", workload.name);
        let hint = if *plain { String::new() } else { with };
        let message = format!("a limit is 0 or more, and this is {value}");
        return Err((span.clone(), Problem::BadLimit { message, hint }));
    }
    let from = (!plain).then(|| expression.trim().to_owned());
    Ok(Limit { metric, is: *is, value, from })
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
