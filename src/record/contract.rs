//! What a server advertises, held against another one, against generated types, and against what can be sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Signal;

/// Schema name and version of a report.
pub const CONTRACT_SCHEMA: &str = "skewlab.contract/1";

/// A document, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractReport {
    /// [`CONTRACT_SCHEMA`].
    pub schema: String,
    /// Version of skewlab.
    pub skewlab: String,
    /// The document that was judged.
    pub subject: Party,
    /// The one that it was held against, the older one: what is said to be added is in the subject alone.
    pub against: Option<Party>,
    /// The package of generated types, if one was looked at.
    pub types: Option<String>,
    /// The clients that were asked what they make of a change.
    pub clients: Vec<AskedClient>,
    /// What was found, worst first.
    pub findings: Vec<ContractFinding>,
    /// Expectations that no finding met.
    pub stale: Vec<String>,
}

/// One document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// What it is: `1.43.1+A (emulated)`, `OpenHands Agent Server 1.43.1 (file)`.
    pub name: String,
    /// Members of the union of events; `None` where there is no such union.
    pub event_members: Option<u64>,
    /// Named schemas.
    pub schemas: u64,
    /// Endpoints.
    pub endpoints: u64,
    /// Schemas and fields of which the document says that it does not know them: nothing is reported on those.
    pub not_modelled: u64,
}

/// A client that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedClient {
    /// Its release.
    pub name: String,
    /// Whether its profile holds a certificate of agreement with the released package; without one its word is a guess.
    pub certified: bool,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractFinding {
    /// Change and place, `member_removed/Event/StreamingDeltaEvent`: what an expectation names.
    pub id: String,
    /// What kind of thing.
    pub change: ContractChange,
    /// How bad.
    pub severity: Severity,
    /// Where, in words of the document.
    pub place: String,
    /// What it is.
    pub what: String,
    /// Who breaks on it, and how.
    pub breaks: Vec<Broken>,
    /// What to do.
    pub advice: String,
    /// Whether it was declared.
    pub expected: bool,
}

/// A reader that breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// A client profile, a package of types, or who else reads it.
    pub who: String,
    /// How loud it is.
    pub signal: Signal,
    /// What happens.
    pub how: String,
}

/// How bad a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A client generation loses something, and nothing surfaces.
    Silent,
    /// A generated type is gone: code that uses it no longer compiles when it is generated anew.
    TypeLost,
    /// A client generation breaks, and it surfaces.
    Loud,
    /// It breaks whoever relies on the old form, and no client profile says who does.
    Possible,
    /// Nobody breaks on it.
    Note,
}

impl Severity {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Silent => "silent",
            Severity::TypeLost => "type_lost",
            Severity::Loud => "loud",
            Severity::Possible => "possible",
            Severity::Note => "note",
        }
    }

    /// Whether something breaks.
    pub fn breaks(self) -> bool {
        self != Severity::Note
    }
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContractChange {
    /// A generated type that the document no longer defines.
    TypeLost,
    /// A schema is gone.
    SchemaRemoved,
    /// A member of a union is gone.
    MemberRemoved,
    /// A member of a union is new.
    MemberAdded,
    /// A field is gone.
    FieldRemoved,
    /// A field is new.
    FieldAdded,
    /// A field must be there now.
    FieldRequired,
    /// A field may be missing now.
    FieldOptional,
    /// A type takes less than it did.
    TypeTightened,
    /// A type takes more than it did.
    TypeLoosened,
    /// A type is another one.
    TypeChanged,
    /// Other keys are forbidden now.
    ExtraForbidden,
    /// Other keys are allowed now.
    ExtraAllowed,
    /// An endpoint is gone.
    EndpointRemoved,
    /// A schema is new.
    SchemaAdded,
    /// An endpoint is new.
    EndpointAdded,
    /// A member of a union that no endpoint can ever return.
    NeverReturned,
    /// A schema that nothing refers to.
    Unreferenced,
    /// A discriminator whose advertised values never stand in a frame.
    DiscriminatorNeverSent,
    /// Members of a generated union that can have no value.
    TypeNever,
    /// A kind of the document that the generated types do not know.
    KindWithoutType,
    /// A type that is still defined and no longer a member of the union.
    LeftUnion,
}

impl ContractChange {
    /// The word used in reports and ids.
    pub fn as_str(self) -> &'static str {
        match self {
            ContractChange::TypeLost => "type_lost",
            ContractChange::SchemaRemoved => "schema_removed",
            ContractChange::MemberRemoved => "member_removed",
            ContractChange::MemberAdded => "member_added",
            ContractChange::FieldRemoved => "field_removed",
            ContractChange::FieldAdded => "field_added",
            ContractChange::FieldRequired => "field_required",
            ContractChange::FieldOptional => "field_optional",
            ContractChange::TypeTightened => "type_tightened",
            ContractChange::TypeLoosened => "type_loosened",
            ContractChange::TypeChanged => "type_changed",
            ContractChange::ExtraForbidden => "extra_forbidden",
            ContractChange::ExtraAllowed => "extra_allowed",
            ContractChange::EndpointRemoved => "endpoint_removed",
            ContractChange::SchemaAdded => "schema_added",
            ContractChange::EndpointAdded => "endpoint_added",
            ContractChange::NeverReturned => "never_returned",
            ContractChange::Unreferenced => "unreferenced",
            ContractChange::DiscriminatorNeverSent => "discriminator_never_sent",
            ContractChange::TypeNever => "type_never",
            ContractChange::KindWithoutType => "kind_without_type",
            ContractChange::LeftUnion => "left_union",
        }
    }
}
