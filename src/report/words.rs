//! What each verdict means, for a person who meets the word for the first time.

use super::escape::line;
use crate::record::{CellResult, Outcome, Verdict};

/// Meaning, and what to do about it.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    /// What it says.
    pub meaning: &'static str,
    /// What to do next.
    pub next: &'static str,
}

/// Explains a verdict.
pub fn explain(verdict: Verdict) -> Explained {
    let (meaning, next) = match verdict {
        Verdict::Delivered => (
            "All text that the model streamed reached the person, in order, once, while it streamed.",
            "Nothing.",
        ),
        Verdict::ByDesign => (
            "The client's profile says that it does not stream, and it got nothing. The whole reply still arrives.",
            "Nothing, unless you meant it to stream: then its profile or its release is the wrong one.",
        ),
        Verdict::SilentLoss => (
            "Text is missing and nothing surfaced: the reply is complete at the end, or the run never ends and nobody is told. \
             A log line is not surfacing; it is shown as the signal.",
            "Look at `lost_at` and `reason`: the hop that dropped it is the one to change, or the change to take back.",
        ),
        Verdict::LoudLoss => (
            "Text is missing and something surfaced: an exception, an error callback, a refused or closed connection.",
            "People will report this one. Decide whether the pair is supported at all.",
        ),
        Verdict::DurableLoss => (
            "A durable event that the client should have got was refused or dropped, or never made because the server was \
             ended in its turn: not only the stream, the conversation itself is incomplete on that client.",
            "Look for fields that were added to durable events: strict clients refuse what they do not know. After `turn_killed` \
             look at what ended the server, and at who tells the person to ask again.",
        ),
        Verdict::Corrupted => (
            "The text that arrived is not the text that was streamed.",
            "Look at the hop `delivered` of the class in `run.json`; a value of another type shown as text looks like this too.",
        ),
        Verdict::Reordered => (
            "All the text arrived, and its pieces in another order than the model made them.",
            "Look for a publish that waits for one subscriber while the next token is published already, or for two ways of \
             different speed.",
        ),
        Verdict::Divergent => (
            "Two sources of one text disagree: a live feed and the log, or the chunks of a step and the message made of \
             them. Both look whole, and who reads one of them cannot know.",
            "The finding names both sources and the first place where they differ. Keep one of them, or compare them where \
             the second is written.",
        ),
        Verdict::Duplicated => (
            "Text arrived twice, or the reply stands twice in what a person sees at the end.",
            "Look for a second subscription, a replay that overlaps, or a final message that did not replace its stream.",
        ),
        Verdict::Late => (
            "Text arrived after the final message of its turn, which holds it already: a bubble of its own below the reply, or \
             a callback that comes when the answer is done.",
            "Nobody waits for a delta before the message is published. Wait for it there, or drop on the client what belongs to \
             a message that is final.",
        ),
        Verdict::NotStreamed => (
            "All the text arrived, and the first of it when the model was as good as done: something held it back to the end. \
             Counts do not show it, times do.",
            "Look for a proxy that buffers, a batch that waits for too much, or a client that does not read. Time to the first \
             text stands beside the time that the model took.",
        ),
        Verdict::Stalled => (
            "A subscriber with which nothing is wrong was held up because another one was. It is judged against the same cell \
             without the fault.",
            "Find what calls subscribers one after the other and waits for each. A slow one must not be waited for by the rest.",
        ),
        Verdict::Unbounded => (
            "More and more waited for a subscriber that did not keep up, and nothing limited it: in the server neither was it \
             disconnected nor was the model slowed down, or in its own client frames were read faster than they were handled \
             (`no_limit_in_client`).",
            "Give the queue a bound and say what happens at it. `queue` (server) and `receive_queue` (client) in `run.json` have \
             the peak, what was left at the end, and the close.",
        ),
        Verdict::Reaped => (
            "An outside runtime ended the server because it looked idle, while a turn was running.",
            "Streaming has to keep the clock behind `idle_time` fresh: by an event, or by a sign of life of the producer. \
             `skewlab idle` shows who writes it.",
        ),
        Verdict::OverBudget => (
            "All text arrived, and it cost more than the scenario's budget allows. A loss in the same cell is worse and \
             takes the headline; what it cost stands beside it in the findings.",
            "The finding names metric, measured value and limit; `budgets` in `run.json` has those that were kept, too.",
        ),
        Verdict::Leaked => (
            "A token delta reached a consumer that the scenario says must never see one.",
            "The bus hands deltas to subscribers that did not ask for them; see `side_effects` for the counts.",
        ),
        Verdict::Invalid => (
            "skewlab itself is at fault: counts that do not add up, or a panic. The cell says nothing about the subject.",
            "Report it with the seed and the cell's id; never read it as green.",
        ),
        Verdict::NotRun => (
            "The cell did not run to its end. That is red, never blank.",
            "Run it alone with `--only` and its id.",
        ),
    };
    Explained { meaning, next }
}

/// `1 cell`, `2 cells`.
pub(super) fn counted(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// One cell in one line: its id, its verdict, and why its outcome is not plainly expected.
pub fn cell_line(cell: &CellResult) -> String {
    let note = cell.outcome_note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
    let mark = if matches!(cell.outcome, Outcome::Expected | Outcome::Known) { " " } else { "*" };
    format!("{mark} {}", line(&format!("{}: {}{note}", cell.id, cell.verdict.as_str())))
}
