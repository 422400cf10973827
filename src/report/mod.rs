//! Renderers: pure functions from a result to text. None of them runs, judges or decides anything.

mod attach;
mod baseline;
mod bench;
mod blocks;
mod broken;
mod certificate;
mod check;
mod client_bench;
mod compare;
mod contract;
mod costs;
mod csv;
mod document;
mod escape;
mod explore;
mod extract;
mod feed_bench;
mod feed_log;
mod figures;
mod findings;
mod first_screen;
mod github;
mod grid;
mod html;
mod idle;
mod interleaved;
mod junit;
mod live_bench;
mod markdown;
mod next;
mod openmetrics;
mod order;
mod sarif;
mod store;
mod style;
mod table;
mod waiting;
pub mod words;

pub use attach::{attach_json, attach_table};
pub use baseline::{baseline_lines, baseline_table};
pub use bench::{bench_json, bench_table};
pub use certificate::certificate_table;
pub use check::{CheckedFrame, check_table};
pub use client_bench::{client_bench_json, client_bench_table};
pub use compare::{compare_json, compare_markdown, compare_table};
pub use contract::{contract_json, contract_table};
pub use csv::csv;
pub use document::{document_json, document_table};
pub use escape::harmless;
pub use explore::{explore_json, explore_markdown, explore_table, replayed};
pub use extract::{Detail, extract_json, extract_table};
pub use feed_bench::{feed_bench_json, feed_bench_table};
pub use feed_log::{feed_log_json, feed_log_table};
pub use github::annotations;
pub use html::html;
pub use idle::{idle_json, idle_table};
pub use interleaved::{interleaved_json, interleaved_table};
pub use junit::junit;
pub use live_bench::{live_bench_json, live_bench_table, live_idle_table};
pub use markdown::{STEP_SUMMARY_BYTES, markdown};
pub use openmetrics::openmetrics;
pub use sarif::sarif;
pub use store::{StoreError, writable, write_atomically};
pub use table::matrix_table;

use std::io::{self, Write};

use crate::record::Run;

/// The run as `run.json`: one cell a line, so that two runs can be compared line by line.
pub fn json(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(run).map_err(io::Error::other)?;
    // A cell begins with its id, which comes first in the record.
    out.write_all(text.replace("{\"id\":\"", "\n{\"id\":\"").as_bytes())?;
    out.write_all(b"\n")
}
