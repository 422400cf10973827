//! What goes wrong in a cell, from `[[fault.NAME]]`.

use std::sync::Arc;
use std::time::Duration;

use toml::Spanned;

use super::axis;
use super::names::Names;
use super::problem::Problem;
use super::section::{Faults, Section, hint};
use super::words::{self, HOP};
use crate::agent_server::fault::{Fault, Hold, Kind, Lane, Mark, Moment, duration};

/// A name of the `faults` axis, and everything that goes wrong under it.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultSet {
    /// `none`, or the NAME of `[[fault.NAME]]`.
    pub name: String,
    /// The faults; several are at work together.
    pub faults: Arc<Vec<Fault>>,
}

impl FaultSet {
    /// The name of the set without a fault.
    pub const NONE: &str = "none";

    /// Nothing goes wrong.
    pub fn none() -> FaultSet {
        FaultSet { name: FaultSet::NONE.to_owned(), faults: Arc::default() }
    }
}

/// Bytes a second of the slowest reader: less could not be told from pongs.
pub(super) const LEAST_RATE: u64 = 10;
pub(super) const MAX_FAULT_TIMES: u64 = 1_000;
pub(super) const MAX_FAULT_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of a close frame's reason (RFC 6455: a control frame holds 125, two of which are the code).
const MOST_REASON: usize = 123;

/// WebSocket close codes that an endpoint may send.
pub(super) const CLOSE_CODES: (u64, u64) = (1000, 4999);

/// The sets that the `faults` key lists, in its order; only `none` without one.
pub(super) fn read<N: Names>(
    file: &mut Section<'_>,
    subscribers: u32,
    names: &N,
    faults: &mut Faults,
) -> Vec<FaultSet> {
    let mut defined: Vec<FaultSet> = vec![FaultSet::none()];
    let mut places = Vec::new();
    for (name, sections) in file.named_lists("fault", faults) {
        let word = name.get_ref().clone();
        places.push((word.clone(), name.span()));
        if word == FaultSet::NONE || word.contains(['/', ',', ' ', '*', '+']) {
            let allowed = "a word without blanks, `/`, `,`, `*` and `+`, and not `none`".to_owned();
            faults.add(name.span(), Problem::OutOfRange { key: "fault".to_owned(), allowed });
            continue;
        }
        let mut read: Vec<Option<Fault>> = Vec::new();
        for section in sections {
            let place = section.span.clone();
            let one = fault(&word, section, subscribers, names, faults);
            if let Some(new) = &one
                && read.iter().flatten().any(|earlier| new.swallows(earlier, subscribers))
            {
                let why = format!(
                    "stands twice at {}, and nothing would be left of the first: give them two moments or two subscribers",
                    new.moment
                );
                faults.add(place, misplaced(&new.kind, &why));
            }
            read.push(one);
        }
        if let Some(all) = read.into_iter().collect::<Option<Vec<Fault>>>() {
            defined.push(FaultSet { name: word, faults: Arc::new(all) });
        } else {
            // It was reported where it stands, and is defined all the same.
            defined.push(FaultSet { name: word, faults: Arc::default() });
        }
    }
    let is_sound = faults.is_empty();
    let listed = if file.value("faults").is_none() {
        vec![Spanned::new(0..0, FaultSet::NONE.to_owned())]
    } else {
        let Some(listed) = file.list("faults", faults) else { return vec![FaultSet::none()] };
        listed
    };
    let mut used: Vec<FaultSet> = Vec::new();
    for name in listed {
        let known: Vec<String> = defined.iter().map(|set| set.name.clone()).collect();
        super::parse::listed(&name, "fault of this file", &known, faults);
        if used.iter().any(|set| set.name == *name.get_ref()) {
            faults.add(name.span(), Problem::Repeated { what: "fault", name: name.get_ref().clone() });
        }
        used.extend(defined.iter().find(|set| set.name == *name.get_ref()).cloned());
    }
    if is_sound && faults.is_empty() {
        let idle = places.iter().filter(|(name, _)| used.iter().all(|set| set.name != *name));
        super::parse::unused("fault", idle.map(|(name, span)| (name, span.clone())), faults);
    }
    used
}

