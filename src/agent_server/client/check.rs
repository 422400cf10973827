//! What one client does with one frame: `skewlab check`.

use serde::Serialize;
use serde_json::Value;

use super::canvas::shape;
use super::{Client, Incoming, js};
use crate::agent_server::profile::client::{Application, ClientTraits, SocketSupport};
use crate::agent_server::profile::{ClientChoice, Profile, ProfileError};
use crate::probe::trace::class_of;
use crate::probe::{ClientTrace, Fate};
use crate::record::observation::Piece;
use crate::record::{Class, Hop, Reason, Signal};
use crate::wire::DELTA_KIND;
use crate::wire::json;

/// The detail of a delta that was taken as one and holds nothing to show.
pub const NO_TEXT: &str = "carries no text";

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It did what it is for.
    Delivered,
    /// The library refused it.
    Rejected,
    /// It vanished.
    Dropped,
    /// It was handed on or stored, and nobody makes anything of it.
    PassedThrough,
    /// Something other than its text was shown.
    Corrupted,
}

impl CheckOutcome {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::Delivered => "delivered",
            CheckOutcome::Rejected => "rejected",
            CheckOutcome::Dropped => "dropped",
            CheckOutcome::PassedThrough => "passed_through",
            CheckOutcome::Corrupted => "corrupted",
        }
    }
}

/// What a client does with a frame, and who gets to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// What became of it.
    pub outcome: CheckOutcome,
    /// The loudest thing that the application could notice.
    pub signal: Signal,
    /// Why it stopped, if it did.
    pub reason: Option<String>,
    /// What the client took it for: a class, a kind or a type.
    #[serde(rename = "as")]
    pub as_: Option<String>,
    /// The exception's words, or what was shown instead.
    pub detail: String,
}

/// Gives `raw` to a fresh client of that choice.
pub fn check(choice: &ClientChoice, raw: &str) -> Result<Checked, ProfileError> {
    let mut client = Client::new(&choice.profile, choice.list.as_deref())?;
    let mut trace = ClientTrace::default();
    if choice.profile.traits.connect.socket == SocketSupport::Unavailable {
        client.without_socket(&mut trace);
        return Ok(Checked {
            outcome: CheckOutcome::Dropped,
            signal: trace.loudest(),
            reason: Some("no_websocket".into()),
            as_: None,
            detail: trace.surfaced.join("; "),
        });
    }
    let limit = choice.profile.traits.connect.max_frame_bytes;
    if limit > 0 && raw.len() > limit {
        return Ok(oversized(&mut client, limit, raw.len()));
    }
    client.receive(Incoming::Text(raw), &mut trace);
    client.finish(&mut trace);
    let frame = json::parse(raw, choice.profile.traits.json.reader).unwrap_or_default();
    let signal = trace.loudest();
    let fate = trace.receipts.pop().map(|r| r.fate);
    let surfaced = trace.surfaced.join("; ");
    let detail = client.fault.take().unwrap_or(surfaced);
    let found = match fate {
        Some(Fate::Reached { pieces, missing }) => reached(&choice.profile, &frame, &pieces, &missing),
        Some(Fate::Stopped { hop, reason }) => stopped(&choice.profile, hop, &reason),
        None => Found { outcome: CheckOutcome::Dropped, reason: None, shown: None },
    };
    let as_ = match found.outcome {
        CheckOutcome::Rejected | CheckOutcome::Dropped => None,
        _ => name(&choice.profile, &frame),
    };
    let detail = found.shown.unwrap_or(detail);
    Ok(Checked { outcome: found.outcome, signal, reason: found.reason, as_, detail })
}

/// A frame beyond the client's own limit: it closes the connection with 1009 and never sees the frame.
fn oversized(client: &mut Client, limit: usize, bytes: usize) -> Checked {
    let mut trace = ClientTrace::default();
    client.closed(1009, "message too big", &mut trace);
    Checked {
        outcome: CheckOutcome::Rejected,
        signal: trace.loudest(),
        reason: Some("frame_too_large".to_owned()),
        as_: None,
        detail: format!("{bytes} bytes, and the client closes with 1009 above {limit}"),
    }
}

struct Found {
    outcome: CheckOutcome,
    reason: Option<String>,
    shown: Option<String>,
}

