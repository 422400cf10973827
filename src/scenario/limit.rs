//! One limit as a file writes it: a number, or a comparison with an expression in quotes.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::expression::{Misread, Terms, work_out};
use super::problem::Problem;
use super::section::{Faults, Section, number, wrong};
use crate::record::Comparison;

/// One limit as written.
#[derive(Debug)]
pub(super) struct Written {
    /// The comparison, if there is one.
    pub(super) is: Option<Comparison>,
    pub(super) expression: String,
    /// The bytes of the file that the expression stands in, and whether they are its bytes one to one.
    pub(super) span: Range<usize>,
    exact: bool,
    /// Whether it is a bare number.
    pub(super) plain: bool,
}

/// A problem and its place.
pub(super) type Misplaced = (Range<usize>, Problem);

/// The limits under one key: one, or a list of which all have to hold.
pub(super) fn written(
    section: &mut Section<'_>,
    key: &'static str,
    expected: &'static str,
    faults: &mut Faults,
) -> Vec<Written> {
    let Some(value) = section.value(key) else { return Vec::new() };
    let items: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            faults.add(value.span(), Problem::Empty { key: key.to_owned() });
            Vec::new()
        }
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    items.into_iter().filter_map(|item| one(key, expected, item, faults)).collect()
}

fn one(
    key: &'static str,
    expected: &'static str,
    value: &Spanned<DeValue<'_>>,
    faults: &mut Faults,
) -> Option<Written> {
    let span = value.span();
    if let Some(n) = number(value) {
        return Some(Written { is: None, expression: n.to_string(), span, exact: false, plain: true });
    }
    let Some(text) = value.get_ref().as_str() else {
        wrong(key, expected, value, faults);
        return None;
    };
    let blanks = text.len() - text.trim_start().len();
    let is = Comparison::ALL.into_iter().find(|is| text[blanks..].starts_with(is.as_str()));
    let skipped = blanks + is.map_or(0, |is| is.as_str().len());
    let expression = text[skipped..].to_owned();
    // Without escapes, a string's bytes stand in the file as they are, between one quote on either side.
    let exact = span.len() == text.len() + 2;
    let span = if exact { span.start + 1 + skipped..span.end - 1 } else { span };
    let plain = expression.trim().parse::<f64>().is_ok();
    Some(Written { is, expression, span, exact, plain })
}

impl Written {
    /// Its value with these terms.
    pub(super) fn value(&self, terms: Terms<'_>) -> Result<f64, Misplaced> {
        // A bare number that is not finite is no expression either.
        if self.plain {
            return Ok(self.expression.trim().parse().unwrap_or(f64::NAN));
        }
        work_out(&self.expression, terms).map_err(|Misread { at, message, hint }| {
            let start = self.span.start;
            let span = if self.exact { start + at.start..start + at.end } else { self.span.clone() };
            (span, Problem::BadLimit { message, hint })
        })
    }

    /// The expression, where it is more than a number.
    pub(super) fn from(&self) -> Option<String> {
        (!self.plain).then(|| self.expression.trim().to_owned())
    }
}
