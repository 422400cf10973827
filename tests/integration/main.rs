//! One binary for all integration tests: one link step, many questions.

#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod captures;
mod determinism;
mod fixtures;
mod floors;
mod mutants;
mod oracle;
mod runs;
mod sockets;
mod wire;
