//! Ctrl-C, and the signal to terminate: the first one stops the run after what is under way, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::probe::Scratch;

/// A flag that turns true with the first of either signal.
pub(super) fn flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    // Without a signal handler either signal ends the process at once, which is no worse than before.
    let waiting = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let kinds = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
            let [Ok(mut interrupt), Ok(mut terminate)] = kinds else { return };
            asked(&mut interrupt, &mut terminate).await;
            seen.store(true, Ordering::SeqCst);
            eprintln!("stopping; what is finished is kept. Press Ctrl-C again to end at once");
            let number = asked(&mut interrupt, &mut terminate).await;
            // Nothing is dropped from here on.
            Scratch::sweep();
            std::process::exit(128 + number);
        });
    };
    std::thread::spawn(waiting);
    stop
}

/// Waits for either; the number of the one that came.
async fn asked(interrupt: &mut Signal, terminate: &mut Signal) -> i32 {
    tokio::select! {
        biased;
        _ = interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        _ = terminate.recv() => SignalKind::terminate().as_raw_value(),
    }
}
