//! The profiles in the binary, so that it needs no folder beside it.

macro_rules! files {
    ($dir:literal: $($name:literal),* $(,)?) => {
        &[$((concat!("scenarios/", $dir, "/", $name, ".toml"),
             include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/", $dir, "/", $name, ".toml")))),*]
    };
}

/// Path and text of every server profile, in the order in which they are listed.
pub const SERVER_FILES: &[(&str, &str)] = files!("servers":
    "1.22.0", "1.30.0", "1.31.1", "1.36.1", "1.43.1", "1.44.1", "1.45.0", "1.58.2",
    "1.43.1+A", "1.43.1+AB", "1.43.1+ABC", "1.43.1+ABCD", "1.58.2+AB", "1.58.2+ABC", "1.58.2+ABCD", "1.58.2+step7",
    "1.44.1+per-token", "1.44.1+throttled", "1.44.1+heartbeat",
);

/// Path and text of every client profile, in the order in which they are listed.
pub const CLIENT_FILES: &[(&str, &str)] = files!("clients":
    "python-1.30.0", "python-1.34.0", "python-1.37.1", "python-1.55.1", "python-1.58.2",
    "python-1.43.1+AB", "python-1.43.1+ABC", "python-1.58.2+AB", "python-1.58.2+ABC",
    "typescript-1.39.0", "typescript-1.39.0+no-shim",
    "browser-1.0.0-alpha.10", "browser-1.4.0", "browser-1.6.1", "browser-1.14.0", "browser-1.20.0",
    "browser-session",
    "python-1.58.2+stream-catch", "python-1.58.2+stream-swallow",
    "typescript-1.39.0+strict-end", "typescript-1.39.0+watchdog", "typescript-1.39.0+no-repeats", "typescript-1.39.0+set-dedupe",
    "typescript-1.39.0+raw", "browser-1.20.0+open-limit",
    "python-1.58.2+slow-callback", "typescript-1.39.0+slow-callback", "typescript-1.39.0+bounded-channel", "typescript-1.39.0+unbounded-channel",
    "typescript-1.39.0+batched-callback",
);
