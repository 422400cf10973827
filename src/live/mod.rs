//! The real thing: released servers and clients as child processes, and what is seen of them from outside.

pub mod browser;
pub mod capture;
pub mod clock;
pub mod driver;
pub mod drivers;
pub mod env;
pub mod extract;
pub mod loopback;
pub mod model;
pub mod process;
pub mod report;
pub mod rest;
pub mod server;
pub mod sink;
pub mod tap;
