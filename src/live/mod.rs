//! The real thing: released servers and clients as child processes, and what is seen of them from outside.

pub mod loopback;
pub mod model;
pub mod process;
pub mod sink;
