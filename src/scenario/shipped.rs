//! The scenarios in the binary.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("scenarios/", $name, ".toml"),
             include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/", $name, ".toml")))),*]
    };
}

/// Path and text of every scenario that comes with skewlab.
pub const SHIPPED: &[(&str, &str)] = files!(
    "release-skew",
    "frame-mutants",
    "bus-split",
    "side-effects",
    "session-feed",
    "drift",
    "drift-contained",
    "crash",
    "batching",
    "cancel-before",
    "dangling"
);
