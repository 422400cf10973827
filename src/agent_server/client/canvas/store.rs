//! The event store of the canvas: `use-event-store.ts` and the reducer of `handle-event-for-ui.ts`.

use std::collections::HashMap;

use serde_json::Value;

use super::super::js;
use super::entry::{Body, Entry, Payload};
use super::reconcile::{self, Own};
use super::shape::{self, Threw};
use crate::agent_server::profile::client::{Merge, StoreTraits};

/// What adding an event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// Its id was known already.
    Duplicate {
        /// Whether a delta had it.
        of_delta: bool,
    },
    /// It is in the store.
    Stored,
}

/// All events of a conversation, and the list that the chat draws.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) traits: StoreTraits,
    pub(super) events: Vec<Entry>,
    pub(super) ui: Vec<Entry>,
    /// Known ids, and whether a delta had them.
    pub(super) ids: HashMap<String, bool>,
}

impl Store {
    pub(super) fn new(traits: StoreTraits) -> Store {
        Store { traits, events: Vec::new(), ui: Vec::new(), ids: HashMap::new() }
    }

    /// `addEvent`. When it throws, nothing has changed.
    pub(super) fn add(&mut self, entry: Entry) -> Result<Added, Threw> {
        let is_delta = entry.delta().is_some();
        let tracked = !is_delta || self.traits.dedup_delta_ids;
        if let (true, Some(&of_delta)) = (tracked, self.ids.get(&entry.id)) {
            return Ok(Added::Duplicate { of_delta });
        }
        // The order is checked against both lists as they were before.
        let older =
            |list: &[Entry]| list.last().is_some_and(|last| js::less(&entry.timestamp, &last.timestamp));
        let sort = older(&self.events) || older(&self.ui);
        let (id, literal) = (tracked.then(|| entry.id.clone()), entry.literal_delta);
        self.reduce(&entry)?;
        if let Some(id) = id {
            self.ids.insert(id, literal);
        }
        if !merge_into_last(&mut self.events, &entry, self.traits.merge) {
            self.events.push(entry);
        }
        if sort {
            let by_time = |a: &Entry, b: &Entry| js::locale_compare(&a.timestamp, &b.timestamp);
            self.events.sort_by(by_time);
            self.ui.sort_by(by_time);
        }
        Ok(Added::Stored)
    }

    /// The delta that the next delta of this sender would merge into.
    pub(super) fn open_bubble(&self, planning: bool) -> Option<&Payload> {
        let last = self.ui.last()?;
        let same = self.traits.merge == Merge::Adjacent || last.planning == planning;
        last.delta().filter(|_| same)
    }

    /// `handleEventForUI`.
    fn reduce(&mut self, entry: &Entry) -> Result<(), Threw> {
        let Some(event) = entry.event() else {
            let skip = entry.delta().is_some_and(Payload::is_null_pair);
            if !skip && !merge_into_last(&mut self.ui, entry, self.traits.merge) {
                self.ui.push(entry.clone());
            }
            return Ok(());
        };
        let finish = shape::is_action_of(event, "FinishAction");
        if finish || shape::is_agent_message(event) {
            if reconcile::finalise(&self.traits, entry, &mut self.ui)? == Own::LeaveOut {
                return Ok(());
            }
        } else if shape::action_kind(event).is_some() && !shape::is_action_of(event, "ThinkAction") {
            reconcile::tool_call(&self.traits, entry, &mut self.ui)?;
        }
        let place = match shape::observation_kind(event).map(Value::as_str) {
            // The action that they answer shows the same text.
            Some(Some("ThinkObservation" | "FinishObservation")) => return Ok(()),
            Some(_) => self.ui.iter().position(|e| event.get("action_id").is_some_and(|a| *a == *e.id)),
            None => self.started_call(event),
        };
        match place {
            Some(at) => self.ui[at] = entry.clone(),
            None => self.ui.push(entry.clone()),
        }
        Ok(())
    }

    /// The card of the same ACP tool call, which the newer event replaces.
    fn started_call(&self, event: &Value) -> Option<usize> {
        let acp = |e: &Value| shape::kind(e) == Some("ACPToolCallEvent");
        let call = event.get("tool_call_id");
        acp(event).then(|| {
            self.ui.iter().position(|e| e.event().is_some_and(|e| acp(e) && e.get("tool_call_id") == call))
        })?
    }
}

/// Merges a delta into the last entry, if that is a delta it may merge with.
fn merge_into_last(entries: &mut [Entry], delta: &Entry, rule: Merge) -> bool {
    let (Some(incoming), Some(last)) = (delta.delta(), entries.last_mut()) else { return false };
    if rule == Merge::SameSender && last.planning != delta.planning {
        return false;
    }
    let Body::Delta(existing) = &mut last.body else { return false };
    existing.merge(incoming);
    true
}
