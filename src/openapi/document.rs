//! The model of a document, and asking it.

use std::collections::{BTreeMap, BTreeSet};

use super::Term;

/// What a server advertises.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `info.title`, somebody else's text.
    pub title: String,
    /// `info.version`, somebody else's text.
    pub version: String,
    /// `components.schemas`, by name.
    pub schemas: BTreeMap<String, Schema>,
    /// The endpoints, in the order of the document.
    pub operations: Vec<Operation>,
    /// By schema: the schemas that it refers to.
    pub(super) refs: BTreeMap<String, BTreeSet<String>>,
}

/// One endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// `GET /api/conversations/{conversation_id}/events`.
    pub name: String,
    /// The schemas that its answers refer to, errors included.
    pub answers: BTreeSet<String>,
    /// The schemas that its request refers to.
    pub asks: BTreeSet<String>,
}

/// One named schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    /// An object with fields.
    Object(Object),
    /// One of several named schemas.
    Union(Union),
    /// A name for a type.
    Alias(Term),
    /// The document says that it does not know it.
    NotModelled,
}

/// An object with fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The fields, by name.
    pub fields: BTreeMap<String, Field>,
    /// What is said of other keys.
    pub extra: Extra,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its type.
    pub term: Term,
    /// Whether it is always there.
    pub required: bool,
}

/// `additionalProperties`.
#[derive(Debug, Clone, PartialEq)]
pub enum Extra {
    /// Nothing is said, which allows them.
    Unsaid,
    /// `false`.
    Forbidden,
    /// `true`, or a type that they have.
    Allowed(Term),
}

/// One of several named schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Union {
    /// The members, in the order of the document.
    pub members: Vec<String>,
    /// The property that tells them apart.
    pub discriminator: Option<String>,
    /// What the discriminator is said to be for each member: value and schema.
    pub mapping: BTreeMap<String, String>,
}

impl Document {
    /// The object of that name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.schemas.get(name) {
            Some(Schema::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// The union of that name.
    pub fn union(&self, name: &str) -> Option<&Union> {
        match self.schemas.get(name) {
            Some(Schema::Union(union)) => Some(union),
            _ => None,
        }
    }

    /// The one word that `property` can be in a schema: the kind of an event.
    pub fn word(&self, schema: &str, property: &str) -> Option<&str> {
        match &self.object(schema)?.fields.get(property)?.term {
            Term::Words(words) if words.len() == 1 => words.first().map(String::as_str),
            _ => None,
        }
    }

    /// Every schema that those refer to, themselves included, however far away.
    pub fn closure<'a>(&'a self, from: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = from.into_iter().collect();
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                open.extend(self.refs.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        seen
    }

    /// The schemas that an answer can hold.
    pub fn answered(&self) -> BTreeSet<&str> {
        self.closure(self.operations.iter().flat_map(|o| &o.answers).map(String::as_str))
    }

    /// The schemas that a request can hold.
    pub fn asked(&self) -> BTreeSet<&str> {
        self.closure(self.operations.iter().flat_map(|o| &o.asks).map(String::as_str))
    }

    /// The endpoints whose answers can hold that schema.
    pub fn answering(&self, schema: &str) -> Vec<&str> {
        let holds = |o: &&Operation| self.closure(o.answers.iter().map(String::as_str)).contains(schema);
        self.operations.iter().filter(holds).map(|o| o.name.as_str()).collect()
    }

    /// How many schemas, fields and members the document says it does not know.
    pub fn not_modelled(&self) -> usize {
        let within = |schema: &Schema| match schema {
            Schema::NotModelled => 1,
            Schema::Object(object) => object.fields.values().filter(|f| f.term.is_unknown()).count(),
            Schema::Alias(term) => usize::from(term.is_unknown()),
            Schema::Union(_) => 0,
        };
        self.schemas.values().map(within).sum()
    }
}
