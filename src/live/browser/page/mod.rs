//! One page in a context of its own: what is asked of it, and what is read back.

mod book;
mod data;
mod keys;
mod observer;
mod ready;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::cdp::{Cdp, CdpError, Listener};
use super::error::BrowserError;
use book::{Book, FRAME_BYTES, exception};
pub use data::{Alert, Closed, Console, Frame, Seen, Socket, Way};
use observer::{Record, SCRIPT, TELL};

/// A page. Dropping it closes it.
pub struct Page {
    cdp: Arc<Cdp>,
    context: String,
    session: String,
    url: String,
    notes: Arc<Notes>,
}

/// The book, and the number of frames in it for whoever waits for one.
struct Notes {
    book: Mutex<Book>,
    frames: watch::Sender<usize>,
}

impl Listener for Notes {
    fn event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = book.note(method, params);
        self.frames.send_if_modified(|n| std::mem::replace(n, book.frames.len()) != book.frames.len());
        answer
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Page {
    /// Opens an address in a fresh context. Comes back when loading has begun; see [`Page::ready`].
    pub(super) async fn open(cdp: Arc<Cdp>, url: &str) -> Result<Page, BrowserError> {
        let context = json!({"disposeOnDetach": true});
        let context = cdp.ask("Target.createBrowserContext", context, "browserContextId").await?;
        // From here on the page exists, so that an error below closes the context too.
        let notes = Arc::new(Notes { book: Mutex::default(), frames: watch::Sender::new(0) });
        let mut page = Page { cdp, context, session: String::new(), url: url.to_owned(), notes };
        let target = json!({"url": "about:blank", "browserContextId": page.context});
        let target = page.cdp.ask("Target.createTarget", target, "targetId").await?;
        let session = json!({"targetId": target, "flatten": true});
        page.session = page.cdp.ask("Target.attachToTarget", session, "sessionId").await?;
        page.cdp.listen(&page.session, page.notes.clone());
        for (method, params) in [
            ("Inspector.enable", json!({})),
            ("Page.enable", json!({})),
            ("Network.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Log.enable", json!({})),
            // A page of a warm browser is one of several, and only one window of a browser has the focus.
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
            ("Runtime.addBinding", json!({"name": TELL})),
            ("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})),
        ] {
            page.call(method, params).await?;
        }
        let answer = page.call("Page.navigate", json!({"url": url})).await?;
        match answer["errorText"].as_str() {
            Some(why) => Err(BrowserError::Navigation { url: page.url.clone(), why: why.to_owned() }),
            None => Ok(page),
        }
    }

    /// The address that it was opened with.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the person saw of the agent's replies, change by change, oldest first. Documents that the page has left
    /// (a reload) come first. Pure reading: it can be asked again and again.
    pub async fn history(&self) -> Result<Vec<Seen>, BrowserError> {
        let current = self.record().await?;
        let book = self.book();
        let mut seen = Vec::new();
        for record in book.left.iter().chain([&current]) {
            if record.cut {
                return Err(self.too_much("changes of the replies", "50000 changes or 64 million characters"));
            }
            let Some(part) = record.history() else {
                return Err(self.failed("reading what was seen", "its record contradicts itself"));
            };
            seen.extend(part);
        }
        Ok(seen)
    }

    /// Texts that the page put before the person outside of the conversation, each once, oldest first: alerts,
    /// banners, toasts, dialogs. One that was visible only for a moment is among them.
    pub async fn alerts(&self) -> Result<Vec<Alert>, BrowserError> {
        let current = self.record().await?;
        let book = self.book();
        let mut alerts: Vec<Alert> = book.left.iter().chain([&current]).flat_map(Record::alerts).collect();
        alerts.extend(book.dialogs.iter().cloned());
        alerts.sort_by(|a, b| a.at.total_cmp(&b.at));
        Ok(alerts)
    }

    /// All data frames on all sockets of the page, oldest first.
    pub fn frames(&self) -> Result<Vec<Frame>, BrowserError> {
        let book = self.book();
        if book.full {
            return Err(self.too_much("frames", &format!("{} MiB", FRAME_BYTES / 1024 / 1024)));
        }
        Ok(book.frames.clone())
    }

    /// Waits for a frame, one that is there already included. `what` names it in the error.
    pub async fn frame(
        &self,
        what: &'static str,
        limit: Duration,
        wanted: impl Fn(&Frame) -> bool,
    ) -> Result<Frame, BrowserError> {
        let mut count = self.notes.frames.subscribe();
        let look = async {
            let mut from = 0;
            loop {
                count.borrow_and_update();
                {
                    let book = self.book();
                    if let Some(frame) = book.frames[from..].iter().find(|frame| wanted(frame)) {
                        return Some(frame.clone());
                    }
                    from = book.frames.len();
                }
                // The sender is in this page's own notes.
                count.changed().await.ok()?;
            }
        };
        match timeout(limit, look).await {
            Ok(Some(frame)) => Ok(frame),
            _ => Err(BrowserError::NoFrame {
                url: self.url.clone(),
                what,
                after: limit,
                said: self.trouble().await,
            }),
        }
    }

    /// Every socket that the page opened or tried to, in that order.
    pub fn sockets(&self) -> Vec<Socket> {
        self.book().sockets.clone()
    }

    /// Lines of the console, exceptions and the browser's log for this page; the first two thousand.
    pub fn console(&self) -> Vec<Console> {
        self.book().console.clone()
    }

    /// Closes it with its context. What was read before stays; a page that hangs is closed as well.
    pub async fn close(self) -> Result<(), BrowserError> {
        let context = json!({"browserContextId": self.context});
        self.cdp.call(None, "Target.disposeBrowserContext", context, self.cdp.patience).await?;
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.notes.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<Value, BrowserError> {
        match self.cdp.call(Some(&self.session), method, params, self.cdp.patience).await {
            Err(CdpError::Silent { method, after }) => {
                self.give_up();
                Err(BrowserError::Hung {
                    url: self.url.clone(),
                    what: method,
                    after,
                    said: self.book().trouble(),
                })
            }
            other => Ok(other?),
        }
    }

    /// Evaluates one of our own expressions. Nothing that came out of a page is ever part of it.
    async fn evaluate(&self, what: &'static str, expression: &'static str) -> Result<Value, BrowserError> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", params).await?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(self.failed(what, &exception(details))),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    async fn record(&self) -> Result<Record, BrowserError> {
        let what = "reading what was seen";
        let text = self.evaluate(what, "__skewlab.read()").await?;
        serde_json::from_str(text.as_str().unwrap_or_default()).map_err(|e| self.failed(what, &e.to_string()))
    }

    /// For the end of an error message: what is wrong on the sockets and in the console, and what the person was told.
    async fn trouble(&self) -> Vec<String> {
        let mut said = self.book().trouble();
        // A page that cannot be asked any more has said above what it could.
        if let Ok(alerts) = self.alerts().await {
            let shown = alerts.iter().filter(|a| a.error && a.mark != "dialog");
            said.extend(shown.map(|a| format!("shown as {}: {}", a.mark, a.text)));
        }
        said
    }

    fn failed(&self, what: &'static str, why: &str) -> BrowserError {
        BrowserError::Script { url: self.url.clone(), what, why: why.to_owned() }
    }

    fn too_much(&self, what: &'static str, limit: &str) -> BrowserError {
        BrowserError::TooMuch { url: self.url.clone(), what, limit: limit.to_owned() }
    }

    fn give_up(&self) {
        self.cdp.tell("Target.disposeBrowserContext", json!({"browserContextId": self.context}));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.cdp.forget(&self.session);
        // Closed already or the browser gone: then it is refused, and nobody listens.
        self.give_up();
    }
}
