//! Errors by their pydantic names, and what becomes of a frame.

use serde_json::Value;

use super::check::Escape;
use crate::record::{Hop, Reason};
use crate::wire::json::JsonFault;

/// A frame that the client took.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The class that it became, which is its `kind`.
    pub kind: String,
    /// The frame as it came: defaults are not filled in, words are not turned into bools.
    pub value: Value,
}

/// A frame that the client refused: it logs one line and goes on to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The class of the exception.
    pub error: PythonError,
    /// [`Hop::Parsed`] if it was no JSON to Python, else [`Hop::Decoded`].
    pub hop: Hop,
    /// `not_json`, `too_deep` or `int_too_long`; `not_an_object`, `unknown_kind` or `reserved_id`; else the
    /// pydantic type of the first error (`extra_forbidden`, `missing`, `string_type`, …).
    pub reason: Reason,
    /// Pydantic type and place (`llm_message.content.0.TextContent.zz`) of every error, in pydantic's order;
    /// empty unless it is a `ValidationError`.
    pub details: Vec<(&'static str, String)>,
}

/// Classes of exception that decoding a frame raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PythonError {
    /// `pydantic.ValidationError`.
    ValidationError,
    /// No object where one belongs, before 1.58.0.
    AttributeError,
    /// A list where an object belongs, before 1.58.0; a `kind` that cannot be looked up.
    TypeError,
    /// `json.JSONDecodeError`.
    JSONDecodeError,
    /// A whole number that is too long to convert.
    ValueError,
    /// Nested too deep.
    RecursionError,
    /// A `kind` that cannot be written into an error message.
    UnicodeEncodeError,
}

impl PythonError {
    /// The name of the class.
    pub fn as_str(self) -> &'static str {
        match self {
            PythonError::ValidationError => "ValidationError",
            PythonError::AttributeError => "AttributeError",
            PythonError::TypeError => "TypeError",
            PythonError::JSONDecodeError => "JSONDecodeError",
            PythonError::ValueError => "ValueError",
            PythonError::RecursionError => "RecursionError",
            PythonError::UnicodeEncodeError => "UnicodeEncodeError",
        }
    }
}

impl Rejection {
    pub(super) fn parsed(fault: &JsonFault) -> Rejection {
        let (error, code) = match fault {
            JsonFault::Invalid(_) => (PythonError::JSONDecodeError, "not_json"),
            JsonFault::TooDeep => (PythonError::RecursionError, "too_deep"),
            JsonFault::IntTooLong => (PythonError::ValueError, "int_too_long"),
        };
        Rejection { error, hop: Hop::Parsed, reason: Reason::new(code), details: Vec::new() }
    }

    pub(super) fn escaped(escape: Escape) -> Rejection {
        let (error, code) = match escape {
            Escape::Attribute => (PythonError::AttributeError, "not_an_object"),
            Escape::List => (PythonError::TypeError, "not_an_object"),
            Escape::Unhashable => (PythonError::TypeError, "unknown_kind"),
            Escape::Unicode => (PythonError::UnicodeEncodeError, "unknown_kind"),
        };
        Rejection { error, hop: Hop::Decoded, reason: Reason::new(code), details: Vec::new() }
    }

    pub(super) fn invalid(problems: Vec<(Problem, String)>) -> Rejection {
        let code = match problems.first() {
            Some((Problem::ModelType, place)) if place.is_empty() => "not_an_object",
            Some((first, _)) => first.reason(),
            None => "",
        };
        Rejection {
            error: PythonError::ValidationError,
            hop: Hop::Decoded,
            reason: Reason::new(code),
            details: problems.into_iter().map(|(problem, place)| (problem.as_pydantic(), place)).collect(),
        }
    }
}

macro_rules! problems {
    ($($name:ident $pydantic:literal $reason:literal,)*) => {
        /// One error of a `ValidationError`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Problem { $($name),* }

        impl Problem {
            /// The name that pydantic gives to this type of error.
            pub(super) fn as_pydantic(self) -> &'static str {
                match self { $(Problem::$name => $pydantic),* }
            }

            fn reason(self) -> &'static str {
                match self { $(Problem::$name => $reason),* }
            }
        }
    };
}

problems! {
    Assertion "assertion_error" "assertion_error",
    BoolParsing "bool_parsing" "bool_parsing",
    BoolType "bool_type" "bool_type",
    DictType "dict_type" "dict_type",
    Enum "enum" "enum",
    Extra "extra_forbidden" "extra_forbidden",
    FiniteNumber "finite_number" "finite_number",
    FloatParsing "float_parsing" "float_parsing",
    FloatType "float_type" "float_type",
    IntFromFloat "int_from_float" "int_from_float",
    IntParsing "int_parsing" "int_parsing",
    IntParsingSize "int_parsing_size" "int_parsing_size",
    IntType "int_type" "int_type",
    IsInstance "is_instance_of" "is_instance_of",
    IsSubclass "is_subclass_of" "is_subclass_of",
    ListType "list_type" "list_type",
    Literal "literal_error" "literal_error",
    Missing "missing" "missing",
    ModelType "model_type" "model_type",
    ReservedId "value_error" "reserved_id",
    SequenceStr "sequence_str" "sequence_str",
    SetType "set_type" "set_type",
    StringTooShort "string_too_short" "string_too_short",
    StringType "string_type" "string_type",
    StringUnicode "string_unicode" "string_unicode",
    TooBig "less_than_equal" "less_than_equal",
    TooSmall "greater_than_equal" "greater_than_equal",
    UnknownKind "value_error" "unknown_kind",
}
