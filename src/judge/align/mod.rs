//! Delivered text against produced text of one class.
//!
//! On the legacy wire a delta has no identity, a browser merges and splits what it got, and tokens repeat.
//! So the result depends on the produced pieces and on the delivered *text*, never on where the delivered
//! text is cut. Counts of characters are exact whenever one side is a subsequence of the other; which of
//! two equal tokens was lost cannot be known, and the runs then name one of the possible places.

mod diff;
mod gap;
mod segment;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::record::Scope;
use diff::Region;
use segment::Cut;

/// Characters of a haystack times needles that the search for repeated text may look at.
const SEARCH_CAP: usize = 50_000_000;

/// What became of the produced text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same text.
    Equal,
    /// The delivered text is the produced text with something left out.
    Missing {
        /// Where it was left out; never [`Scope::Class`], which takes two classes to see.
        scope: Scope,
    },
    /// The delivered text is the produced text, and some of it twice.
    Duplicated,
    /// The produced pieces, all of them and no others, in another order.
    Reordered,
    /// Anything else.
    Altered,
}

/// How delivered text differs from produced text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// The classification.
    pub kind: Kind,
    /// Produced and not delivered.
    pub missing: Missing,
    /// Delivered and not produced, or more often than produced.
    pub extra: Extra,
    /// Whether both are upper bounds, because the texts differ too much for a diff.
    pub at_most: bool,
}

/// Text that was produced and not delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// Unicode scalar values.
    pub chars: u64,
    /// Where, as ranges of scalar values of the produced text, ascending and never adjacent.
    pub runs: Vec<Range<usize>>,
}

/// Text that was delivered and not produced, or once too often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extra {
    /// Unicode scalar values.
    pub chars: u64,
    /// The stretches, in delivered order.
    pub texts: Vec<String>,
}

/// Aligns the text of one class.
///
/// Linear while a single stretch explains the difference (which covers everything missing and nothing
/// missing), and for any subsequence. Altered text costs a diff, in pieces where the delivered text can be
/// cut into produced pieces, else in characters, else, for texts of one length, in place; above a size cap in
/// each of these words are compared, or the whole differing middle counts as replaced, and
/// [`Alignment::at_most`] says so.
pub fn align(produced: &[&str], delivered: &[&str]) -> Alignment {
    let (want_text, got_text) = (produced.concat(), delivered.concat());
    if want_text == got_text {
        return Alignment {
            kind: Kind::Equal,
            missing: Missing::default(),
            extra: Extra::default(),
            at_most: false,
        };
    }
    let texts = Texts {
        want: want_text.chars().collect(),
        got: got_text.chars().collect(),
        produced,
        want_text: &want_text,
        got_text: &got_text,
    };
    if texts.got.len() < texts.want.len() {
        texts.lost().unwrap_or_else(|| texts.altered())
    } else {
        texts.repeated().unwrap_or_else(|| texts.altered())
    }
}

/// Both texts, as characters and as they came.
struct Texts<'a> {
    want: Vec<char>,
    got: Vec<char>,
    produced: &'a [&'a str],
    want_text: &'a str,
    got_text: &'a str,
}

impl Texts<'_> {
    /// The delivered text as the produced text with something left out.
    fn lost(&self) -> Option<Alignment> {
        let total = self.want.len();
        let (scope, runs) = if let Some(run) = gap::lost(&self.want, &self.got, self.produced) {
            let scope = match (run.start == 0, run.end == total) {
                (true, true) => Scope::Total,
                (_, true) => Scope::Tail,
                (true, _) => Scope::Prefix,
                _ => Scope::Gap,
            };
            (scope, vec![run])
        } else {
            let runs = gap::skipped(&self.want, &self.got)?;
            (Scope::Scattered, self.cut().and_then(|cut| cut.skipped()).unwrap_or(runs))
        };
        let chars = (total - self.got.len()) as u64;
        let missing = Missing { chars, runs };
        Some(Alignment { kind: Kind::Missing { scope }, missing, extra: Extra::default(), at_most: false })
    }

    /// The delivered text as the produced text with some of it twice.
    fn repeated(&self) -> Option<Alignment> {
        let runs = match gap::added(&self.want, &self.got) {
            Some(run) => vec![run],
            None => gap::skipped(&self.got, &self.want)?,
        };
        let texts = self.texts_of(&runs);
        if !self.all_produced(&texts) && self.cut().is_none() {
            return None;
        }
        let extra = Extra { chars: (self.got.len() - self.want.len()) as u64, texts };
        // Texts of equal length that contain each other are equal, and those never come here.
        (extra.chars > 0).then(|| Alignment {
            kind: Kind::Duplicated,
            missing: Missing::default(),
            extra,
            at_most: false,
        })
    }

    /// Neither contains the other: order changed, or something else did.
    fn altered(&self) -> Alignment {
        let cut = self.cut();
        let kind = match &cut {
            Some(_) if self.same_characters() => Kind::Reordered,
            _ => Kind::Altered,
        };
        let found = diff::regions(self, cut.as_ref());
        let at_most = found.is_none();
        let regions = found.or_else(|| diff::by_words(self)).unwrap_or_else(|| vec![diff::middle(self)]);
        let pick = |side: fn(&Region) -> Range<usize>| {
            regions.iter().map(side).filter(|run| !run.is_empty()).collect::<Vec<_>>()
        };
        let (runs, added) = (pick(|r| r.want.clone()), pick(|r| r.got.clone()));
        let chars = |runs: &[Range<usize>]| runs.iter().map(|run| run.len() as u64).sum();
        Alignment {
            kind,
            extra: Extra { chars: chars(&added), texts: self.texts_of(&added) },
            missing: Missing { chars: chars(&runs), runs },
            at_most,
        }
    }

    fn cut(&self) -> Option<Cut> {
        Cut::new(self.produced, self.got_text)
    }

    fn texts_of(&self, runs: &[Range<usize>]) -> Vec<String> {
        runs.iter().map(|run| self.got[run.clone()].iter().collect()).collect()
    }

    /// Whether each of the texts occurs somewhere in the produced text.
    fn all_produced(&self, texts: &[String]) -> bool {
        let distinct: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
        distinct.len().saturating_mul(self.want_text.len()) <= SEARCH_CAP
            && distinct.iter().all(|text| self.want_text.contains(text))
    }

    fn same_characters(&self) -> bool {
        let sorted = |text: &[char]| {
            let mut text = text.to_vec();
            text.sort_unstable();
            text
        };
        self.want.len() == self.got.len() && sorted(&self.want) == sorted(&self.got)
    }
}
