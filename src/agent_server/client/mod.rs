//! The clients of the agent-server.

pub mod event_model;
