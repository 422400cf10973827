//! Calibration: one set of cases for an emulation and for the released package that it stands for, and where they differ.
//!
//! | file | idea |
//! |---|---|
//! | `cases` | what is asked: the corpus, and seeded mutations of well-formed frames |
//! | `mutate` | one change to a frame |
//! | `answer` | the words in which both sides answer, and the emulation's |
//! | `real` | from a driver's report to the same words |
//! | `frames` | one frame after the other, without a socket |
//! | `socket` | the corpus on one socket to both, between fences |
//! | `canvas` | frames into a real page, and what it shows |
//! | `client` | all of it for one client, as a certificate |
//!
//! Whole turns are compared one floor up (`suite/calibrate.rs`), because a turn has a verdict.
//!
//! **Adding a kind of case** moves `cases_hash` of every certificate: `skewlab calibrate` issues them anew. **A difference**
//! is mended in the traits or in the event model. Only what is the machine's or the interpreter's may get a `because`.

mod answer;
mod canvas;
mod cases;
mod client;
mod error;
mod frames;
mod mutate;
mod real;
mod socket;

pub use answer::{Answer, Difference, difference, emulated};
pub use cases::{Case, CaseKind, cases, cases_for, cases_hash, dialect};
pub use client::{ClientAsked, Identity, calibrate_client, disagreements, own_server};
pub use error::CalibrateError;
pub use frames::{answers, answers_hash};
