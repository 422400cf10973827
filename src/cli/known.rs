//! `--known FILE`: failures that are tolerated until a day, and entries of them that have to go.

use std::io::IsTerminal;
use std::path::Path;

use chrono::NaiveDate;

use super::error::CliError;
use crate::judge::ExitCode;
use crate::record::Run;
use crate::scenario::KnownList;
use crate::suite::Laid;

/// Today, as far as an expiry is concerned.
pub(super) fn today() -> NaiveDate {
    chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).date_naive()
}

/// The file, if one is named.
pub(super) fn load(file: Option<&Path>) -> Result<Option<KnownList>, CliError> {
    Ok(file.map(KnownList::load).transpose()?)
}

/// Says which entries have to go, and what the shell is told then.
pub(super) fn conclude(
    list: Option<&KnownList>,
    laid: Option<&Laid<'_>>,
    run: &Run,
    code: ExitCode,
) -> ExitCode {
    let (Some(list), Some(laid)) = (list, laid) else { return code };
    let complaints = laid.complaints(run);
    for complaint in &complaints {
        let title = format!("a known failure has to go: {}", complaint.stale.why);
        anstream::eprintln!("{}", list.complain(complaint.entry, &title, std::io::stderr().is_terminal()));
    }
    if complaints.is_empty() { code } else { code.first_of(ExitCode::Stale) }
}
