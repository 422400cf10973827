//! The stored log after somebody edited it by hand (row 23 of the facts).

use std::rc::Rc;

use crate::session_feed::chunk::{BlockKind, Chunk};
use crate::session_feed::event::{Body, Event};
use crate::session_feed::fault::Fault;

/// Edits the stored log by hand, as somebody might: the first letter of the first text that the fault is about. False if
/// there is none.
pub(super) fn edit(events: &mut [Rc<Event>], fault: Fault) -> bool {
    let found = events.iter_mut().find_map(|event| Some((edited(&event.body, fault)?, event)));
    let Some((body, event)) = found else { return false };
    *event = Rc::new(Event { body, ..(**event).clone() });
    true
}

fn edited(body: &Body, fault: Fault) -> Option<Body> {
    match (body, fault) {
        (Body::Message(message), Fault::EditMessage) => {
            let mut message = message.clone();
            let block =
                message.blocks.iter_mut().find(|b| b.kind == BlockKind::Text && !b.text.is_empty())?;
            block.text = misspelt(&block.text);
            Some(Body::Message(message))
        }
        (Body::Chunk(place, Chunk::TextDelta { index, text }), Fault::EditChunk) if !text.is_empty() => {
            Some(Body::Chunk(*place, Chunk::TextDelta { index: *index, text: misspelt(text).into() }))
        }
        (Body::Message(message), Fault::EditChunk) => {
            let mut message = message.clone();
            let text = message.stream.iter_mut().flatten().find_map(|timed| match &mut timed.chunk {
                Chunk::TextDelta { text, .. } if !text.is_empty() => Some(text),
                _ => None,
            })?;
            *text = misspelt(text).into();
            Some(Body::Message(message))
        }
        _ => None,
    }
}

/// The text with another first letter.
fn misspelt(text: &str) -> String {
    let letter = if text.starts_with('\u{2020}') { '\u{2021}' } else { '\u{2020}' };
    std::iter::once(letter).chain(text.chars().skip(1)).collect()
}
