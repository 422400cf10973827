//! The second subject: a session log with a live event bus, all in one process, and what is lost when one of its feeds goes.
//!
//! A harness records every chunk of a model as a durable session event (the *log feed*, `session/event`) and may emit it
//! once more as a live agent event (the *live feed*). Source: the deepseek-harness, 2026-06 to 2026-09.

pub mod chunk;
pub mod event;
pub mod store;