/// One `[[fault.NAME]]`.
fn fault<N: Names>(
    name: &str,
    mut section: Section<'_>,
    subscribers: u32,
    names: &N,
    faults: &mut Faults,
) -> Option<Fault> {
    let before = faults.count();
    let kind = kind(&mut section, names, faults);
    let moment = moment(&mut section, faults);
    let hop = section.text("hop", faults);
    let subscriber = section.count("subscriber", 1, u64::from(subscribers), faults);
    let place = section.span.clone();
    section.finish(faults);
    let (kind, moment) = (kind?, moment?);
    let hop = match hop {
        None => kind.hops()[0],
        Some(text) => hop_of(&text, &kind, faults)?,
    };
    if subscriber.is_some() && !kind.per_subscriber() {
        faults.add(
            place.clone(),
            misplaced(&kind, "concerns all subscribers at once, so it takes no `subscriber`"),
        );
    }
    if let Some(why) = unfit(&kind, moment) {
        faults.add(place, misplaced(&kind, why));
    }
    let subscriber = subscriber.and_then(|n| u32::try_from(n).ok());
    (faults.count() == before).then(|| Fault { name: name.to_owned(), kind, moment, hop, subscriber })
}

fn misplaced(kind: &Kind, why: &str) -> Problem {
    Problem::Misplaced { what: kind.as_str(), why: why.to_owned() }
}

/// Why a kind cannot set in at that moment, if it cannot.
fn unfit(kind: &Kind, moment: Moment) -> Option<&'static str> {
    match (kind, moment) {
        (Kind::Lossy { .. } | Kind::ReplayDeltas { .. } | Kind::Final { .. }, Moment::Start) => None,
        (Kind::Lossy { .. } | Kind::ReplayDeltas { .. } | Kind::Final { .. }, _) => {
            Some("is so from the beginning, and takes neither `at` nor `after`")
        }
        (Kind::Abort, Moment::Start) => {
            Some("needs a moment, such as `at = \"token 3\"`: nobody is connected at the start")
        }
        (Kind::Join, Moment::Start) => Some("needs a moment: a subscriber that comes at once is no fault"),
        (
            Kind::Close { .. }
            | Kind::Say { .. }
            | Kind::Inject { .. }
            | Kind::Restart { .. }
            | Kind::Swap { .. }
            | Kind::Block { .. },
            Moment::Start,
        ) => Some("needs a moment, such as `at = \"token 3\"`: nobody is connected at the start"),
        (kind, Moment::After(..)) if kind.in_turn() => {
            Some("happens in the model's stream: it takes `at`, and no `after`")
        }
        _ => None,
    }
}

fn hop_of(text: &Spanned<String>, kind: &Kind, faults: &mut Faults) -> Option<crate::record::Hop> {
    let hop = words::find(text, HOP, faults)?;
    if kind.hops().contains(&hop) {
        return Some(hop);
    }
    let allowed: Vec<String> = kind.hops().iter().map(|hop| format!("`{}`", hop.as_str())).collect();
    let why = format!("cannot be at hop `{}`; it sits at {}", hop.as_str(), allowed.join(" or "));
    faults.add(text.span(), Problem::Misplaced { what: kind.as_str(), why });
    None
}

/// `at`, or `after` with `by`.
fn moment(section: &mut Section<'_>, faults: &mut Faults) -> Option<Moment> {
    let (at, after) = (section.text("at", faults), section.text("after", faults));
    let by_at = section.value("by").map(Spanned::span);
    let by = time(section, "by", faults);
    if let (Some(span), None) = (by_at, &after) {
        let why = "takes `by` beside `after` only".to_owned();
        faults.add(span, Problem::Misplaced { what: "any kind", why });
    }
    match (at, after) {
        (None, None) => Some(Moment::Start),
        (Some(at), None) => match at.get_ref().parse() {
            Ok(moment) => Some(moment),
            Err(error) => {
                faults.add(
                    at.span(),
                    Problem::BadMoment { word: at.get_ref().clone(), expected: error.to_string() },
                );
                None
            }
        },
        (None, Some(after)) => {
            let mark = Mark::ALL.into_iter().find(|mark| mark.as_str() == after.get_ref());
            if mark.is_none() {
                let (word, all) = (after.get_ref().clone(), Mark::ALL.map(Mark::as_str));
                let what = "thing that a fault can come after";
                faults.add(after.span(), Problem::UnknownWord { what, hint: hint(&word, &all), word });
            }
            Some(Moment::After(mark?, by.unwrap_or_default()))
        }
        (Some(_), Some(after)) => {
            let expected = "a fault has one moment: `at` or `after`".to_owned();
            faults.add(after.span(), Problem::BadMoment { word: after.get_ref().clone(), expected });
            None
        }
    }
}

