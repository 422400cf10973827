//! Whether a capsule says the same of itself in all its places. Sums tell damage; whoever changes a capsule and sums it up
//! anew leaves one place that contradicts another.

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::head::{CLOCK, Head};
use super::write;
use crate::scenario::Cell;

/// A place that contradicts another one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Odd {
    /// Bytes of the text.
    pub(super) span: (usize, usize),
    /// What is wrong there.
    pub(super) title: String,
    /// What was expected, or what to do.
    pub(super) help: String,
}

/// The places that are held against the head.
#[derive(Deserialize)]
struct Places {
    capsule: HeadPlaces,
    #[serde(default)]
    expect: Vec<Spanned<Table>>,
}

#[derive(Deserialize)]
struct HeadPlaces {
    clock: Spanned<String>,
    hash: Spanned<String>,
    found: Spanned<Table>,
}

/// The first contradiction of a capsule whose text up to its sums is `body`.
pub(super) fn check(body: &str, head: &Head, cell: &Cell) -> Result<(), Odd> {
    // It was read as a head and as a scenario already.
    let Ok(places) = toml::from_str::<Places>(body) else { return Ok(()) };
    clock(&places.capsule.clock)?;
    expected(&places, head)?;
    // Another version may write a cell in other words, and take its hash over more.
    if head.writer().is_some() {
        return Ok(());
    }
    let hash = &places.capsule.hash;
    if cell.hash != head.hash {
        let (said, is) = (&head.hash, &cell.hash);
        return Err(Odd {
            span: ends(hash),
            title: format!("the hash is `{said}`, and the cell of this capsule has `{is}`"),
            help: "the cell was changed behind its head; `skewlab matrix` runs it as it is".to_owned(),
        });
    }
    written(body, head, cell)
}

fn ends<T>(of: &Spanned<T>) -> (usize, usize) {
    (of.span().start, of.span().end)
}

fn clock(said: &Spanned<String>) -> Result<(), Odd> {
    if said.get_ref() == CLOCK {
        return Ok(());
    }
    Err(Odd {
        span: ends(said),
        title: format!(
            "the clock is `{}`, and no other than `{CLOCK}` repeats byte for byte",
            said.get_ref()
        ),
        help: format!(
            "a capsule has clock = \"{CLOCK}\"; `skewlab matrix FILE --clock wall` runs its cell in real time"
        ),
    })
}

/// What came of the cell, and what its scenario expects, are one thing said twice.
fn expected(places: &Places, head: &Head) -> Result<(), Odd> {
    let verdict = head.found.verdict.as_str();
    let wanted: Table =
        write::expected(&head.found).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let help = || {
        let keys: Vec<String> = wanted.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("expected one [[expect]] with {}", keys.join(", "))
    };
    let odd = |span, title| Err(Odd { span, title, help: help() });
    match (places.expect.as_slice(), head.found.verdict.is_rig_fault()) {
        ([], true) => Ok(()),
        ([first, ..], true) => Err(Odd {
            span: ends(first),
            title: format!(
                "an end is expected, and the capsule found `{verdict}`, which says nothing of its subject"
            ),
            help: "a capsule of such a cell has no [[expect]]".to_owned(),
        }),
        ([], false) => {
            let title = format!("this says that the cell ended in `{verdict}`, and no [[expect]] says so");
            odd(ends(&places.capsule.found), title)
        }
        ([_, second, ..], false) => odd(ends(second), "a second [[expect]]: one cell has one end".to_owned()),
        ([one], false) => match differing(one.get_ref(), &wanted) {
            None => Ok(()),
            Some(key) => {
                let word = |table: &Table| table.get(key).map_or("nothing".to_owned(), Value::to_string);
                let (here, there) = (word(one.get_ref()), word(&wanted));
                odd(ends(one), format!("`{key}` is {here} here and {there} in [capsule.found]"))
            }
        },
    }
}

/// The first key whose value is not the same in both.
fn differing<'a>(one: &'a Table, other: &'a Table) -> Option<&'a str> {
    one.keys().chain(other.keys()).find(|key| one.get(*key) != other.get(*key)).map(String::as_str)
}

/// A capsule is what skewlab writes of its cell: anything else in it means nothing, or is meant to mislead.
fn written(body: &str, head: &Head, cell: &Cell) -> Result<(), Odd> {
    // Who wrote it down says how it was come by, behind the question.
    let why = body.lines().nth(1).and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
    let wanted = write::unsealed(cell, head, why);
    let (mut start, mut lines) = (0, wanted.lines());
    for line in body.split_inclusive('\n') {
        let is = line.trim_end_matches(['\n', '\r']);
        let wanted = lines.next();
        if wanted != Some(is) {
            return Err(other_line((start, start + is.len()), wanted));
        }
        start += line.len();
    }
    lines.next().map_or(Ok(()), |wanted| Err(other_line((start, start), Some(wanted))))
}

fn other_line(span: (usize, usize), wanted: Option<&str>) -> Odd {
    let help = match wanted {
        Some("") => "expected an empty line".to_owned(),
        Some(wanted) => format!("expected: {wanted}"),
        None => "expected the sums".to_owned(),
    };
    let title = "this line is not what skewlab writes of the cell and of what came of it".to_owned();
    Odd { span, title, help }
}
