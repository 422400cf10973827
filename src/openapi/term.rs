//! Types as a document says them, and whether one takes everything that another one does.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// Anything.
    Any,
    /// The document says that it does not know.
    Unknown,
    /// Null.
    Null,
    /// A bool.
    Bool,
    /// A string of at least so many characters, and the other rules that it keeps, as JSON.
    Text {
        /// Least number of characters.
        min: u64,
        /// Patterns and formats; compared by equality.
        rules: String,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        whole: bool,
        /// The least that it may be.
        min: Option<Bound>,
        /// The most that it may be.
        max: Option<Bound>,
    },
    /// One of these words.
    Words(BTreeSet<String>),
    /// A list of.
    List {
        /// What it holds.
        of: Box<Term>,
        /// Whether nothing stands in it twice.
        unique: bool,
    },
    /// An object with any keys and such values.
    Map(Box<Term>),
    /// An object or a union with a name.
    Named(String),
    /// Any of these.
    OneOf(BTreeSet<Term>),
    /// A construct that this model has no word for, as JSON; compared by equality.
    Other(String),
}

/// A bound of a number.
#[derive(Debug, Clone, Copy)]
pub struct Bound(pub f64);

impl PartialEq for Bound {
    fn eq(&self, other: &Bound) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bound {}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Bound) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Bound) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Whether a type takes everything that another one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Everything.
    All,
    /// Not everything.
    NotAll,
    /// One of the two is not known.
    Unknown,
}

impl Term {
    /// Any of those, written in one way: unions in it are opened, and anything swallows the rest.
    pub fn one_of(terms: impl IntoIterator<Item = Term>) -> Term {
        let mut flat = BTreeSet::new();
        for term in terms {
            match term {
                Term::OneOf(inner) => flat.extend(inner),
                other => drop(flat.insert(other)),
            }
        }
        if flat.contains(&Term::Any) {
            return Term::Any;
        }
        match flat.len() {
            1 => flat.pop_first().unwrap_or(Term::Any),
            _ => Term::OneOf(flat),
        }
    }

    /// Text without rules.
    pub fn text() -> Term {
        Term::Text { min: 0, rules: String::new() }
    }

    /// Whether some of it is not known.
    pub fn is_unknown(&self) -> bool {
        match self {
            Term::Unknown => true,
            Term::List { of, .. } | Term::Map(of) => of.is_unknown(),
            Term::OneOf(terms) => terms.iter().any(Term::is_unknown),
            _ => false,
        }
    }

    /// Whether everything that `other` says is right here. Names are taken by their own name alone: what is behind them is
    /// compared where it stands.
    pub fn takes(&self, other: &Term) -> Taken {
        if self == other {
            return Taken::All;
        }
        if self.is_unknown() || other.is_unknown() {
            return Taken::Unknown;
        }
        if self.covers(other) { Taken::All } else { Taken::NotAll }
    }

