//! A live cell with the released front end in a browser: somebody opens the conversation, types, and reads.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::cell::{Attended, over, settle};
use super::rig::{MODEL, Rig, length};
use super::stand::{Party, Stand};
use crate::live::browser::{BrowserError, Chromium, Page, Site, prepare};
use crate::live::capture::{ClientSide, Seen};
use crate::run::CellFault;
use crate::scenario::Cell;

/// How long a page may take until it can be typed into; 1.4 to 4.3 s were measured on a busy machine.
const READY_WITHIN: Duration = Duration::from_secs(40);

/// How much longer than its script a turn may take.
const SLACK: Duration = Duration::from_mins(1);

/// How long an old front end may take to draw the reply after it has come.
const DRAWN_WITHIN: Duration = Duration::from_secs(5);

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A browser and the place where it finds one front end.
#[derive(Debug)]
pub(super) struct Desk {
    chromium: Chromium,
    site: Site,
}

impl Desk {
    /// Starts both.
    pub(super) async fn open(
        rig: &Rig,
        client: &str,
        build: &Path,
        stand: &Stand,
    ) -> Result<Desk, CellFault> {
        let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
        let missing = || CellFault::Setup("no Chromium was named or found".to_owned());
        let program = rig.chromium.as_deref().ok_or_else(missing)?;
        let folder = rig.folder.join(format!("client-{client}"));
        std::fs::create_dir_all(&folder).map_err(|e| setup(&format!("{}: {e}", folder.display())))?;
        let log = folder.join("chromium.log");
        let chromium = Chromium::launch(program, &rig.warden, folder.join("profile"), log).await;
        let site = Site::start(build.to_owned(), stand.tap.addr(), &rig.key).await.map_err(|e| setup(&e))?;
        Ok(Desk { chromium: chromium.map_err(|e| setup(&e))?, site })
    }

    /// What the browser holds in memory.
    pub(super) fn memory(&self) -> Option<u64> {
        self.chromium.memory_bytes()
    }

    /// Closes the browser.
    pub(super) async fn close(self) {
        self.chromium.stop().await;
    }

    /// One cell in a fresh context of the browser.
    pub(super) async fn attend(
        &self,
        rig: &Rig,
        stand: &Stand,
        cell: &Cell,
        text: &str,
        ran: &str,
    ) -> Result<Attended, CellFault> {
        let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
        let model = rig.model.base_url();
        let folder = stand.workspace.display().to_string();
        if matches!(stand.party, Party::Live { .. }) {
            prepare(stand.rest.addr, &rig.key, &model, MODEL).await.map_err(|e| setup(&e))?;
        }
        let conversation = stand.rest.create(&model, MODEL, &folder).await.map_err(|e| setup(&e))?;
        self.site.point_to(stand.tap.addr());
        let page = self.chromium.open(&self.site.conversation(&conversation)).await.map_err(|e| setup(&e))?;
        let done = seen(rig, stand, cell, text, &page, &conversation).await;
        // A page that cannot be closed is the browser's trouble, and the next cell's fresh context its cure.
        let _ = page.close().await;
        let client = done?;
        let ran = format!("{ran} in {}", self.chromium.version());
        Ok(Attended { conversation, client, peers: Vec::new(), ran })
    }
}

async fn seen(
    rig: &Rig,
    stand: &Stand,
    cell: &Cell,
    text: &str,
    page: &Page,
    conversation: &str,
) -> Result<ClientSide, CellFault> {
    let failed = match page.ready(READY_WITHIN).await {
        Ok(()) => {
            page.say(text).await.map_err(|e| hung(&e))?;
            None
        }
        // The turn starts all the same: what such a page shows of it is the answer.
        Err(error @ BrowserError::NotReady { .. }) => {
            stand.rest.say(conversation, text).await.map_err(|e| CellFault::Setup(e.to_string()))?;
            Some(error.to_string())
        }
        Err(other) => return Err(hung(&other)),
    };
    over(stand, conversation, length(&cell.workload).saturating_add(SLACK), false).await?;
    settle(rig, stand, conversation).await;
    let history = drawn(page).await?;
    let seen = history.iter().map(|seen| Seen {
        at: rig.clock.of_unix(seen.at),
        bubbles: seen.bubbles.iter().map(ToString::to_string).collect(),
    });
    let console = page.console();
    let errors = console.iter().filter(|line| line.is_error()).map(|line| line.text.clone()).collect();
    let alerts = page.alerts().await.map_err(|e| hung(&e))?;
    let shown_errors = alerts.into_iter().filter(|alert| alert.error).map(|alert| alert.text).collect();
    Ok(ClientSide::Canvas { seen: seen.collect(), console: errors, shown_errors, failed })
}

/// What the chat showed, once it has not changed for a while.
async fn drawn(page: &Page) -> Result<Vec<crate::live::browser::Seen>, CellFault> {
    let until = Instant::now() + DRAWN_WITHIN;
    let mut before = page.history().await.map_err(|e| hung(&e))?;
    let mut same = 0;
    while same < 5 && Instant::now() < until {
        sleep(LOOK_EVERY).await;
        let now = page.history().await.map_err(|e| hung(&e))?;
        same = if now.len() == before.len() && !now.is_empty() { same + 1 } else { 0 };
        before = now;
    }
    Ok(before)
}

fn hung(error: &BrowserError) -> CellFault {
    CellFault::Hung(error.to_string())
}
