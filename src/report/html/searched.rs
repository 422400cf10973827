//! What a search found that nobody had declared, and what it tried.

use super::measured::Measured;
use super::wording::{counted, spaced};
use super::{Section, Tone};
use crate::record::explore::{ExploreReport, Group, Share};
use crate::report::explore::{ROW, TRIPLES, counts, kinds, parted};

/// Untried pairs of two axes that a page lists; a file of thousands of them is for a program.
const UNTRIED: usize = 100;

/// The section of `explore`.
pub(super) fn section(report: &ExploreReport, id: String, title: String) -> askama::Result<Section> {
    let (news, declared) = parted(report);
    let mut shown = Measured { lead: format!("{}.", counts(report)), ..Measured::default() };
    if let Some(rig) = news.iter().find(|group| group.verdict.is_rig_fault()) {
        shown.note(Tone::Bad, format!("skewlab itself is at fault in some of them: {}", rig.note));
    }
    let head: Vec<&str> = std::iter::once("end").chain(ROW).collect();
    for (caption, groups) in [("Not declared by any scenario", &news), ("Declared by a scenario", &declared)]
    {
        let rows = kinds(groups)
            .into_iter()
            .map(|kind| std::iter::once(spaced(kind.shown.verdict.as_str())).chain(kind.row()).collect());
        shown.table(caption, &head, rows);
    }
    let rows = news.iter().filter_map(|group| capsule(group));
    shown.table("Capsules, for skewlab replay FILE", &["file", "from", "to", "what is said of it"], rows);
    let pairs = report.coverage.pairs.iter().map(|pairs| (pairs.axes.as_str(), pairs.share));
    let all = pairs.chain([(TRIPLES, report.coverage.triples)]);
    let rows =
        all.map(|(axes, Share { tried, of })| vec![axes.to_owned(), tried.to_string(), of.to_string()]);
    shown.table("What was tried together", &["axes", "tried", "of"], rows);
    let untried = report.coverage.pairs.iter().flat_map(|pairs| {
        let left_out = pairs.untried.len().saturating_sub(UNTRIED);
        let more =
            (left_out > 0).then(|| vec![pairs.axes.clone(), format!("and {left_out} more"), "-".to_owned()]);
        let listed = pairs.untried.iter().take(UNTRIED);
        listed.map(|[one, other]| vec![pairs.axes.clone(), one.clone(), other.clone()]).chain(more)
    });
    shown.table("Not tried yet", &["axes", "one", "with"], untried);
    let headline = match (report.cells, news.len() as u64) {
        (0, _) => (Tone::Warn, "Nothing ran".to_owned()),
        (_, 0) => (Tone::Good, "Nothing that nobody had declared".to_owned()),
        (_, n) => {
            let cells = news.iter().map(|group| group.cells).sum();
            let (groups, cells) = (counted(n, "group"), counted(cells, "cell"));
            (Tone::Bad, format!("{groups} of {cells} that no scenario declares"))
        }
    };
    shown.section(id, title, headline)
}

/// Its file, its size before and after, and the judge's words; none where nothing was kept.
fn capsule(group: &Group) -> Option<Vec<String>> {
    let example = &group.example;
    let size = |tokens, faults, clients| {
        [counted(tokens, "token"), counted(faults, "fault"), counted(clients, "client")].join(", ")
    };
    let drawn = example.drawn;
    let to = example.shrunk.map_or_else(
        || "not shrunk".to_owned(),
        |shrunk| {
            let runs = counted(shrunk.runs, "run");
            format!("{}, in {runs}", size(shrunk.to.tokens, shrunk.to.faults, shrunk.to.clients))
        },
    );
    let from = size(drawn.tokens, drawn.faults, drawn.clients);
    Some(vec![example.capsule.clone()?, from, to, group.note.clone()])
}
