//! The types that a field can have.

/// A type, with every name in it resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Anything.
    Any,
    /// A string.
    Str,
    /// A string of at least so many characters.
    LongStr(usize),
    /// A string other than this word, which is refused after the fact.
    StrExcept(Box<str>),
    /// A bool, or what pydantic takes for one.
    Bool,
    /// A whole number with the least that it may be, or what pydantic takes for one.
    Int(Option<i64>),
    /// A float with its bounds, or what pydantic takes for one.
    Float(Option<f64>, Option<f64>),
    /// One of these words (`Literal`).
    OneOf(Box<[Box<str>]>),
    /// One of these words (a string `Enum`).
    Enum(Box<[Box<str>]>),
    /// A list of.
    List(Box<Type>),
    /// A `Sequence` of: the same, with other errors.
    Seq(Box<Type>),
    /// A list of, repetitions dropped.
    Set(Box<Type>),
    /// An object with any keys and such values.
    Dict(Box<Type>),
    /// The model of that number.
    Model(usize),
    /// An object whose `kind` names a model of the family of that number.
    Family(usize),
    /// The name of a kind of the family of that number.
    KindName(usize),
    /// A Python object of some class.
    Instance,
    /// A Python class.
    Class,
    /// Any of these, the first that fits.
    Union(Box<[Type]>),
    /// That, or null.
    Nullable(Box<Type>),
}

/// What becomes of keys that a model does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Extra {
    /// Each is an error.
    Forbid,
    /// They are dropped unread.
    Ignore,
    /// They are kept.
    Allow,
}

/// A field of a model, in one release.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its key on the wire.
    pub(super) name: Box<str>,
    /// A second spelling of the key.
    pub(super) also: Option<Box<str>>,
    /// Whether its absence is an error.
    pub(super) required: bool,
    /// Null is taken, whatever the type says.
    pub(super) or_null: bool,
    /// A bare string is taken, whatever the type says.
    pub(super) or_str: bool,
    /// Its type.
    pub(super) ty: Type,
}

/// A model, in one release.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    /// The class name.
    pub(super) name: Box<str>,
    /// What becomes of other keys.
    pub(super) extra: Extra,
    /// Keys of older versions, removed before anything is read.
    pub(super) drops: Box<[Box<str>]>,
    /// In declaration order.
    pub(super) fields: Box<[Field]>,
}
