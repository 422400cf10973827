//! What goes wrong in a run, in the form that a person types: `provider-error@3`, `queued:64`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fault. `K` counts chunks of the whole session from 1; the fault comes after chunk `K`, or at it for listeners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The provider fails; the turn ends with an error.
    ProviderError(u64),
    /// The person cancels.
    Cancel(u64),
    /// The provider fails, and a second attempt streams the whole reply.
    Retry(u64),
    /// The process is killed, after chunk K went out on every feed.
    Kill(u64),
    /// The process is killed between the append of chunk K and its live event.
    KillBetween(u64),
    /// A listener of the log throws at chunk K.
    LogListenerThrows(u64),
    /// A listener of the live feed throws at chunk K.
    LiveListenerThrows(u64),
    /// Somebody edits the text of a committed message in the stored log.
    EditMessage,
    /// Somebody edits the text of a chunk in the stored log.
    EditChunk,
    /// The session's agent is gone after chunk K; its stream goes on.
    Dispose(u64),
    /// Feeds are queues of their own, drained apart; the oldest goes when one is full. None: no bound.
    Queued(Option<u64>),
}

/// A fault's word, and the fault at a chunk.
type Word = (&'static str, fn(u64) -> Fault);

const WITH_CHUNK: [Word; 8] = [
    ("provider-error", Fault::ProviderError),
    ("cancel", Fault::Cancel),
    ("retry", Fault::Retry),
    ("kill", Fault::Kill),
    ("kill-between", Fault::KillBetween),
    ("log-listener-throws", Fault::LogListenerThrows),
    ("live-listener-throws", Fault::LiveListenerThrows),
    ("dispose", Fault::Dispose),
];

impl Fault {
    /// Every form, as a person types it, with `K` and `N` for numbers.
    pub const FORMS: [&'static str; 13] = [
        "none",
        "provider-error@K",
        "cancel@K",
        "retry@K",
        "kill@K",
        "kill-between@K",
        "log-listener-throws@K",
        "live-listener-throws@K",
        "dispose@K",
        "edit-message",
        "edit-chunk",
        "queued",
        "queued:N",
    ];

    /// The chunk that it comes at or after (*k*).
    pub fn chunk(self) -> Option<u64> {
        match self {
            Fault::ProviderError(k)
            | Fault::Cancel(k)
            | Fault::Retry(k)
            | Fault::Kill(k)
            | Fault::KillBetween(k)
            | Fault::LogListenerThrows(k)
            | Fault::LiveListenerThrows(k)
            | Fault::Dispose(k) => Some(k),
            Fault::None | Fault::EditMessage | Fault::EditChunk | Fault::Queued(_) => None,
        }
    }

    /// Whether the process dies of it.
    pub fn kills(self) -> bool {
        matches!(self, Fault::Kill(_) | Fault::KillBetween(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Fault::None => "none".to_owned(),
            Fault::EditMessage => "edit-message".to_owned(),
            Fault::EditChunk => "edit-chunk".to_owned(),
            Fault::Queued(None) => "queued".to_owned(),
            Fault::Queued(Some(most)) => format!("queued:{most}"),
            with_chunk => {
                let k = with_chunk.chunk().unwrap_or_default();
                let word =
                    WITH_CHUNK.iter().find(|(_, of)| of(k) == *with_chunk).map_or("", |(word, _)| word);
                format!("{word}@{k}")
            }
        };
        f.pad(&text)
    }
}

/// A word that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no fault; there are {forms}, with K and N whole numbers from 1", forms = Fault::FORMS.join(", "))]
pub struct NoFault(pub String);

impl From<Fault> for String {
    fn from(it: Fault) -> String {
        it.to_string()
    }
}

impl TryFrom<String> for Fault {
    type Error = NoFault;

    fn try_from(text: String) -> Result<Fault, NoFault> {
        text.parse()
    }
}

impl FromStr for Fault {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Fault, NoFault> {
        let number = |digits: &str| {
            let plain =
                !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
            plain.then(|| digits.parse().ok()).flatten()
        };
        let fault = match text {
            "none" => Some(Fault::None),
            "edit-message" => Some(Fault::EditMessage),
            "edit-chunk" => Some(Fault::EditChunk),
            "queued" => Some(Fault::Queued(None)),
            _ => match (text.split_once('@'), text.strip_prefix("queued:")) {
                (Some((word, k)), _) => {
                    WITH_CHUNK.iter().find(|(known, _)| *known == word).and_then(|(_, of)| number(k).map(of))
                }
                (None, Some(most)) => number(most).map(|most| Fault::Queued(Some(most))),
                (None, None) => None,
            },
        };
        fault.ok_or_else(|| NoFault(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_and_writes_itself() {
        for form in Fault::FORMS {
            let text = form.replace('K', "3").replace('N', "64");
            assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_named_with_all_there_are() {
        for text in [
            "", "kill", "kill@", "kill@0", "kill@03", "kill@-1", "kill@x", "none@3", "queued:", "queued:0",
            "Kill@3",
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("kill-between@K"), "{error}");
        }
    }
}
