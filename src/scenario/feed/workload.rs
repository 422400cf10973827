//! What the model streams in a session: turns of steps, written out or by the size of a log alone.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;

use crate::scenario::problem::Problem;
use crate::scenario::section::{Faults, Section};
use crate::session_feed::chunk::BlockKind;
use crate::session_feed::event::Called;
use crate::session_feed::script::{StepScript, TurnScript, chunks};
use crate::session_feed::{Script, Shape};

/// A session to play.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedWorkload {
    /// Its name in the scenario.
    pub name: String,
    /// The session.
    pub script: Script,
    /// Sessions of the process that stream it at once; the consumer's is one of them.
    pub sessions: u32,
}

pub(in crate::scenario) const MAX_RATE: f64 = 1_000_000.0;
/// Turns, and steps in each: a long session has some hundreds.
pub(in crate::scenario) const MAX_STEPS: u64 = 1_000;
/// Deltas and events of one workload: the largest log that was measured has two and a half million events.
pub(in crate::scenario) const MAX_EVENTS: u64 = 3_000_000;
/// Sessions of one process.
pub(in crate::scenario) const MAX_SESSIONS: u64 = 1_000;

/// How often what is written is streamed: steps, turns and sessions multiply it.
#[derive(Debug, Clone, Copy)]
struct Size {
    times: u64,
}

impl Size {
    /// Reports so many deltas and steps as are written down once, if all of them are too many. Before any of it is built.
    fn refuses(self, written: u64, key: &str, span: Range<usize>, faults: &mut Faults) -> bool {
        let refused = written.saturating_mul(self.times) > MAX_EVENTS;
        if refused {
            let allowed = format!(
                "at most {MAX_EVENTS} deltas and steps, with repeats, `steps`, `turns` and `sessions` multiplied"
            );
            faults.add(span, Problem::OutOfRange { key: key.to_owned(), allowed });
        }
        refused
    }
}

/// The deltas of one step, and the tool that ends it.
#[derive(Debug, Clone, Default)]
struct Streamed {
    deltas: Vec<(BlockKind, String)>,
    tool: Option<(String, String)>,
}

impl FeedWorkload {
    /// Reads a `[workload.NAME]` table.
    pub(super) fn read(name: &str, mut section: Section<'_>, faults: &mut Faults) -> Option<FeedWorkload> {
        let rate = match section.value("rate") {
            Some(_) => section.positive("rate", MAX_RATE, faults),
            None => Some(50.0),
        };
        let user = section.text("user", faults).map_or_else(|| "hi".to_owned(), Spanned::into_inner);
        let sessions = section.count("sessions", 1, MAX_SESSIONS, faults);
        let sessions = sessions.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let turns = section.count("turns", 1, MAX_STEPS, faults).unwrap_or(1);
        let steps = section.count("steps", 1, MAX_STEPS, faults);
        let size =
            Size { times: turns.saturating_mul(steps.unwrap_or(1)).saturating_mul(u64::from(sessions)) };
        let given = ["reply", "tokens", "shape"].map(|key| section.value(key).is_some());
        let script = match given {
            [true, false, false] => {
                reply(&mut section, size, faults).and_then(|one| whole(&section, vec![one], steps, faults))
            }
            [false, true, false] => {
                tokens(&mut section, size, faults).and_then(|all| whole(&section, all, steps, faults))
            }
            [false, false, true] => {
                let script = shape(&mut section, &user, rate.unwrap_or(50.0), sessions, faults);
                refuse_with_shape(&mut section, faults);
                section.finish(faults);
                return Some(FeedWorkload { name: name.to_owned(), script: script?, sessions });
            }
            _ => {
                faults.add(section.span.clone(), Problem::FeedSource { name: name.to_owned() });
                None
            }
        };
        section.finish(faults);
        let (script, rate) = (script?, rate?);
        let turns = (0..turns).map(|turn| TurnScript { user: user.clone(), steps: scripts(&script, turn) });
        Some(FeedWorkload {
            name: name.to_owned(),
            script: Script { turns: turns.collect(), rate },
            sessions,
        })
    }

    /// Chunks that the script streams (*C*).
    pub fn chunks(&self) -> u64 {
        self.script.chunks().count() as u64
    }

    /// Characters of its text, Unicode scalar values (*T*).
    pub fn text_chars(&self) -> u64 {
        let text = self.script.chunks().filter_map(|chunk| chunk.delta());
        let text = text.filter(|(kind, ..)| *kind == BlockKind::Text);
        text.map(|(_, _, text)| text.chars().count() as u64).sum()
    }

    /// Steps of all turns (*S*).
    pub fn steps(&self) -> u64 {
        self.script.turns.iter().map(|turn| turn.steps.len() as u64).sum()
    }
}

/// A delta a character, reasoning first.
fn reply(section: &mut Section<'_>, size: Size, faults: &mut Faults) -> Option<Streamed> {
    let reasoning = section.words("reasoning", faults).map(Spanned::into_inner).unwrap_or_default();
    let text = section.words("reply", faults)?;
    let written = text.get_ref().chars().count() + reasoning.chars().count() + 1;
    if size.refuses(written as u64, "reply", text.span(), faults) {
        return None;
    }
    let each = |kind: BlockKind, text: &str| text.chars().map(|c| (kind, c.to_string())).collect::<Vec<_>>();
    let mut deltas = each(BlockKind::Reasoning, &reasoning);
    deltas.extend(each(BlockKind::Text, text.get_ref()));
    Some(Streamed { deltas, tool: None })
}

