//! Logs that are wrong in one way each, by hand, with checksums that fit.