/// A time as people write it.
fn time(section: &mut Section<'_>, key: &'static str, faults: &mut Faults) -> Option<Duration> {
    let text = section.text(key, faults)?;
    let time = duration(text.get_ref());
    if time.is_some_and(|time| time.is_zero()) && key != "down" && key != "by" {
        faults.add(
            text.span(),
            Problem::OutOfRange { key: key.to_owned(), allowed: "a time above 0".to_owned() },
        );
    }
    if time.is_none() {
        let expected = "a time is written like `12s`, `1.4s`, `250ms` or `2m`".to_owned();
        faults.add(text.span(), Problem::BadMoment { word: text.get_ref().clone(), expected });
    }
    time
}

/// A time that has to be there.
fn needed(section: &mut Section<'_>, key: &'static str, faults: &mut Faults) -> Option<Duration> {
    section.require(key, faults).then(|| time(section, key, faults)).flatten()
}

fn number(
    section: &mut Section<'_>,
    key: &'static str,
    range: (u64, u64),
    faults: &mut Faults,
) -> Option<u64> {
    section.require(key, faults).then(|| section.count(key, range.0, range.1, faults)).flatten()
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn kind<N: Names>(section: &mut Section<'_>, names: &N, faults: &mut Faults) -> Option<Kind> {
    let word = section.required("kind", faults)?;
    let times = |section: &mut Section<'_>, faults: &mut Faults| {
        section.count("times", 1, MAX_FAULT_TIMES, faults).map_or(1, small)
    };
    Some(match word.get_ref().as_str() {
        "close" => {
            let code = number(section, "code", CLOSE_CODES, faults);
            let reason = section.text("reason", faults).map(Spanned::into_inner).unwrap_or_default();
            let sendable = |code: u64| matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
            if code.is_some_and(|code| !sendable(code)) {
                let allowed =
                    "a code that an endpoint may send: 1000 to 1003, 1007 to 1014, 3000 to 4999".to_owned();
                faults.add(section.span.clone(), Problem::OutOfRange { key: "code".to_owned(), allowed });
            }
            if reason.len() > MOST_REASON {
                let allowed = format!("at most {MOST_REASON} bytes");
                faults.add(section.span.clone(), Problem::OutOfRange { key: "reason".to_owned(), allowed });
            }
            Kind::Close { code: code.and_then(|code| u16::try_from(code).ok())?, reason }
        }
        "abort" => Kind::Abort,
        "silence" => Kind::Silence { lasts: time(section, "for", faults) },
        "stall" => Kind::Stall { lasts: time(section, "for", faults) },
        "slow" => {
            Kind::Slow { bytes_per_s: number(section, "bytes_per_s", (LEAST_RATE, MAX_FAULT_BYTES), faults)? }
        }
        "buffer" => Kind::Buffer { hold: hold(section, faults)? },
        "lifetime" => Kind::Lifetime { every: needed(section, "every", faults)? },
        "handshake" => {
            Kind::Handshake { lasts: needed(section, "for", faults)?, times: times(section, faults) }
        }
        "refuse" => {
            let status =
                number(section, "status", (400, 599), faults).and_then(|status| u16::try_from(status).ok());
            Kind::Refuse { times: times(section, faults), status: status? }
        }
        "fragment" => Kind::Fragment { bytes: size(number(section, "bytes", (1, MAX_FAULT_BYTES), faults)?) },
        "no_pong" => Kind::NoPong,
        "join" => Kind::Join,
        "inject" => Kind::Inject { frame: frame(section, faults)? },
        "duplicate" => {
            let every = section.count("every", 1, MAX_FAULT_TIMES, faults).unwrap_or(0);
            Kind::Duplicate { times: times(section, faults), every }
        }
        "reorder" => Kind::Reorder { every: section.count("every", 2, MAX_FAULT_TIMES, faults).unwrap_or(0) },
        "late" => Kind::Late,
        "delay" => {
            let lane = section.required("lane", faults);
            let by = needed(section, "for", faults);
            let times = section.count("times", 1, MAX_FAULT_TIMES, faults).map_or(0, small);
            Kind::Delay { lane: lane_of(&lane?, faults)?, by: by?, times }
        }
        "lossy" => Kind::Lossy { bytes: size(number(section, "bytes", (1, MAX_FAULT_BYTES), faults)?) },
        "final" => {
            let append = section.require("append", faults).then(|| section.text("append", faults)).flatten();
            Kind::Final { append: append?.into_inner() }
        }
        "replay_deltas" => {
            Kind::ReplayDeltas { count: small(number(section, "count", (1, MAX_FAULT_BYTES), faults)?) }
        }
        "say" => say(section, faults)?,
        "tool" => Kind::Tool { name: section.required("name", faults)?.into_inner() },
        "provider_error" => {
            let message =
                section.words("message", faults).map_or_else(|| "overloaded".to_owned(), Spanned::into_inner);
            Kind::ProviderError { message }
        }
        "cancel" => Kind::Cancel,
        "retry" => Kind::Retry,
        "block" => Kind::Block { lasts: needed(section, "for", faults)? },
        "fail_append" => Kind::FailAppend { times: times(section, faults) },
        "restart" => Kind::Restart { down: time(section, "down", faults).unwrap_or_default() },
        "swap" => {
            let server = section.required("server", faults);
            let down = time(section, "down", faults).unwrap_or_default();
            let server = server?;
            axis::check_server(&server, names, faults);
            Kind::Swap { server: server.into_inner(), down }
        }
        "slow_sink" => {
            let lasts = time(section, "for", faults);
            Kind::SlowSink { latency: needed(section, "latency", faults)?, lasts }
        }
        other => {
            let problem = Problem::UnknownWord {
                what: "kind of fault",
                hint: hint(other, &Kind::WORDS),
                word: other.to_owned(),
            };
            faults.add(word.span(), problem);
            section.forgive();
            return None;
        }
    })
}

