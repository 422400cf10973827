//! Turning a failure into what the application can notice of it, as the profile says.

use crate::agent_server::profile::client::{CloseRule, Failure};
use crate::probe::ClientTrace;
use crate::record::Signal;

/// Notes one failure.
pub(super) fn note(failure: &Failure, detail: &str, trace: &mut ClientTrace) {
    emit(failure.signal, &failure.key, detail, trace);
}

/// Notes a close, by the first rule for its code; without a rule nobody gets to know.
pub(super) fn note_close(rules: &[CloseRule], code: u16, reason: &str, trace: &mut ClientTrace) {
    if let Some(rule) = rules.iter().find(|r| r.codes.is_empty() || r.codes.contains(&code)) {
        emit(rule.signal, &rule.key, format!("{code} {reason}").trim_end(), trace);
    }
}

fn emit(signal: Signal, key: &str, detail: &str, trace: &mut ClientTrace) {
    match signal {
        Signal::None => {}
        Signal::Log => trace.log_line(key),
        Signal::Surfaced if detail.is_empty() => trace.surface(key.to_owned()),
        Signal::Surfaced => trace.surface(format!("{key}: {detail}")),
    }
}
