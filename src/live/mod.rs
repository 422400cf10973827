//! The real thing: released servers and clients as child processes, and what is seen of them from outside.

pub mod extract;
pub mod process;
