//! A front end: each frame goes to a real page, and what its replies show afterwards is held against the emulation's view
//! of the very frames that the page got.
//!
//! Frames of the corpus share one id, and a store may drop the second of an id. So each gets an id of its own, and a page
//! serves until a frame has changed for good what it can show: an error page, an error banner, or a difference.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::answer::Difference;
use super::cases::Case;
use super::error::CalibrateError;
use super::socket::{Stand, fence, stand, unasked};
use crate::agent_server::client::{Client, Incoming};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::live::browser::{BrowserError, Chromium, Frame, Page, Site, Way, prepare};
use crate::probe::ClientTrace;
use crate::probe::ledger::Endpoint;
use crate::record::Signal;
use crate::run::live::ClientPackage;
use crate::run::live::rig::{MODEL, Rig};

/// How long a page may take to open its input.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// How long a frame may take from the server into the page.
const FRAME_WITHIN: Duration = Duration::from_secs(10);

/// How long after its fence a frame may still change what is seen: some animation frames. Less cannot be called nothing.
const SETTLE: Duration = Duration::from_millis(150);

/// How long a page may take to show what it is said to show.
const SHOW_WITHIN: Duration = Duration::from_secs(3);

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(30);

/// The ids that the frames have before they get one of their own.
const SHARED_IDS: [&str; 3] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
    "00000000-0000-4000-8000-000000000020",
];

/// The person's message that opens the turn.
const QUESTION: &str = r#"{"id":"00000000-0000-4000-8000-0000000000ff","timestamp":"2026-11-30T07:44:00.000000","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"a question"}],"thinking_blocks":[]},"activated_skills":[],"extended_content":[],"kind":"MessageEvent"}"#;

/// What one side shows after a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// The agent's text of this turn, without the white space that Markdown may drop.
    pub(super) text: String,
    /// Whether an error is put before the person.
    pub(super) surfaced: bool,
}

/// Where the two differ after one frame.
pub(super) fn difference(emulated: &Shown, real: &Shown) -> Vec<Difference> {
    let mut found = Vec::new();
    if emulated.text != real.text {
        found.push(("shown", format!("{:?}", emulated.text), format!("{:?}", real.text)));
    }
    if emulated.surfaced != real.surfaced {
        let word =
            |shown: &Shown| if shown.surfaced { Signal::Surfaced } else { Signal::None }.as_str().to_owned();
        found.push(("signal", word(emulated), word(real)));
    }
    found
}

/// A page on a conversation of its own, and the emulation that gets the same frames.
struct Bench {
    page: Page,
    conversation: String,
    client: Client,
    trace: ClientTrace,
    /// Frames of the page that the emulation has.
    given: usize,
    /// Errors that the page showed before the frame at hand.
    alerts: usize,
    /// The agent's text before the person's last message: no part of this turn.
    earlier: String,
}

/// Puts every case to both; what each shows after it, the emulation first.
pub(super) async fn show(
    rig: &Rig,
    package: &ClientPackage,
    choice: &ClientChoice,
    server: &Profile<ServerTraits>,
    cases: &[Case],
) -> Result<Vec<(Shown, Shown)>, CalibrateError> {
    let profile = choice.profile.release_name.as_str();
    let (ClientPackage::Canvas { build, .. }, Some(program)) = (package, &rig.chromium) else {
        return Err(unasked(profile, &"it needs a front end and a Chromium"));
    };
    let failed = |error: BrowserError| unasked(profile, &error);
    let stand = stand(rig, server, profile).await?;
    prepare(stand.addr, &rig.key, &rig.model.base_url(), MODEL).await.map_err(failed)?;
    let site = Site::start(build.clone(), stand.addr, &rig.key).await.map_err(|e| unasked(profile, &e))?;
    let folder = rig.folder.join("chromium");
    let log = rig.folder.join("chromium.log");
    let chromium = Chromium::launch(program, &rig.warden, folder, log).await.map_err(failed)?;
    let shown = each(&chromium, &site, &stand, choice, cases).await;
    chromium.stop().await;
    shown
}

async fn each(
    chromium: &Chromium,
    site: &Site,
    stand: &Stand,
    choice: &ClientChoice,
    cases: &[Case],
) -> Result<Vec<(Shown, Shown)>, CalibrateError> {
    let profile = choice.profile.release_name.as_str();
    let mut bench: Option<Bench> = None;
    let mut shown = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let mut open = match bench.take() {
            Some(open) => open,
            None => open_page(chromium, site, stand, choice).await?,
        };
        let raw = with_own_id(&case.raw, at);
        if is_question(&raw) {
            open.earlier = bare(&bubbles(&open.page).await.map_err(|e| unasked(profile, &e))?);
        }
        let before = open.trace.surfaced.len();
        put(stand, &mut open, &raw, &format!("fence-{at}"), profile).await?;
        let emulated = Shown {
            text: bare(open.trace.view.as_deref().unwrap_or_default()),
            surfaced: open.trace.surfaced.len() > before,
        };
        let real = settled(&mut open, &emulated).await.map_err(|e| unasked(profile, &e))?;
        let spent = emulated != real || emulated.surfaced;
        shown.push((emulated, real));
        if spent {
            // A page that hangs is given up by its browser anyway.
            let _ = open.page.close().await;
        } else {
            bench = Some(open);
        }
    }
    Ok(shown)
}

