//! One binary for all integration tests: one link step, many questions.

#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod captures;
mod cli;
mod determinism;
mod fixtures;
mod floors;
mod mutants;
mod oracle;
mod output;
mod runs;
mod sockets;
mod wire;
