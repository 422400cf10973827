//! What a server advertises: its `OpenAPI` document as a small model of unions, objects and endpoints.
//!
//! Only what can break a reader is kept: names, fields, types, what is required, and whether other keys are allowed. Words
//! (titles, descriptions, defaults, examples) are not. A construct that the model has no word for is kept as its JSON and
//! compared by equality.
//!
//! | file | idea |
//! |---|---|
//! | `document` | the model, and asking it |
//! | `read` | from JSON to the model |
//! | `walk` | the references in a piece of JSON, each checked |
//! | `schema` | one schema: a term, an object or a union |
//! | `term` | types, and whether one takes everything that another one does |
//! | `types` | what a package of generated TypeScript types knows of the events |
//! | `error` | what is wrong with a document, and where |

mod document;
mod error;
mod read;
mod schema;
mod term;
mod types;
mod walk;

pub use document::{Document, Extra, Field, Object, Operation, Schema, Union};
pub use error::{ContractFileError, quoted};
pub use term::{Bound, Taken, Term};
pub use types::{Generated, TYPES_SCHEMA, TypeFacts, UnionMember};

/// The key under which a generated document says what it does not know, instead of inventing it.
pub const NOT_MODELLED: &str = "x-skewlab";