/// Written out, step by step.
fn tokens(section: &mut Section<'_>, size: Size, faults: &mut Faults) -> Option<Vec<Streamed>> {
    let value = section.value("tokens")?;
    if value.get_ref().as_array().is_some_and(|items| items.is_empty()) {
        faults.add(value.span(), Problem::Empty { key: "tokens".to_owned() });
        return None;
    }
    let mut steps = vec![Streamed::default()];
    let (mut written, mut refused) = (1_u64, false);
    for mut item in section.tables("tokens", faults) {
        "a token".clone_into(&mut item.name);
        let text = item.text("text", faults).map(Spanned::into_inner);
        let reasoning = item.text("reasoning", faults).map(Spanned::into_inner);
        let arguments = item.text("arguments", faults);
        let tool = item.words("tool", faults).map(Spanned::into_inner);
        let repeat = item.count("repeat", 1, MAX_EVENTS, faults).unwrap_or(1);
        let Some(step) = steps.last_mut() else { continue };
        let each = u64::from(text.is_some()) + u64::from(reasoning.is_some());
        written =
            written.saturating_add(repeat.saturating_mul(each)).saturating_add(u64::from(tool.is_some()));
        refused = refused || size.refuses(written, "tokens", item.span.clone(), faults);
        if !refused {
            let reasoning = reasoning.map(|text| (BlockKind::Reasoning, text));
            let deltas: Vec<_> =
                reasoning.into_iter().chain(text.map(|text| (BlockKind::Text, text))).collect();
            if deltas.is_empty() && tool.is_none() {
                faults.add(item.span.clone(), Problem::BareToken);
            }
            step.deltas.extend((0..repeat).flat_map(|_| deltas.clone()));
        }
        if let Some(tool) = tool {
            step.tool = Some((tool, arguments.map_or_else(|| "{}".to_owned(), |text| object(text, faults))));
            steps.push(Streamed::default());
        } else if let Some(text) = arguments {
            let message = "arguments without a `tool`".to_owned();
            faults.add(text.span(), Problem::NoSession { message });
        }
        item.finish(faults);
    }
    if refused {
        return None;
    }
    // What follows the last tool is a step only if something was said.
    if steps.len() > 1 && steps.last().is_some_and(|step| step.deltas.is_empty()) {
        steps.pop();
    }
    Some(steps)
}

fn object(text: Spanned<String>, faults: &mut Faults) -> String {
    if !matches!(serde_json::from_str(text.get_ref()), Ok(Value::Object(_))) {
        faults.add(text.span(), Problem::NoArguments);
    }
    text.into_inner()
}

/// The steps of a turn: as written, or the same one `steps` times, with a call of a tool between two of them.
fn whole(
    section: &Section<'_>,
    written: Vec<Streamed>,
    steps: Option<u64>,
    faults: &mut Faults,
) -> Option<Vec<Streamed>> {
    let Some(steps) = steps else { return Some(written) };
    let [one] = &written[..] else {
        let message = "its tools say already where its steps end: leave `steps` away".to_owned();
        faults.add(section.span.clone(), Problem::NoSession { message });
        return None;
    };
    let between = Some(("look".to_owned(), "{}".to_owned()));
    let mut all: Vec<Streamed> =
        (1..steps).map(|_| Streamed { tool: between.clone(), ..one.clone() }).collect();
    all.push(one.clone());
    Some(all)
}

fn scripts(steps: &[Streamed], turn: u64) -> Vec<StepScript> {
    let scripts = steps.iter().enumerate().map(|(at, step)| {
        let call = step.tool.as_ref().map(|(name, arguments)| Called {
            id: format!("call-{}-{}", turn + 1, at + 1),
            name: name.clone(),
            arguments: arguments.clone(),
        });
        let said = step.deltas.iter().map(|(kind, text)| (*kind, text.as_str()));
        let call_text = call.as_ref().map(|call| (BlockKind::ToolCall, call.arguments.as_str()));
        let pieces: Vec<(BlockKind, &str)> = said.chain(call_text).collect();
        StepScript { chunks: chunks(&pieces), tool: call.clone(), others: Vec::new() }
    });
    scripts.collect()
}

/// A log by its size.
fn shape(
    section: &mut Section<'_>,
    user: &str,
    rate: f64,
    sessions: u32,
    faults: &mut Faults,
) -> Option<Script> {
    let value = section.value("shape")?;
    let span: Range<usize> = value.span();
    let mut table = section.one("shape", faults)?;
    "`shape`".clone_into(&mut table.name);
    table.span = span.clone();
    let mut count = |key: &'static str, least: u64, needed: bool, faults: &mut Faults| {
        let there = !needed || table.require(key, faults);
        there
            .then(|| table.count(key, least, MAX_EVENTS, faults))
            .flatten()
            .and_then(|n| u32::try_from(n).ok())
    };
    let events = count("events", 1, true, faults);
    let chunks = count("chunks", 1, true, faults);
    let steps = count("steps", 1, true, faults);
    let texts = count("texts", 0, false, faults);
    table.finish(faults);
    let (events, chunks, steps) = (events?, chunks?, steps?);
    let size = Size { times: sessions.into() };
    if size.refuses(u64::from(events.max(chunks)), "shape", span.clone(), faults) {
        return None;
    }
    let shape = Shape { events, chunks, steps, texts: texts.unwrap_or(steps) };
    let script = Script::shaped(user, shape, rate);
    script.map_err(|error| faults.add(span, Problem::NoSession { message: error.to_string() })).ok()
}

/// A shape has its own turns and steps.
fn refuse_with_shape(section: &mut Section<'_>, faults: &mut Faults) {
    for key in ["turns", "steps"] {
        if let Some(value) = section.value(key) {
            let message = format!("`{key}` says what `shape` says already");
            faults.add(value.span(), Problem::NoSession { message });
        }
    }
}
