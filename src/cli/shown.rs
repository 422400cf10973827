//! A result on standard output, and in a file where one was asked for.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::args::Format;
use super::error::CliError;
use crate::report::write_atomically;

/// Writes a result as text or as JSON.
type Writer<T> = fn(&T, &mut dyn Write) -> io::Result<()>;

/// Keeps the result as JSON and shows it in the format that was asked for. What was found is shown even when it could not be
/// kept; that is the error then.
pub(super) fn show_and_keep<T>(
    result: &T,
    out: Option<&Path>,
    format: Format,
    json: Writer<T>,
    table: Writer<T>,
) -> Result<(), CliError> {
    let written = out.map_or(Ok(()), |path| write_atomically(path, |out| json(result, out)));
    match format {
        Format::Table => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            table(result, &mut out)?;
            out.flush()?;
        }
        Format::Json => {
            let mut out = BufWriter::new(io::stdout().lock());
            json(result, &mut out)?;
            out.flush()?;
        }
    }
    Ok(written?)
}