fn lane_of(text: &Spanned<String>, faults: &mut Faults) -> Option<Lane> {
    let lane = Lane::ALL.into_iter().find(|lane| lane.as_str() == text.get_ref());
    if lane.is_none() {
        let (word, all) = (text.get_ref().clone(), Lane::ALL.map(Lane::as_str));
        faults.add(text.span(), Problem::UnknownWord { what: "lane", hint: hint(&word, &all), word });
    }
    lane
}

/// One of `bytes`, `for` and `until = "turn"`.
fn hold(section: &mut Section<'_>, faults: &mut Faults) -> Option<Hold> {
    let bytes = section.count("bytes", 1, MAX_FAULT_BYTES, faults).map(|n| Hold::Bytes(size(n)));
    let time = time(section, "for", faults).map(Hold::Time);
    let until = section.text("until", faults);
    let turn = match &until {
        Some(text) if text.get_ref() == Mark::Turn.as_str() => Some(Hold::Turn),
        Some(text) => {
            let (word, all) = (text.get_ref().clone(), [Mark::Turn.as_str()]);
            faults.add(
                text.span(),
                Problem::UnknownWord { what: "end of a buffer", hint: hint(&word, &all), word },
            );
            None
        }
        None => None,
    };
    let mut given = [bytes, time, turn].into_iter().flatten();
    let (first, second) = (given.next(), given.next());
    if first.is_none() || second.is_some() {
        let why = "takes one of `bytes`, `for` and `until = \"turn\"`".to_owned();
        faults.add(section.span.clone(), Problem::Misplaced { what: "buffer", why });
        return None;
    }
    first
}

/// `frame`, or a frame of so many `bytes`.
fn frame(section: &mut Section<'_>, faults: &mut Faults) -> Option<String> {
    let text = section.text("frame", faults).map(Spanned::into_inner);
    let bytes = section.count("bytes", 32, MAX_FAULT_BYTES, faults);
    match (text, bytes) {
        (Some(text), None) => Some(text),
        (None, Some(bytes)) => {
            let shell = r#"{"type":"filler","filler":""}"#.len();
            Some(format!(
                r#"{{"type":"filler","filler":"{}"}}"#,
                "x".repeat(size(bytes).saturating_sub(shell))
            ))
        }
        _ => {
            let why = "takes one of `frame` and `bytes`".to_owned();
            faults.add(section.span.clone(), Problem::Misplaced { what: "inject", why });
            None
        }
    }
}

/// `text`, or a text of so many `bytes`; `run` is true if it is not there.
fn say(section: &mut Section<'_>, faults: &mut Faults) -> Option<Kind> {
    let text = section.text("text", faults).map(Spanned::into_inner);
    let bytes = section.count("bytes", 1, MAX_FAULT_BYTES, faults);
    let run = section.flag("run", faults).unwrap_or(true);
    match (text, bytes) {
        (text, None) => Some(Kind::Say { text: text.unwrap_or_else(|| "and then?".to_owned()), run }),
        (None, Some(bytes)) => Some(Kind::Say { text: "x".repeat(size(bytes)), run }),
        (Some(_), Some(_)) => {
            let why = "takes one of `text` and `bytes`".to_owned();
            faults.add(section.span.clone(), Problem::Misplaced { what: "say", why });
            None
        }
    }
}
