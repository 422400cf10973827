//! Reading a released package: what it says and does, as facts, without a server or a model.
//!
//! A script of ours (`read/*.py`) runs in the package's own Python environment. It asks the classes, runs the bus, the
//! sockets, the webhook poster and the client's loop with parties that it makes up, and reads off the syntax tree only
//! what neither tells. It prints one JSON document, [`Package`]. Names, types and numbers are kept; nobody's text is.
//!
//! What the facts mean as traits is said on a higher floor (`suite::extract`), which may know profiles.
//!
//! | file | idea |
//! |---|---|
//! | `document` | the document, and asking it for one fact |
//! | `subject` | what can be extracted: a release, a wheel, a source tree, a stored document |
//! | `overlay` | a wheel or a tree laid over an environment |
//! | `run` | running the script |
//! | `scratch` | a folder that is gone when its owner is |

mod document;
mod error;
mod overlay;
mod run;
mod subject;

pub use document::{Fact, Fault, Installed, Package, SCHEMA};
pub use error::ExtractError;
pub use overlay::Overlay;
pub use run::{read, read_blocking};
pub use subject::Subject;
