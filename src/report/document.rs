//! A result of any kind, as the command that made it shows it.

use std::io::{self, Write};

use super::{
    attach_json, attach_table, bench_json, bench_table, certificate_table, client_bench_json,
    client_bench_table, compare_json, compare_table, contract_json, contract_table, feed_bench_json,
    feed_bench_table, idle_json, idle_table, interleaved_json, interleaved_table, json, live_bench_json,
    live_bench_table, live_idle_table, matrix_table,
};
use crate::record::Document;

/// For a person; grids are no wider than `width`. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn document_table(document: &Document, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    match document {
        Document::Run(run) => matrix_table(run, width, out),
        Document::Bench(bench) => bench_table(bench, out),
        Document::FeedBench(bench) => feed_bench_table(bench, out),
        Document::LiveBench(bench) => live_bench_table(bench, out),
        Document::LiveIdle(idle) => live_idle_table(idle, out),
        Document::Idle(idle) => idle_table(idle, out),
        Document::Attach(attach) => attach_table(attach, out),
        Document::Certificate(certificate) => certificate_table(std::slice::from_ref(&**certificate), out),
        Document::ClientBench(bench) => client_bench_table(bench, out),
        Document::Interleaved(interleaved) => interleaved_table(interleaved, out),
        Document::Comparison(comparison) => compare_table(comparison, out),
        Document::Contract(contract) => contract_table(contract, out),
    }
}

/// As JSON, with its schema.
pub fn document_json(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    match document {
        Document::Run(run) => json(run, out),
        Document::Bench(bench) => bench_json(bench, out),
        Document::FeedBench(bench) => feed_bench_json(bench, out),
        Document::LiveBench(bench) => live_bench_json(&**bench, out),
        Document::LiveIdle(idle) => live_bench_json(&**idle, out),
        Document::Idle(idle) => idle_json(idle, out),
        Document::Attach(attach) => attach_json(attach, out),
        Document::Certificate(certificate) => live_bench_json(&**certificate, out),
        Document::ClientBench(bench) => client_bench_json(bench, out),
        Document::Interleaved(interleaved) => interleaved_json(interleaved, out),
        Document::Comparison(comparison) => compare_json(std::slice::from_ref(&**comparison), out),
        Document::Contract(contract) => contract_json(contract, out),
    }
}
