//! One set-up of an environment at a time, on one machine.

use std::fs::{File, TryLockError};
use std::time::Duration;

use super::{Steps, full_or_io};
use crate::live::env::cache::Cache;
use crate::live::env::error::EnvError;

const PAUSE: Duration = Duration::from_millis(100);

/// The lock of one environment. The operating system lets go of it when the process ends, however it ends.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until nobody else sets up `name`.
    pub(super) async fn take(cache: &Cache, name: &str, steps: &mut dyn Steps) -> Result<Lock, EnvError> {
        let path = cache.lock(name);
        let file = File::create(&path).map_err(full_or_io(name, cache, &path))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    if !told {
                        steps.step(name, "waiting for another set-up of it");
                        told = true;
                    }
                    // Not a blocking call, so that Ctrl-C is heard.
                    tokio::time::sleep(PAUSE).await;
                    steps.tick(None);
                }
                Err(TryLockError::Error(error)) => return Err(EnvError::Io { path, error }),
            }
        }
    }
}
