//! The shape of a scenario's file, for editors.
//!
//! Scenarios are read by hand, so that a fault has its place; nothing can be derived from that. These types say once more
//! which keys there are and what they take, from the same lists and bounds as the reader. A test holds the keys of every
//! table against those that the reader names.

mod agent;
mod fault;
mod feed;
mod limits;
mod parts;
#[cfg(test)]
mod tests;

pub use agent::ScenarioFile;
pub use feed::FeedScenarioFile;
