//! One binary for all integration tests: one link step, many questions.

mod captures;
mod fixtures;
mod floors;
mod sockets;
mod wire;
