//! `--known FILE`: failures that are tolerated until a day, and entries of them that have to go.

use std::io::IsTerminal;
use std::path::Path;

use chrono::NaiveDate;

use super::error::CliError;
use crate::record::Run;
use crate::report;
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

/// Says which entries have to go. The run says it too (`Laid::note`), and its exit code follows from that.
pub(super) fn complain(list: Option<&KnownList>, laid: Option<&Laid<'_>>, run: &Run) {
    let (Some(list), Some(laid)) = (list, laid) else { return };
    for complaint in laid.complaints(run) {
        let title = format!("a known failure has to go: {}", report::harmless(&complaint.stale.why));
        anstream::eprintln!("{}", list.complain(complaint.entry, &title, std::io::stderr().is_terminal()));
    }
}
