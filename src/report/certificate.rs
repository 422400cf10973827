//! Certificates for a person: what was asked, and where an emulation and its package differ.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use crate::record::Certificate;

/// Writes a line for each certificate, and each difference.
pub fn certificate_table(certificates: &[Certificate], out: &mut dyn Write) -> io::Result<()> {
    let mut kinds: Vec<&str> = Vec::new();
    for kind in certificates.iter().flat_map(|c| c.asked.keys()) {
        if !kinds.contains(&kind.as_str()) {
            kinds.push(kind);
        }
    }
    let mut table = Table::new();
    table.load_style(NOTHING);
    let heads =
        ["profile", "package"].into_iter().chain(kinds.iter().copied()).chain(["differ", "explained", ""]);
    table.set_header(heads.map(Cell::new));
    for certificate in certificates {
        let number = |n: u64| Cell::new(n.to_string()).set_alignment(CellAlignment::Right);
        let differ = &certificate.disagreements;
        let explained = differ.iter().filter(|d| d.because.is_some()).count();
        let asked = kinds.iter().map(|kind| number(certificate.asked.get(*kind).copied().unwrap_or(0)));
        let package = format!("{} {}", certificate.package, certificate.version);
        let holds = if certificate.proves() { "agrees" } else { "DIFFERS" };
        let row = [Cell::new(&certificate.profile), Cell::new(package)].into_iter().chain(asked);
        table.add_row(row.chain([number(differ.len() as u64), number(explained as u64), Cell::new(holds)]));
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    for certificate in certificates {
        if let Some(over) = &certificate.laid_over {
            writeln!(out, "  {}: {over}", certificate.profile)?;
        }
        for d in &certificate.disagreements {
            let because = d.because.as_ref().map(|why| format!("; because {why}")).unwrap_or_default();
            let (profile, case, what) = (&certificate.profile, &d.case, &d.what);
            writeln!(out, "  {profile}: {case}: {what}: emulated {}, real {}{because}", d.emulated, d.real)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Disagreement;

    #[test]
    fn a_difference_without_a_reason_is_seen_in_the_row_and_below_it() {
        let text = |t: &str| t.to_owned();
        let differs = Disagreement {
            case: text("json_null"),
            what: text("outcome"),
            emulated: text("accepted"),
            real: text("rejected"),
            because: None,
        };
        let certificate = Certificate {
            schema: text("s"),
            skewlab: text("0"),
            profile: text("python-1.58.2"),
            package: text("openhands-sdk"),
            version: text("1.58.2"),
            package_hash: text("h"),
            laid_over: Some(text("on the dependencies of 1.36.1")),
            cases_hash: text("h"),
            answers_hash: text("h"),
            asked: [(text("corpus"), 50)].into(),
            disagreements: vec![differs],
        };
        let mut out = Vec::new();
        certificate_table(&[certificate], &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("50") && shown.contains("DIFFERS"), "{shown}");
        assert!(shown.contains("json_null: outcome: emulated accepted, real rejected"), "{shown}");
        assert!(shown.contains("dependencies of 1.36.1"), "{shown}");
    }
}
