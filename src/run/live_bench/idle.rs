//! A long stream on released servers, looked at from outside: what `/server_info` and `updated_at` say meanwhile.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use tokio::time::{Instant, sleep, sleep_until};

use super::stage::{Stage, Up};
use super::{LiveBenchError, Subject, runtime};

/// The tag of the one turn.
const TAG: &str = "idle";

/// How often it is looked whether the stream has begun.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What to stream, and on which servers.
#[derive(Debug, Clone)]
pub struct IdleWatch {
    /// The servers; all stream at once, for clocks do not mind.
    pub subjects: Vec<Subject>,
    /// Tokens a second.
    pub rate: f64,
    /// Tokens in all.
    pub tokens: u32,
    /// Time between two looks.
    pub poll: Duration,
    /// Where the servers write; the caller's to remove.
    pub folder: PathBuf,
}

/// What was seen of one server while text streamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenIdle {
    /// Looks.
    pub polls: u32,
    /// The largest `idle_time`, whole seconds as the server says it.
    pub peak_idle_s: u64,
    /// Different values of `updated_at`.
    pub distinct_updated_at: u32,
    /// The longest time between two looks.
    pub longest_gap: Duration,
}

/// Streams once on every server and looks on; one answer each, in order.
pub fn watch(watch: &IdleWatch) -> Result<Vec<SeenIdle>, LiveBenchError> {
    runtime()?.block_on(async {
        let stage = Stage::open(&watch.folder).await?;
        let mut up = Vec::new();
        for subject in &watch.subjects {
            up.push(stage.start(subject).await?);
        }
        let seen = futures_util::future::join_all(
            up.iter().enumerate().map(|(n, up)| one(&stage, up, format!("{TAG}-{n}"), watch)),
        );
        let seen = seen.await;
        for up in up {
            up.server.stop().await;
        }
        seen.into_iter().collect()
    })
}

async fn one(stage: &Stage, up: &Up, tag: String, watch: &IdleWatch) -> Result<SeenIdle, LiveBenchError> {
    let conversation = stage.conversation(up).await?;
    stage.rehearse(&tag, 0, watch.tokens, watch.rate)?;
    stage.say(up, &conversation, &tag).await?;
    let streamed = || stage.model.streamed(&tag).unwrap_or_default();
    // A stream that never begins ends in the error of one that never ends.
    let begun = async {
        while streamed().parts.is_empty() {
            sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        biased;
        () = begun => {}
        ended = stage.said(up, &tag, watch.tokens, watch.rate) => ended?,
    }
    let (mut seen, mut values, mut last) = (SeenIdle::default(), BTreeSet::new(), Instant::now());
    let mut due = Instant::now();
    while streamed().finished == 0 {
        let rest = &up.server.rest;
        let info = rest.call(Method::GET, "/server_info", None).await.map_err(|e| up.failed(e))?;
        let now = rest.conversation(&conversation).await.map_err(|e| up.failed(e))?;
        // A look that ended after the stream did saw what the reply wrote.
        if streamed().finished > 0 {
            break;
        }
        seen.polls += 1;
        seen.longest_gap = seen.longest_gap.max(last.elapsed());
        last = Instant::now();
        let idle = info["idle_time"].as_f64().ok_or_else(|| up.lacks("/server_info", "idle_time", &info))?;
        seen.peak_idle_s = seen.peak_idle_s.max(whole(idle));
        let updated = now["updated_at"].as_str();
        let updated = updated.ok_or_else(|| up.lacks("the conversation", "updated_at", &now))?;
        values.insert(updated.to_owned());
        due += watch.poll;
        sleep_until(due).await;
    }
    stage.said(up, &tag, watch.tokens, watch.rate).await?;
    seen.distinct_updated_at = u32::try_from(values.len()).unwrap_or(u32::MAX);
    Ok(seen)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is never negative"
)]
fn whole(seconds: f64) -> u64 {
    seconds as u64
}