fn found(outcome: CheckOutcome, reason: Option<&Reason>) -> Found {
    Found { outcome, reason: reason.map(|r| r.as_str().to_owned()), shown: None }
}

fn stopped(profile: &Profile<ClientTraits>, hop: Hop, reason: &Reason) -> Found {
    let library =
        matches!(profile.traits.application.kind, Application::Callbacks | Application::LiteralKind);
    let outcome = match hop {
        _ if reason.as_str() == "render_error" => CheckOutcome::Corrupted,
        Hop::Delivered if *reason == Reason::NOT_STREAMING => CheckOutcome::PassedThrough,
        Hop::Parsed | Hop::Decoded if library => CheckOutcome::Rejected,
        _ => CheckOutcome::Dropped,
    };
    found(outcome, Some(reason))
}

fn reached(profile: &Profile<ClientTraits>, frame: &Value, pieces: &[Piece], missing: &Reason) -> Found {
    let application = profile.traits.application.kind;
    let on_session = application == Application::Slots;
    let (key, word) = if on_session { ("type", "delta") } else { ("kind", DELTA_KIND) };
    let is_delta = frame.get(key).and_then(Value::as_str) == Some(word);
    if !is_delta {
        let known = match application {
            Application::Callbacks | Application::Slots => true,
            Application::LiteralKind => false,
            Application::Canvas => shape::is_known(frame),
        };
        return found(if known { CheckOutcome::Delivered } else { CheckOutcome::PassedThrough }, None);
    }
    let own = own_text(frame, on_session);
    let shown: Vec<&Piece> = pieces.iter().filter(|p| p.class != Class::Empty).collect();
    let expected: Vec<&Piece> = own.iter().filter(|p| profile.traits.shows.contains(&p.class)).collect();
    if odd_payload(frame, &profile.traits.shows) || shown.iter().any(|p| !own.contains(p)) {
        let text: Vec<&str> = shown.iter().map(|p| p.text.as_str()).collect();
        return Found {
            shown: Some(format!("shown as {:?}", text.concat())),
            ..found(CheckOutcome::Corrupted, None)
        };
    }
    if expected.len() > shown.len() {
        return found(CheckOutcome::Dropped, Some(missing));
    }
    // A delta without any payload is taken, and whoever sees it sees nothing.
    let payload =
        ["content", "reasoning_content"].into_iter().any(|k| frame.get(k).is_some_and(Value::is_string));
    if !payload && application != Application::LiteralKind {
        let shown = Some(NO_TEXT.to_owned());
        return Found { shown, ..found(CheckOutcome::Delivered, None) };
    }
    // Nothing to show is fine for a delta without text; hidden text is something handed on and not shown.
    let hidden = expected.is_empty() && !own.is_empty();
    if hidden || (application == Application::LiteralKind && shown.is_empty()) {
        return found(CheckOutcome::PassedThrough, Some(missing));
    }
    found(CheckOutcome::Delivered, None)
}

/// The text that the frame itself carries.
fn own_text(frame: &Value, on_session: bool) -> Vec<Piece> {
    let piece = |key: &str, reasoning: bool| {
        let text = frame.get(key)?.as_str().filter(|t| !t.is_empty())?;
        Some(Piece { class: class_of(text, reasoning), text: text.to_owned() })
    };
    let reasoning = on_session && frame.get("kind").and_then(Value::as_str) == Some("reasoning");
    [piece("reasoning_content", true), piece("content", reasoning)].into_iter().flatten().collect()
}

/// Whether a payload field that is shown holds something that is no text and still gets drawn.
fn odd_payload(frame: &Value, shows: &[Class]) -> bool {
    let fields = [("content", Class::Text), ("reasoning_content", Class::Reasoning)];
    fields.into_iter().filter(|(_, c)| shows.contains(c)).filter_map(|(k, _)| frame.get(k)).any(|v| match v {
        Value::Null | Value::String(_) => false,
        other => !js::string(other).is_empty(),
    })
}

fn name(profile: &Profile<ClientTraits>, frame: &Value) -> Option<String> {
    let key = if profile.traits.application.kind == Application::Slots { "type" } else { "kind" };
    frame.get(key).and_then(Value::as_str).map(str::to_owned)
}
