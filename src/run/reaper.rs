//! An outside runtime that ends a server which looks idle to it.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::agent_server::link::Target;
use crate::agent_server::rest;
use crate::agent_server::server::Stage;
use crate::record::Reaped;
use crate::scenario::IdlePolicy;

/// Asks whoever stands on that stage for its idle time, again and again, and ends it once the policy says so. `target` is a way
/// that no fault is on; `began` is when the person's message was sent.
pub(super) async fn watch(stage: Stage, target: Target, policy: IdlePolicy, began: Instant) -> Reaped {
    loop {
        sleep(policy.poll).await;
        let Some(server) = stage.server() else { continue };
        // A server that does not answer looks neither busy nor idle.
        let Ok(info) = rest::server_info(&target).await else { continue };
        let Some(idle_s) = info["idle_time"].as_u64() else { continue };
        if Duration::from_secs(idle_s) < policy.reap_after {
            continue;
        }
        let (running, at) = (server.is_running(), began.elapsed());
        stage.clear();
        server.die();
        return Reaped { at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX), idle_s, running };
    }
}

/// What came of a watch, once the turns of the cell are over: what happens to a server that has nothing more to do is no
/// question of a cell.
pub(super) async fn ended(watch: Option<JoinHandle<Reaped>>) -> Option<Reaped> {
    let watch = watch?;
    if watch.is_finished() {
        return watch.await.ok();
    }
    watch.abort();
    None
}
