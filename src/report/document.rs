//! A result of any kind, as the command that made it shows it.

use std::io::{self, Write};

use super::{
    attach_json, attach_table, bench_json, bench_table, certificate_table, client_bench_json,
    client_bench_table, compare_json, compare_table, contract_json, contract_table, explore_json,
    explore_table, feed_bench_json, feed_bench_table, idle_json, idle_table, interleaved_json,
    interleaved_table, json, live_bench_json, live_bench_table, live_idle_table, matrix_table,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::escape::line;
use crate::record::Document;

/// For a person; grids are no wider than `width`. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn document_table(document: &Document, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    match document {
        Document::Run(run) => matrix_table(run, width, out),
        Document::Bench(bench) => bench_table(&shown(&**bench)?, out),
        Document::FeedBench(bench) => feed_bench_table(&shown(&**bench)?, out),
        Document::LiveBench(bench) => live_bench_table(&shown(&**bench)?, out),
        Document::LiveIdle(idle) => live_idle_table(&shown(&**idle)?, out),
        Document::Idle(idle) => idle_table(&shown(&**idle)?, out),
        Document::Attach(attach) => attach_table(&shown(&**attach)?, out),
        Document::Certificate(certificate) => certificate_table(&[shown(&**certificate)?], out),
        Document::ClientBench(bench) => client_bench_table(&shown(&**bench)?, out),
        Document::Interleaved(interleaved) => interleaved_table(&shown(&**interleaved)?, out),
        Document::Comparison(comparison) => compare_table(&shown(&**comparison)?, out),
        Document::Contract(contract) => contract_table(&shown(&**contract)?, out),
        Document::Explore(report) => explore_table(&shown(&**report)?, None, true, out),
    }
}

/// The result with every text in it on one line and without effect on a screen. Its tables have many places for texts, and a
/// file that was kept may have been written by anybody.
fn shown<T: Serialize + DeserializeOwned>(result: &T) -> io::Result<T> {
    fn harmless(value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(line(&text).into_owned()),
            Value::Array(items) => Value::Array(items.into_iter().map(harmless).collect()),
            Value::Object(fields) => Value::Object(
                fields.into_iter().map(|(name, value)| (line(&name).into_owned(), harmless(value))).collect(),
            ),
            other => other,
        }
    }
    let value = serde_json::to_value(result).map_err(io::Error::other)?;
    serde_json::from_value(harmless(value)).map_err(io::Error::other)
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
        Document::Explore(report) => explore_json(report, out),
    }
}
