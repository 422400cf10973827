//! One binary for all integration tests: one link step, many questions.

#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod attach;
mod attach_foreign;
mod bench_client;
mod browser;
mod budgets;
mod captures;
mod certificates;
mod check_cli;
mod check_files;
mod cli;
mod determinism;
mod fanout;
mod fixtures;
mod floors;
mod idle;
mod idle_cli;
mod injection;
mod live_bench;
mod live_setup;
mod mixed;
mod model;
mod model_http;
mod model_sink;
mod mutants;
mod oracle;
mod output;
mod reports;
mod rest;
mod runs;
mod schema;
mod serve;
mod sockets;
mod swarm;
mod swarm_bytes;
mod webhooks;
mod wire;
