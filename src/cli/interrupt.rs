//! Ctrl-C: the first one stops the run after what is under way, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that turns true with the first Ctrl-C.
pub(super) fn flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    // Without a signal handler Ctrl-C ends the process at once, which is no worse than before.
    let waiting = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                seen.store(true, Ordering::SeqCst);
                eprintln!("stopping; what is finished is kept. Press Ctrl-C again to end at once");
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        });
    };
    std::thread::spawn(waiting);
    stop
}
