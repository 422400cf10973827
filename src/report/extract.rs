//! What was extracted from a package, for a person and for a program.

use std::io::{self, Write};

use comfy_table::Table;
use comfy_table::presets::NOTHING;

use crate::record::extract::{Against, ClassChange, ExtractedProfile, Extraction};

/// How an extraction is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What is implied, trait by trait.
    Whole,
    /// Only what differs from the other side, and what was not extracted.
    Differences,
}

/// Writes an extraction, and where it differs from what it was held against.
pub fn extract_table(extraction: &Extraction, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let packages: Vec<String> = extraction.packages.iter().map(|(n, v)| format!("{n} {v}")).collect();
    writeln!(out, "{}: {}\n", extraction.release, packages.join(", "))?;
    for (party, profile) in [("server", &extraction.server), ("client", &extraction.client)] {
        heading(party, profile, out)?;
        if detail == Detail::Whole {
            let rows = profile.traits.iter().map(|t| [t.path.clone(), t.value.to_string(), t.how.clone()]);
            rows_of(&["trait", "value", "found"], rows, out)?;
        }
        for missing in &profile.missing {
            writeln!(out, "  not extracted: {}: {}", missing.path, missing.why)?;
        }
        writeln!(out)?;
    }
    for (fact, why) in &extraction.unanswered {
        writeln!(out, "NOT ANSWERED: {fact}: {why}")?;
    }
    if !extraction.unanswered.is_empty() {
        writeln!(out)?;
    }
    let aside = if detail == Detail::Whole { extraction.aside.as_slice() } else { &[] };
    for (name, text) in aside {
        writeln!(out, "{name}: {text}")?;
    }
    if !aside.is_empty() {
        writeln!(out)?;
    }
    if let Some(against) = &extraction.against {
        differences(against, out)?;
    } else {
        classes("event classes beside the vocabulary", &extraction.vocabulary, out)?;
    }
    for change in &extraction.foreign {
        writeln!(out, "not the release's: {}: {}", change.class, change.what)?;
    }
    Ok(())
}

fn heading(party: &str, profile: &ExtractedProfile, out: &mut dyn Write) -> io::Result<()> {
    let (said, missing) = (profile.traits.len(), profile.missing.len());
    writeln!(out, "{party} {}: {said} traits extracted, {missing} from {}", profile.name, profile.extends)
}

fn differences(against: &Against, out: &mut dyn Write) -> io::Result<()> {
    let Against { what, compared, traits, .. } = against;
    if against.equal() {
        return writeln!(out, "equal: {compared} traits and every event class are those of {what}");
    }
    writeln!(out, "{} of {compared} traits are not those of {what}", traits.len())?;
    let word = |v: &Option<toml::Value>| v.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let rows = traits
        .iter()
        .map(|d| [format!("{} {}", d.party, d.path), word(&d.other), word(&d.this), d.how.clone()]);
    rows_of(&["trait", "there", "here", "found"], rows, out)?;
    for (name, text) in &against.aside {
        writeln!(out, "  {name}: {text}")?;
    }
    classes("event classes", &against.classes, out)
}

fn classes(what: &str, changes: &[ClassChange], out: &mut dyn Write) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(out, "{what}: no difference");
    }
    let n = changes.len();
    let word = if n == 1 { "difference" } else { "differences" };
    writeln!(out, "{what}: {n} {word}; to paste into scenarios/vocabulary/python.toml:")?;
    for change in changes {
        writeln!(out, "  # {}: {}", change.class, change.what)?;
        for line in &change.lines {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

fn rows_of<const N: usize>(
    heads: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    let mut any = false;
    table.set_header(heads.to_vec());
    for row in rows {
        any = true;
        table.add_row(row.to_vec());
    }
    if any {
        for line in table.to_string().lines() {
            writeln!(out, "  {}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Writes an extraction as JSON.
pub fn extract_json(extraction: &Extraction, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(extraction).map_err(io::Error::other)?;
    writeln!(out, "{text}")
}
