//! One binary for all integration tests: one link step, many questions.

#![expect(clippy::unwrap_used, reason = "a test fails by unwrapping")]

mod captures;
mod fixtures;
mod floors;
mod sockets;
mod wire;