    fn covers(&self, other: &Term) -> bool {
        let within = |min: Option<Bound>, other: Option<Bound>, least: bool| match (min, other) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) if least => own <= other,
            (Some(own), Some(other)) => own >= other,
        };
        match (self, other) {
            (Term::Any, _) => true,
            (_, Term::OneOf(terms)) => terms.iter().all(|term| self.covers(term)),
            (Term::OneOf(terms), _) => terms.iter().any(|term| term.covers(other)),
            (Term::Text { min, rules }, Term::Words(words)) => {
                rules.is_empty() && words.iter().all(|w| w.chars().count() as u64 >= *min)
            }
            (Term::Text { min, rules }, Term::Text { min: least, rules: theirs }) => {
                min <= least && (rules.is_empty() || rules == theirs)
            }
            (Term::Number { whole, min, max }, Term::Number { whole: theirs, min: low, max: high }) => {
                (!whole || *theirs) && within(*min, *low, true) && within(*max, *high, false)
            }
            (Term::Words(own), Term::Words(theirs)) => own.is_superset(theirs),
            (Term::List { of, unique }, Term::List { of: theirs, unique: also }) => {
                (!unique || *also) && of.covers(theirs)
            }
            (Term::Map(own), Term::Map(theirs)) => own.covers(theirs),
            _ => self == other,
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |words: Vec<String>, by: &str| words.join(by);
        match self {
            Term::Any => f.write_str("anything"),
            Term::Unknown => f.write_str("not modelled"),
            Term::Null => f.write_str("null"),
            Term::Bool => f.write_str("boolean"),
            Term::Text { min, rules } => {
                let least = if *min == 0 { String::new() } else { format!(" of {min} or more characters") };
                let rules =
                    if rules.is_empty() { String::new() } else { format!(" {}", super::quoted(rules)) };
                write!(f, "string{least}{rules}")
            }
            Term::Number { whole, min, max } => {
                f.write_str(if *whole { "integer" } else { "number" })?;
                for (word, bound) in [(" from ", min), (" to ", max)] {
                    if let Some(Bound(bound)) = bound {
                        write!(f, "{word}{bound}")?;
                    }
                }
                Ok(())
            }
            Term::Words(words) => {
                let words = words.iter().map(|w| format!("\"{}\"", super::quoted(w))).collect();
                f.write_str(&joined(words, "|"))
            }
            Term::List { of, unique } => {
                write!(f, "{}<{of}>", if *unique { "set" } else { "list" })
            }
            Term::Map(of) => write!(f, "map<{of}>"),
            Term::Named(name) => f.write_str(&super::quoted(name)),
            Term::OneOf(terms) => {
                f.write_str(&joined(terms.iter().map(ToString::to_string).collect(), " | "))
            }
            Term::Other(json) => f.write_str(&super::quoted(json)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Term {
        Term::Words(words.iter().map(|w| (*w).to_owned()).collect())
    }

    fn whole(min: Option<f64>) -> Term {
        Term::Number { whole: true, min: min.map(Bound), max: None }
    }

    #[test]
    fn a_wider_type_takes_a_narrower_one_and_not_the_other_way_round() {
        let null = |term: Term| Term::one_of([term, Term::Null]);
        let list = |of: Term, unique| Term::List { of: Box::new(of), unique };
        for (wide, narrow) in [
            (Term::Any, Term::text()),
            (null(Term::text()), Term::text()),
            (Term::text(), words(&["a"])),
            (words(&["a", "b"]), words(&["a"])),
            (whole(None), whole(Some(0.0))),
            (Term::Number { whole: false, min: None, max: None }, whole(None)),
            (list(Term::Any, false), list(Term::text(), false)),
            (list(Term::text(), false), list(Term::text(), true)),
            (Term::Map(Box::new(Term::Any)), Term::Map(Box::new(Term::Bool))),
            (null(Term::OneOf([Term::Bool, Term::text()].into())), null(Term::Bool)),
        ] {
            assert_eq!(wide.takes(&narrow), Taken::All, "{wide} takes {narrow}");
            assert_eq!(narrow.takes(&wide), Taken::NotAll, "{narrow} does not take {wide}");
        }
    }

    #[test]
    fn what_is_not_known_is_neither_wider_nor_narrower() {
        let list = Term::List { of: Box::new(Term::Unknown), unique: false };
        assert_eq!(list.takes(&Term::text()), Taken::Unknown);
        assert_eq!(Term::text().takes(&Term::Unknown), Taken::Unknown);
        assert_eq!(list.takes(&list.clone()), Taken::All, "the same is the same");
    }

    #[test]
    fn a_union_is_written_in_one_way() {
        let inner = Term::one_of([Term::Null, Term::text()]);
        assert_eq!(Term::one_of([inner, Term::Null]), Term::one_of([Term::text(), Term::Null]));
        assert_eq!(Term::one_of([Term::Any, Term::Null]), Term::Any);
        assert_eq!(Term::one_of([Term::Bool]), Term::Bool);
    }
}
