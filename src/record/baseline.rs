//! A run as far as another one is compared with it: what `reports/baseline/NAME.jsonl` holds. One header line, then one
//! cell a line, sorted by id, so that a change of one cell is a change of one line. Nothing in it names a machine, a path or
//! a command line.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::budget::Comparison;
use super::expectation::Known;
use super::figure::Figures;
use super::flow::{Class, Hop, Reason};
use super::observation::Signal;
use super::run::SCHEMA;
use super::stored::StoredError;
use super::verdict::{Outcome, Scope, Verdict};

/// Schema name and version of a baseline.
pub const BASELINE_SCHEMA: &str = "skewlab.baseline/1";

/// A run as far as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The header line.
    pub head: BaselineHead,
    /// The cells, in the order of the file; one that skewlab wrote is sorted by id.
    pub cells: Vec<BaselineCell>,
}

/// What all cells share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineHead {
    /// [`BASELINE_SCHEMA`].
    pub schema: String,
    /// Schema of the run that it was made of.
    pub of: String,
    /// Version of skewlab that ran the cells.
    pub skewlab: String,
    /// `virtual`, `wall` or `recorded`.
    pub clock: String,
    /// The seed.
    pub seed: u64,
    /// How many cells follow; fewer say that the file was cut off.
    pub cells: u64,
}

/// One cell: how it ended, and what was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCell {
    /// Path-shaped.
    pub id: String,
    /// Content hash of what it does; cells of one id and two hashes did not run the same thing.
    pub hash: String,
    /// The headline.
    pub verdict: Verdict,
    /// Which part of the text is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The hop that lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Hop>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What the application could notice.
    pub signal: Signal,
    /// What the scenario made of it.
    pub outcome: Outcome,
    /// The known failure that the outcome speaks of; absent where there is none, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
    /// The budgets that it was held against, which are no part of its hash; absent where nothing was judged, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<Vec<Allowed>>,
    /// What else was found, worst first, each verdict once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Verdict>,
    /// What was counted.
    pub counts: Counts,
}

/// One budget: what may be spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Its key in the scenario.
    pub budget: String,
    /// How the cost has to stand to the limit.
    pub is: Comparison,
    /// The limit.
    pub limit: f64,
}

/// Frames and characters.
pub type FramesAndChars = [u64; 2];

/// Exact counts of one cell. A hop or a figure that is absent was not counted; of everything else zero is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// What left each hop that somebody could look at.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<Hop, FramesAndChars>,
    /// What stopped, by hop and reason: `decoded/unknown_kind`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, FramesAndChars>,
    /// What a party made more of, by hop and reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<String, FramesAndChars>,
    /// What left the last hop, by class of text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub delivered: BTreeMap<Class, FramesAndChars>,
    /// Durable events: due, sent, accepted, each refusal as `refused/REASON`, and whether the reply was among them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub durables: BTreeMap<String, u64>,
    /// What happened beside the sockets, and what it cost.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effects: BTreeMap<String, u64>,
    /// Whether the server is a released package, of which only the webhook and the event store were seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// Exact counts of a session feed.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub figures: Figures,
    /// All other counts; absent in files that were kept before they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
}

/// What a cell counted beside what its text became at the end of each hop. Zero is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Account {
    /// What the model produced.
    pub produced: FramesAndChars,
    /// What of it the application should have got.
    pub due: FramesAndChars,
    /// What came into each hop that somebody could look at.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub entered: BTreeMap<Hop, FramesAndChars>,
    /// Amounts of all findings, by verdict.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub found: BTreeMap<Verdict, FramesAndChars>,
    /// Lines in the client's log, by message key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub log: BTreeMap<String, u64>,
    /// What surfaced.
    #[serde(skip_serializing_if = "is_zero")]
    pub surfaced: u64,
    /// Steps that a subscriber counted for itself, and those of them that it missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<[u64; 2]>,
    /// The number of the first frame that carried text which was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_frame: Option<u64>,
    /// Whether both emulations hold a certificate. No count, and it gates nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub proven: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Baseline {
    /// Whether a text is meant to be one, by its first line: a newer one is, too.
    pub fn is_meant(text: &str) -> bool {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let first = text.lines().next().unwrap_or_default();
        let family = |schema: &str| schema.rsplit_once('/').map(|(family, _)| family.to_owned());
        serde_json::from_str::<Head>(first).is_ok_and(|head| family(&head.schema) == family(BASELINE_SCHEMA))
    }

    /// Reads the text of a file.
    pub fn parse(path: &Path, text: &str) -> Result<Baseline, StoredError> {
        #[derive(Deserialize)]
        struct Schema {
            schema: String,
        }
        let foreign = |why: String| StoredError::Foreign { path: path.to_owned(), why };
        let first = text.lines().next().unwrap_or_default();
        let found = match serde_json::from_str::<Schema>(first) {
            Ok(Schema { schema }) => schema,
            Err(error) if error.is_data() => return Err(foreign("its first line has no `schema`".into())),
            Err(error) => return Err(StoredError::of_json(path, error)),
        };
        if found != BASELINE_SCHEMA {
            return Err(StoredError::other_schema(path, &found, BASELINE_SCHEMA));
        }
        let mut lines = serde_json::Deserializer::from_str(text);
        let head = BaselineHead::deserialize(&mut lines).map_err(|e| StoredError::of_json(path, e))?;
        if head.of != SCHEMA {
            return Err(StoredError::other_schema(path, &head.of, SCHEMA));
        }
        let mut cells = Vec::new();
        for _ in 0..head.cells {
            cells.push(BaselineCell::deserialize(&mut lines).map_err(|e| StoredError::of_json(path, e))?);
        }
        // More lines than the header says: two files in one, or a merge gone wrong.
        lines
            .end()
            .map_err(|_| foreign(format!("more follows than the {} cells of its header", head.cells)))?;
        Ok(Baseline { head, cells })
    }
}
