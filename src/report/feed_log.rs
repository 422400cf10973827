//! What is in a session log, and what had to be repaired for it, for a person and for a program.

use std::io::{self, Write};

use crate::session_feed::store::load::{Differs, Summary};

/// Characters of a text that are shown from where it differs on.
const EXCERPT: usize = 24;

/// The summary as JSON.
pub fn feed_log_json(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, summary).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Writes a line a count, and a line a repair.
pub fn feed_log_table(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Summary { stored, turns, interrupted, repairs, .. } = summary;
    writeln!(out, "{}: session {:?}, {}", summary.file.display(), summary.session, summary.store)?;
    let broken = if *interrupted > 0 { format!(", {interrupted} interrupted") } else { String::new() };
    writeln!(out, "  events   {}", stored.events)?;
    writeln!(out, "  chunks   {}", stored.chunks)?;
    writeln!(out, "  turns    {turns}{broken}")?;
    writeln!(out, "  batches  {}", stored.batches)?;
    writeln!(out, "  rows     {}, {} packed", stored.rows, stored.packed_rows)?;
    writeln!(out, "  bytes    {}", stored.bytes)?;
    differing(&summary.divergent_steps, out)?;
    match (&summary.repaired, repairs.is_empty()) {
        (None, true) => return writeln!(out, "nothing to repair"),
        (None, false) => {
            writeln!(
                out,
                "repaired in what was read; the file is as it was, and --repair OUT writes the repaired log:"
            )?;
        }
        (Some(to), true) => writeln!(out, "nothing to repair; the copy is {}", to.display())?,
        (Some(to), false) => writeln!(out, "repaired, and written to {}:", to.display())?,
    }
    repairs.iter().try_for_each(|repair| writeln!(out, "  {}", repair.said))
}

/// The steps of which the log holds two texts. The words are somebody else's, and are written escaped.
fn differing(steps: &[Differs], out: &mut dyn Write) -> io::Result<()> {
    match steps.len() {
        0 => return Ok(()),
        1 => writeln!(out, "1 step whose chunks and message differ:")?,
        n => writeln!(out, "{n} steps whose chunks and message differ:")?,
    }
    for Differs { turn, step, chunks, message } in steps {
        let same = chunks.chars().zip(message.chars()).take_while(|(a, b)| a == b).count();
        let rest = |text: &str| -> String { text.chars().skip(same).take(EXCERPT).collect() };
        let (place, chunks, message) = (same + 1, rest(chunks), rest(message));
        writeln!(
            out,
            "  turn {turn}, step {step}, from character {place} on: {chunks:?} in its chunks, {message:?} in its message"
        )?;
    }
    Ok(())
}
