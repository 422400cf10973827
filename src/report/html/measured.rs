//! What every section has that is no run: a lead, notes, pictures, tables, and what the rig says of itself.

use askama::Template;

use super::timeline::Timeline;
use super::wording::Row;
use super::{Section, Tone};

/// The parts of a section, each left away where it is empty.
#[derive(Template, Default)]
#[template(path = "html/measured.html")]
pub(super) struct Measured {
    /// What was asked for.
    pub lead: String,
    /// What has to be known before anything is quoted.
    pub notes: Vec<Note>,
    /// Pictures, drawn.
    pub charts: Vec<String>,
    /// What the lines in them are.
    pub legend: &'static str,
    /// When clocks were written and what that led to.
    pub timelines: Vec<Timeline>,
    /// Everything as figures.
    pub tables: Vec<Table>,
    /// The rig's own load.
    pub rig: Vec<Row>,
}

/// A sentence that must not be missed.
pub(super) struct Note {
    pub tone: Tone,
    pub text: String,
}

/// Figures with a name in front of each row.
pub(super) struct Table {
    pub caption: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Measured {
    /// Adds a table, if it has rows.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            let head = head.iter().map(|h| (*h).to_owned()).collect();
            self.tables.push(Table { caption: caption.to_owned(), head, rows });
        }
    }

    /// Adds a note.
    pub(super) fn note(&mut self, tone: Tone, text: impl Into<String>) {
        self.notes.push(Note { tone, text: text.into() });
    }

    /// The section of them.
    pub(super) fn section(
        &self,
        id: String,
        title: String,
        (tone, sentence): (Tone, String),
    ) -> askama::Result<Section> {
        Ok(Section { id, title, tone, sentence, body: self.render()?, has_cells: false })
    }
}
