//! Which names of a selection are about which subject, where a plan has both.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::Subject;
use crate::scenario::{Glob, Selection};
use crate::session_feed::{Consumer, Variants};

/// The selection of each subject of the plan. A subject that is left without a name of one of its axes has no cells, and
/// is not in the answer.
///
/// A name that only the session feed knows is about it, and any other is left to the agent server, which knows whether it
/// exists; a glob is about both. In a plan of one subject everything is about that one.
pub(super) fn by_subject(
    selection: &Selection,
    subjects: &BTreeSet<Subject>,
    variants: &Variants,
) -> BTreeMap<Subject, Selection> {
    if subjects.len() < 2 {
        return subjects.iter().map(|subject| (*subject, selection.clone())).collect();
    }
    let is_feed = |name: &String, known: &[&str]| known.contains(&name.as_str());
    let is_glob = |name: &String| Glob::new(name).is_ok_and(|glob| !glob.is_literal());
    let part = |names: &[String], known: &[&str], subject: Subject| -> Option<Vec<String>> {
        let wanted =
            |name: &&String| is_glob(name) || is_feed(name, known) == (subject == Subject::SessionFeed);
        let part: Vec<String> = names.iter().filter(wanted).cloned().collect();
        (names.is_empty() || !part.is_empty()).then_some(part)
    };
    let (variants, consumers) = (variants.names(), Consumer::ALL.map(Consumer::as_str));
    let selections = subjects.iter().filter_map(|subject| {
        let servers = part(&selection.servers, &variants, *subject)?;
        let clients = part(&selection.clients, &consumers, *subject)?;
        Some((*subject, Selection { servers, clients, only: selection.only.clone() }))
    });
    selections.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(servers: &[&str], clients: &[&str]) -> String {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let selection = Selection { servers: own(servers), clients: own(clients), only: None };
        let both = by_subject(&selection, &Subject::ALL.into(), &Variants::embedded().unwrap());
        let shown = both.iter().map(|(subject, of)| {
            format!("{}: {} by {}", subject.as_str(), of.servers.join(","), of.clients.join(","))
        });
        shown.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_name_is_about_the_subject_that_knows_it() {
        assert_eq!(split(&[], &[]), "agent-server:  by ; session-feed:  by ");
        assert_eq!(split(&["mirrored"], &[]), "session-feed: mirrored by ");
        assert_eq!(
            split(&["1.58.2", "embedded"], &[]),
            "agent-server: 1.58.2 by ; session-feed: embedded by "
        );
        assert_eq!(split(&["*"], &["acp"]), "session-feed: * by acp");
        assert_eq!(
            split(&["1.*"], &["acp*", "python@same"]),
            "agent-server: 1.* by acp*,python@same; session-feed: 1.* by acp*"
        );
        // Nobody knows it: the agent server says so.
        assert_eq!(split(&["mirored"], &[]), "agent-server: mirored by ");
    }
}
