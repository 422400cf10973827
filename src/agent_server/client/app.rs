//! What is behind the library, chosen by trait.

use std::time::Duration;

use serde_json::Value;

use super::canvas::Canvas;
use super::desk::{Desk, stopped, taken};
use super::listen::Callbacks;
use super::literal::{self, Cache, NoProperties};
use super::slots::Slots;
use crate::agent_server::profile::client::{Application, ClientTraits, Listening, Unknown};
use crate::agent_server::profile::{Profile, ProfileError};
use crate::record::Hop;
use crate::wire::DELTA_KIND;

/// The application of one client.
#[derive(Debug)]
pub(super) struct App {
    kind: Kind,
    cache: Option<Cache>,
    reads_kind: bool,
    unknown: Unknown,
}

#[derive(Debug)]
enum Kind {
    Callbacks(Callbacks),
    Literal,
    Canvas(Box<Canvas>),
    Slots(Box<Slots>),
}

impl App {
    pub(super) fn new(profile: &Profile<ClientTraits>, list: Option<&str>) -> Result<App, ProfileError> {
        let traits = &profile.traits;
        let listen = &traits.listen;
        let name = list.unwrap_or(&listen.default);
        // A client without lists has one way of listening, and it has no name.
        let listening =
            if name.is_empty() && list.is_none() { Listening::Called } else { profile.list(name)? };
        let kind = match traits.application.kind {
            Application::Callbacks => Kind::Callbacks(Callbacks::new(name, listening)),
            Application::LiteralKind => Kind::Literal,
            Application::Canvas => Kind::Canvas(Box::new(Canvas::new(&traits.store))),
            Application::Slots => Kind::Slots(Box::new(Slots::new(&traits.store, traits.guard))),
        };
        let cache = traits.application.cache.then(Cache::default);
        Ok(App { kind, cache, reads_kind: traits.application.reads_kind, unknown: traits.policy.unknown })
    }

    /// A value that was decoded and passed the guard. Writes exactly one receipt.
    pub(super) fn take(&mut self, value: Value, desk: &mut Desk<'_>) {
        let is_delta = value.get("kind").and_then(Value::as_str) == Some(DELTA_KIND);
        let kindless = self.reads_kind && value.is_null();
        let fate = match &mut self.kind {
            Kind::Callbacks(_) | Kind::Literal if kindless => {
                desk.note(|f| &f.handler, "Cannot read properties of null (reading 'kind')");
                stopped(Hop::Decoded, "no_kind")
            }
            Kind::Canvas(canvas) => return canvas.take(value, desk),
            Kind::Slots(slots) => return slots.take(&value, desk),
            Kind::Callbacks(callbacks) if is_delta => callbacks.delta(&value, desk.delivery, desk.trace),
            Kind::Literal if is_delta => literal::delta(&value, desk.delivery, desk.trace),
            Kind::Callbacks(_) | Kind::Literal
                if self.unknown == Unknown::Shown && !literal::known(&value) =>
            {
                literal::raw(&value, desk.delivery, desk.trace)
            }
            Kind::Callbacks(_) | Kind::Literal => taken(),
        };
        if let Some(Err(NoProperties)) = self.cache.as_mut().map(|c| c.keep(&value)) {
            desk.note(|f| &f.cache, "");
        }
        desk.receipt(fate);
    }

    /// Whether the guard is for something inside the value, so that only the application can apply it.
    pub(super) fn guards_itself(&self) -> bool {
        matches!(self.kind, Kind::Slots(_))
    }

    /// How long after the first of them waiting deltas are due.
    pub(super) fn due(&self) -> Option<Duration> {
        match &self.kind {
            Kind::Canvas(canvas) => canvas.due(),
            Kind::Slots(slots) => slots.due(),
            Kind::Callbacks(_) | Kind::Literal => None,
        }
    }

    /// Draws what waits.
    pub(super) fn flush(&mut self, desk: &mut Desk<'_>) {
        match &mut self.kind {
            Kind::Canvas(canvas) => canvas.flush(desk),
            Kind::Slots(slots) => slots.flush(desk),
            Kind::Callbacks(_) | Kind::Literal => {}
        }
    }

    /// The connection is gone.
    pub(super) fn closed(&mut self) {
        if let Kind::Slots(slots) = &mut self.kind {
            slots.clear();
        }
    }

    /// The sequence number that a reconnect asks to continue after, on the session socket.
    pub(super) fn cursor(&self) -> Option<i64> {
        match &self.kind {
            Kind::Slots(slots) => slots.cursor(),
            _ => None,
        }
    }

    /// The reply as a person sees it; `None` for an application without a view of its own.
    pub(super) fn view(&self) -> Option<String> {
        match &self.kind {
            Kind::Canvas(canvas) => Some(canvas.reply()),
            Kind::Slots(slots) => Some(slots.reply()),
            Kind::Callbacks(_) | Kind::Literal => None,
        }
    }

    /// The chat, for a client that has one on the legacy socket.
    #[cfg(test)]
    pub(super) fn canvas(&self) -> Option<&Canvas> {
        match &self.kind {
            Kind::Canvas(canvas) => Some(canvas),
            _ => None,
        }
    }

    /// How many values the library keeps beside the callbacks.
    #[cfg(test)]
    pub(super) fn cached(&self) -> usize {
        self.cache.as_ref().map_or(0, Cache::len)
    }
}
