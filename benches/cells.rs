//! Criterion benches; filled below.
fn main() {}
