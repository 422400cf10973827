//! An application behind callbacks that get the decoded delta.

use serde_json::Value;

use super::delivery::Delivery;
use crate::agent_server::profile::client::Listening;
use crate::probe::trace::class_of;
use crate::probe::{ClientTrace, Fate};
use crate::record::observation::Piece;
use crate::record::{Hop, Reason};

/// The callback list that the application asked for.
#[derive(Debug)]
pub(super) struct Callbacks {
    listening: Listening,
    list: String,
}

impl Callbacks {
    pub(super) fn new(list: &str, listening: Listening) -> Callbacks {
        Callbacks { listening, list: list.to_owned() }
    }

    /// A delta that was decoded.
    pub(super) fn delta(&self, event: &Value, delivery: &mut Delivery, trace: &mut ClientTrace) -> Fate {
        let reason = match self.listening {
            Listening::Called => {
                return delivery.hand_over(string_fields(event), Reason::new("text_missing"), trace);
            }
            Listening::Swallowed => Reason::from(format!("{}_swallowed", self.list)),
            Listening::Bypassed => Reason::new("not_in_this_callback_list"),
        };
        Fate::Stopped { hop: Hop::Delivered, reason }
    }
}

/// The payload of a delta, as far as it is text.
pub(super) fn string_fields(event: &Value) -> Vec<Piece> {
    let piece = |key: &str, reasoning: bool| {
        let text = event.get(key)?.as_str()?;
        Some(Piece { class: class_of(text, reasoning), text: text.to_owned() })
    };
    [piece("reasoning_content", true), piece("content", false)].into_iter().flatten().collect()
}
