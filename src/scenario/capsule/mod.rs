//! A capsule: one cell, and what came of it, in one file that needs nothing else.
//!
//! It is a scenario of one cell with a `[capsule]` head, so that `skewlab matrix FILE` runs it like any other and a person
//! may change it and look again. `skewlab replay FILE` asks for more: the same skewlab has to make the same evidence of it,
//! byte for byte.
//!
//! | file | idea |
//! |---|---|
//! | `head` | what came of the cell: plain data |
//! | `write` | from a cell to the text of a scenario |
//! | `fault` | the same of one thing that goes wrong |
//! | `schema` | the shape of the file, for editors |
//! | `sums` | a sum of each line, so that damage has a place |
//! | `agree` | whether all its places say the same |
//! | `read` | from the text back to the cell, or to why not |
//!
//! A capsule of another *format* is refused. One of another *skewlab* is run, and that is said before anything else: it may
//! emulate a party in another way. Of the same skewlab the file has to be what that writes of its cell, line by line, so that
//! nothing stands in it that means something else, or nothing.
//!
//! # Common pitfalls
//! - What a cell does has to be in `write`, and one test holds it: the hash of what is read is the hash of what was written.
//! - The seed of a cell is derived from its id. A file may be called anything, so the cell of a capsule always belongs to a
//!   scenario called [`SCENARIO`].

mod agree;
mod error;
mod fault;
mod head;
mod read;
mod schema;
mod sums;
mod write;

pub use error::CapsuleError;
pub use head::{CAPSULE_SCHEMA, CLOCK, Found, Head, Profiles};
pub use read::Capsule;
pub use schema::CapsuleFile;

/// The scenario that the cell of every capsule belongs to.
pub const SCENARIO: &str = "explore";
