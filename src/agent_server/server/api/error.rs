//! Why a request is refused, and the answer that says so.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::{Reply, json_reply};

/// A request that is not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// Nothing answers this path with this method.
    #[error("no such path")]
    NoPath,
    /// What the path names is not there.
    #[error("{0}")]
    NotFound(String),
    /// Not now.
    #[error("{0}")]
    Conflict(&'static str),
    /// A request that says nothing.
    #[error("{0}")]
    BadRequest(&'static str),
    /// A message that is none.
    #[error("{0}")]
    BadMessage(String),
    /// The body is not JSON.
    #[error("JSON decode error: {0}")]
    NotJson(#[from] serde_json::Error),
    /// Input that cannot be used.
    #[error("{expected}")]
    Unusable {
        /// Where it is: `query`, `path` or `body`, and the field.
        place: [&'static str; 2],
        /// What was expected.
        expected: String,
    },
}

impl ApiError {
    pub(super) fn unusable(part: &'static str, field: &'static str, expected: impl Into<String>) -> ApiError {
        ApiError::Unusable { place: [part, field], expected: expected.into() }
    }

    /// The answer, in the real server's shape: a sentence, or for input a list of what is wrong where.
    pub(super) fn reply(&self) -> Reply {
        let sentence = Value::from(self.to_string());
        let (status, detail) = match self {
            ApiError::NoPath | ApiError::NotFound(_) => (StatusCode::NOT_FOUND, sentence),
            ApiError::Conflict(_) => (StatusCode::CONFLICT, sentence),
            ApiError::BadRequest(_) => (StatusCode::BAD_REQUEST, sentence),
            ApiError::BadMessage(_) => (StatusCode::UNPROCESSABLE_ENTITY, sentence),
            ApiError::NotJson(_) => {
                let wrong = json!([{"type": "json_invalid", "loc": ["body", 0], "msg": sentence}]);
                (StatusCode::UNPROCESSABLE_ENTITY, wrong)
            }
            ApiError::Unusable { place, .. } => {
                let wrong = json!([{"type": "value_error", "loc": place, "msg": sentence}]);
                (StatusCode::UNPROCESSABLE_ENTITY, wrong)
            }
        };
        json_reply(status, &json!({"detail": detail}))
    }
}
