//! One binary for all integration tests: one link step, many questions.

#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod attach;
mod attach_foreign;
mod bench_client;
mod browser;
mod budgets;
mod calibrate;
mod captures;
mod certificates;
mod check_cli;
mod check_files;
mod cli;
mod determinism;
mod extract;
mod fanout;
mod feed_bench;
mod feed_crash;
mod fixtures;
mod floors;
mod idle;
mod idle_cli;
mod injection;
mod judge;
mod live_bench;
mod live_children;
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
mod second_member;
mod serve;
mod server_certificates;
mod sockets;
mod swarm;
mod swarm_bytes;
mod webhooks;
mod wire;
