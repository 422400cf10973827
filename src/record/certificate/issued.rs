//! The certificates in the binary: who holds one that proves something.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Certificate;

macro_rules! certificates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(
            concat!(env!("CARGO_MANIFEST_DIR"), "/reports/certificates/", $name, ".json")))),*]
    };
}

/// Profile and text of every certificate that was issued, as `skewlab calibrate --out reports/certificates` writes them.
pub const ISSUED: &[(&str, &str)] = certificates!(
    "1.43.1",
    "1.44.1",
    "1.45.0",
    "1.58.2",
    "python-1.30.0",
    "python-1.34.0",
    "python-1.37.1",
    "python-1.55.1",
    "python-1.58.2",
    "python-1.43.1+AB",
    "python-1.43.1+ABC",
    "python-1.58.2+AB",
    "python-1.58.2+ABC",
    "typescript-1.39.0",
    "browser-1.0.0-alpha.10",
    "browser-1.4.0",
    "browser-1.6.1",
    "browser-1.14.0",
    "browser-1.20.0",
);

/// Those whose certificate proves something.
static HOLDERS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    // One that does not read proves nothing; a test reads them all.
    let read = ISSUED.iter().filter_map(|(_, text)| serde_json::from_str::<Certificate>(text).ok());
    read.filter(Certificate::proves).map(|certificate| certificate.profile).collect()
});

/// Whether the emulation of that profile holds a certificate of agreement with the released package.
pub fn holds_certificate(profile: &str) -> bool {
    HOLDERS.contains(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CERTIFICATE_SCHEMA;

    #[test]
    fn every_certificate_reads_and_is_about_the_profile_that_it_is_named_after() {
        for (name, text) in ISSUED {
            let read: Certificate = serde_json::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((read.profile.as_str(), read.schema.as_str()), (*name, CERTIFICATE_SCHEMA));
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/reports/certificates");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(
            files,
            ISSUED.len(),
            "a certificate in {folder} is not in the list, or the other way round"
        );
    }

    #[test]
    fn nobody_holds_what_was_never_issued() {
        assert!(!holds_certificate("python-0.0.1"));
    }
}
