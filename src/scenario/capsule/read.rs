//! From the text of a capsule to its cell.

use serde::Deserialize;

use super::agree::{self, Odd};
use super::error::CapsuleError;
use super::head::{CAPSULE_SCHEMA, Head, Profiles};
use super::sums::{self, Broken};
use super::{SCENARIO, write};
use crate::agent_server::fault::Kind;
use crate::agent_server::profile::Catalogue;
use crate::caret::Caret;
use crate::scenario::{Cell, Scenario, Selection, expand};

/// What the schemas of all versions begin with.
const FAMILY: &str = "skewlab.capsule/";

/// One cell, and what came of it.
#[derive(Debug)]
pub struct Capsule {
    /// What came of it.
    pub head: Head,
    /// The cell.
    pub cell: Cell,
    /// The catalogue that it was read with, with the profiles that it brings.
    pub catalogue: Catalogue,
}

impl Capsule {
    /// Reads a file.
    ///
    /// Errors say which line is not as it was written, which place contradicts another, or which other version wrote it.
    pub fn read(path: &str, catalogue: Catalogue) -> Result<Capsule, CapsuleError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| CapsuleError::Read { path: path.to_owned(), error })?;
        Capsule::parse(path, &text, catalogue)
    }

    /// Reads the text of a file; `path` names it in errors.
    pub fn parse(path: &str, text: &str, catalogue: Catalogue) -> Result<Capsule, CapsuleError> {
        version(path, text)?;
        sums::check(text).map_err(|broken| damaged(path, text, broken))?;
        let body = sums::body(text);
        let File { capsule: head } = toml::from_str(body).map_err(|error| shown(path, text, &error))?;
        let Profiles { servers, clients } = &head.profiles;
        let catalogue = catalogue.with_texts(&format!("{path}: a profile in it"), servers, clients)?;
        let mut scenario = Scenario::parse(path, text, &catalogue)?;
        SCENARIO.clone_into(&mut scenario.name);
        let mut cells = expand(&scenario, &catalogue, &Selection::default())?;
        match (cells.pop(), cells.len()) {
            (Some(cell), 0) => {
                agree::check(body, &head, &cell).map_err(|odd| contradiction(path, text, &odd))?;
                Ok(Capsule { head, cell, catalogue })
            }
            (_, more) => {
                let why = format!("it holds {more} more cells than the one that it is about");
                Err(CapsuleError::None { path: path.to_owned(), why })
            }
        }
    }

    /// The text of the capsule of a cell. `why` says in a line how it was come by.
    pub fn text(cell: &Cell, head: &Head, why: &str) -> String {
        write::written(cell, head, why)
    }

    /// The profiles that a cell needs and that do not come with skewlab.
    pub fn profiles(cell: &Cell, catalogue: &Catalogue) -> Profiles {
        let client = cell.client.split_once('/').map_or(cell.client.as_str(), |(client, _)| client);
        let mut servers: Vec<String> = Vec::new();
        let swapped = cell.faults.iter().filter_map(|fault| match &fault.kind {
            Kind::Swap { server, .. } => Some(server.as_str()),
            _ => None,
        });
        // The server of the client's own release says what it would have been sent.
        let own = client.strip_prefix("python-");
        for name in std::iter::once(cell.server.as_str()).chain(swapped).chain(own) {
            for text in catalogue.servers().added(name) {
                if !servers.iter().any(|known| known == text) {
                    servers.push(text.to_owned());
                }
            }
        }
        let clients = catalogue.clients().added(client).into_iter().map(str::to_owned).collect();
        Profiles { servers, clients }
    }
}

/// The head in a file; the scenario's keys are the scenario's.
#[derive(Deserialize)]
struct File {
    capsule: Head,
}

/// What it is comes first: nothing else is said of a capsule that an other reader is for.
fn version(path: &str, text: &str) -> Result<(), CapsuleError> {
    // Read line by line, so that a file that is cut off or bent elsewhere still says what it is.
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[capsule]");
    let none = |why: &str| CapsuleError::None { path: path.to_owned(), why: why.to_owned() };
    if lines.next().is_none() {
        let end = text.lines().count();
        return Err(if text.parse::<toml::Table>().is_err() || text.trim().is_empty() {
            CapsuleError::CutOff { path: path.to_owned(), line: end.max(1) }
        } else {
            none("it has no `[capsule]`; `skewlab matrix` runs scenarios")
        });
    }
    let schema =
        lines.take_while(|line| !line.starts_with('[')).find_map(|line| line.strip_prefix("schema = "));
    let Some(found) = schema.map(|schema| schema.trim_matches('"').to_owned()) else {
        // Where the sums are right, nobody ever wrote one.
        sums::check(text).map_err(|broken| damaged(path, text, broken))?;
        return Err(none("its `[capsule]` has no `schema`"));
    };
    if found == CAPSULE_SCHEMA {
        return Ok(());
    }
    let theirs = found.strip_prefix(FAMILY).and_then(|version| version.parse::<u32>().ok());
    let ours = CAPSULE_SCHEMA.strip_prefix(FAMILY).and_then(|version| version.parse::<u32>().ok());
    if theirs.is_none() {
        // No version of ours: more likely a line that was bent.
        sums::check(text).map_err(|broken| damaged(path, text, broken))?;
    }
    let why = if theirs > ours {
        "it was written by a later skewlab, and what it asks for may not exist here; replay it with that one"
    } else {
        "what it asks for may mean something else here; let this skewlab find it again with `skewlab explore`"
    };
    Err(CapsuleError::Version { path: path.to_owned(), found, why })
}

fn damaged(path: &str, text: &str, broken: Broken) -> CapsuleError {
    let line = match broken {
        Broken::CutOff => {
            return CapsuleError::CutOff { path: path.to_owned(), line: text.lines().count().max(1) };
        }
        Broken::Line(line) => line,
    };
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let help = "a capsule is replayed byte for byte or not at all; `skewlab matrix` runs one that was changed on purpose";
    let span = (start, start + length);
    let title = "this line of the capsule is not as it was written";
    CapsuleError::Damaged { shown: Caret { path, text, span }.show(title, Some(help), false) }
}

fn contradiction(path: &str, text: &str, odd: &Odd) -> CapsuleError {
    let caret = Caret { path, text, span: odd.span };
    CapsuleError::Contradicts { shown: caret.show(&odd.title, Some(&odd.help), false) }
}

fn shown(path: &str, text: &str, error: &toml::de::Error) -> CapsuleError {
    let span = error.span().map_or((0, 0), |span| (span.start, span.end));
    CapsuleError::Damaged { shown: Caret { path, text, span }.show(error.message(), None, false) }
}
