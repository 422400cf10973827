//! How an era writes the same values: which nulls it keeps and what it does with `parent_id`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whether fields without a value are written as `null` or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nulls {
    /// Written as `null` (socket frames of 1.18.1 to 1.31.1, and webhook bodies of every release).
    Kept,
    /// Left out (socket frames from 1.31.2 on).
    Absent,
}

/// What happens to the `parent_id` of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParentId {
    /// The field does not exist yet (before 1.31.0).
    Unknown,
    /// Written like any other field (1.31.0, 1.31.1, and 1.37.0 on).
    Sent,
    /// Removed by the compatibility shim of 1.31.2 to 1.36.x.
    Stripped,
}

/// The encoding of one era on one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Dialect {
    /// Treatment of fields without a value.
    pub nulls: Nulls,
    /// Treatment of `parent_id`.
    pub parent_id: ParentId,
    /// Whether an `ObservationEvent` has the field `extended_content` (1.34.0 on). Strict clients before
    /// that release reject the event for it.
    pub observation_extended_content: bool,
}

impl Dialect {
    /// The socket frames of 1.37.0 to 1.58.2.
    pub const CURRENT: Dialect =
        Dialect { nulls: Nulls::Absent, parent_id: ParentId::Sent, observation_extended_content: true };

    /// The same era's webhook bodies: a plain dump, which keeps nulls in every release.
    #[must_use]
    pub fn webhook(self) -> Dialect {
        let parent_id = if self.parent_id == ParentId::Unknown { ParentId::Unknown } else { ParentId::Sent };
        Dialect { nulls: Nulls::Kept, parent_id, ..self }
    }
}

/// Collects the fields of one object in wire order, leaving out what the dialect leaves out.
#[derive(Debug)]
pub(super) struct Fields {
    map: Map<String, Value>,
    nulls: Nulls,
}

impl Fields {
    pub(super) fn new(dialect: Dialect) -> Fields {
        Fields { map: Map::new(), nulls: dialect.nulls }
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) -> &mut Fields {
        self.map.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn opt(&mut self, name: &str, value: Option<impl Into<Value>>) -> &mut Fields {
        match value {
            Some(v) => self.put(name, v),
            None if self.nulls == Nulls::Kept => self.put(name, Value::Null),
            None => self,
        }
    }

    /// A field of the real class that our scripted turns never fill.
    pub(super) fn unset(&mut self, name: &str) -> &mut Fields {
        self.opt(name, None::<Value>)
    }

    pub(super) fn done(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }
}
