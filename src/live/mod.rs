//! The real thing: released servers and clients as child processes, and what is seen of them from outside.

pub mod clock;
pub mod process;
pub mod rest;
pub mod server;
pub mod tap;