async fn open_page(
    chromium: &Chromium,
    site: &Site,
    stand: &Stand,
    choice: &ClientChoice,
) -> Result<Bench, CalibrateError> {
    let profile = choice.profile.release_name.as_str();
    let failed = |error: BrowserError| unasked(profile, &error);
    let conversation = stand.server.create_conversation().await;
    let page = chromium.open(&site.conversation(&conversation)).await.map_err(failed)?;
    page.ready(READY_WITHIN).await.map_err(failed)?;
    let client = Client::new(&choice.profile, choice.list.as_deref())?;
    let mut bench = Bench {
        page,
        conversation,
        client,
        trace: ClientTrace::default(),
        given: 0,
        alerts: 0,
        earlier: String::new(),
    };
    put(stand, &mut bench, QUESTION, "fence-question", profile).await?;
    let none = Shown { text: String::new(), surfaced: false };
    let shown = settled(&mut bench, &none).await.map_err(failed)?;
    if !shown.text.is_empty() {
        return Err(unasked(profile, &format!("a fresh page shows {:?} already", shown.text)));
    }
    Ok(bench)
}

/// Writes a frame and a fence, and gives the emulation what the page has got by then.
async fn put(
    stand: &Stand,
    bench: &mut Bench,
    raw: &str,
    id: &str,
    profile: &str,
) -> Result<(), CalibrateError> {
    for frame in [raw, &fence(id)] {
        let taken = stand.server.inject(&bench.conversation, Endpoint::Events, frame).await;
        if taken.is_none_or(|sockets| sockets == 0) {
            return Err(unasked(profile, &format!("its page left the conversation before `{id}`")));
        }
    }
    let mine = format!("{id:?}");
    let is_fence = |frame: &Frame| frame.way == Way::Received && frame.text.contains(&mine);
    let failed = |error: BrowserError| unasked(profile, &error);
    bench.page.frame("fence", FRAME_WITHIN, is_fence).await.map_err(failed)?;
    let frames = bench.page.frames().map_err(failed)?;
    for frame in frames.iter().skip(bench.given) {
        let ours = frame.socket.contains(&bench.conversation) && frame.socket.contains("/sockets/events/");
        if ours && frame.way == Way::Received {
            bench.client.receive(Incoming::Text(&frame.text), &mut bench.trace);
        }
    }
    bench.given = frames.len();
    bench.client.finish(&mut bench.trace);
    Ok(())
}

/// What the page shows once nothing is due any more.
async fn settled(bench: &mut Bench, emulated: &Shown) -> Result<Shown, BrowserError> {
    sleep(SETTLE).await;
    let until = Instant::now() + SHOW_WITHIN;
    loop {
        let all = bare(&bubbles(&bench.page).await?);
        let text = all.strip_prefix(&bench.earlier).unwrap_or(&all).to_owned();
        let alerts = bench.page.alerts().await?.iter().filter(|alert| alert.error).count();
        let surfaced = alerts > bench.alerts || is_replaced(&bench.page).await?;
        let shown = Shown { text, surfaced };
        if shown == *emulated || Instant::now() >= until {
            bench.alerts = alerts;
            return Ok(shown);
        }
        sleep(LOOK_EVERY).await;
    }
}

/// What all of the agent's bubbles show.
async fn bubbles(page: &Page) -> Result<String, BrowserError> {
    Ok(page.history().await?.last().map(|seen| seen.bubbles.concat()).unwrap_or_default())
}

/// Whether an error page stands where the chat was: there is no input any more.
async fn is_replaced(page: &Page) -> Result<bool, BrowserError> {
    match page.ready(Duration::ZERO).await {
        Ok(()) => Ok(false),
        Err(BrowserError::NotReady { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a frame is a message of the person, which begins another turn.
fn is_question(raw: &str) -> bool {
    let frame: Value = serde_json::from_str(raw).unwrap_or_default();
    frame["kind"] == "MessageEvent" && frame["source"] == "user"
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn with_own_id(raw: &str, at: usize) -> String {
    let own = format!("00000000-0000-4000-9000-{at:012}");
    SHARED_IDS.iter().fold(raw.to_owned(), |raw, id| raw.replace(id, &own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gets_an_id_of_its_own_and_stays_what_it_is() {
        let raw = r#"{"id":"00000000-0000-4000-8000-000000000001","content":"a"}"#;
        assert_eq!(with_own_id(raw, 7), r#"{"id":"00000000-0000-4000-9000-000000000007","content":"a"}"#);
        assert_eq!(with_own_id("not json{", 7), "not json{");
    }

    #[test]
    fn text_and_errors_are_compared_and_white_space_is_not() {
        let shown = |text: &str, surfaced| Shown { text: bare(text), surfaced };
        assert!(difference(&shown("a b\n", false), &shown("ab", false)).is_empty());
        let found = difference(&shown("a", false), &shown("", true));
        assert_eq!(found.iter().map(|(what, ..)| *what).collect::<Vec<_>>(), ["shown", "signal"]);
    }
}
