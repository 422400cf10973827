//! Plain result data: what a run saw and what was made of it. Everything above reads or writes these types;
//! nothing here computes more than a total or
//! a fingerprint.

pub mod attach;
pub mod baseline;
pub mod bench;
pub mod budget;
pub mod certificate;
pub mod client_bench;
pub mod comparison;
pub mod contract;
pub mod cost;
pub mod evidence;
pub mod expectation;
pub mod explore;
pub mod extract;
pub mod feed_bench;
pub mod figure;
pub mod flow;
pub mod idle;
pub mod interleaved;
mod interval;
pub mod live_bench;
pub mod observation;
pub mod run;
mod seal;
pub mod stored;
pub mod verdict;

pub use budget::{Budget, Budgeted, Comparison, CpuLimit, CpuRatio, Limit, Metric};
pub use certificate::{CERTIFICATE_SCHEMA, Certificate, Disagreement, holds_certificate};
pub use cost::DeltaCosts;
pub use evidence::{FirstFrame, FrameText, Queue, Reaped, Spread, Times};
pub use expectation::{Consumer, Duties, Expected, Known};
pub use figure::{Figure, FigureLimit, Figures};
pub use flow::{Class, Hop, HopFlow, Reason};
pub use observation::{CutShort, Durables, Observation, SideEffects, Signal, Source, Step, Subscribed};
pub use run::{CellResult, Oracle, Ran, Run, SCHEMA, Subject, Timing, Totals};
pub use stored::{Document, StoredError};
pub use verdict::{Finding, Outcome, Scope, Verdict};
