//! Sums at the end of a capsule. One over everything tells that it was changed; one a line tells where.

use sha2::{Digest as _, Sha256};

/// The line in front of the sums.
const MARK: &str = "[capsule.sum]";

/// Hexadecimal digits of the sum of one line.
const DIGITS: usize = 4;

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// The sums, or the end of them, are missing.
    CutOff,
    /// This line, from 0, is not as it was written, or not where.
    Line(usize),
}

fn hex(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// The text with its sums behind it.
pub(super) fn sealed(text: &str) -> String {
    // A line ends alike on every machine.
    let whole = text.lines().fold(String::new(), |all, line| all + line + "\n");
    let lines = text.lines().fold(String::new(), |all, line| all + &hex(line)[..DIGITS]);
    format!("{whole}{MARK}\nlines = \"{lines}\"\ntext = \"{}\"\n", hex(&whole))
}

/// What the sums of a sealed text are of.
pub(super) fn body(text: &str) -> &str {
    text.rfind(MARK).map_or(text, |at| &text[..at])
}

/// Holds a sealed text against its sums.
pub(super) fn check(text: &str) -> Result<(), Broken> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().rposition(|line| *line == MARK).ok_or(Broken::CutOff)?;
    let value = |line: Option<&&str>, key: &str| {
        let value = line?.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?;
        Some(value.to_owned())
    };
    let sums = value(lines.get(at + 1), "lines").ok_or(Broken::CutOff)?;
    let whole = value(lines.get(at + 2), "text").ok_or(Broken::CutOff)?;
    if whole.len() < 64 {
        return Err(Broken::CutOff);
    }
    for (n, line) in lines[..at].iter().enumerate() {
        if sums.get(n * DIGITS..(n + 1) * DIGITS) != Some(&hex(line)[..DIGITS]) {
            return Err(Broken::Line(n));
        }
    }
    let body = lines[..at].iter().fold(String::new(), |all, line| all + line + "\n");
    if sums.len() != at * DIGITS {
        // Lines at the end of the body are gone.
        return Err(Broken::Line(at));
    }
    if hex(&body) != whole {
        return Err(Broken::Line(at + 2));
    }
    if lines.len() > at + 3 { Err(Broken::Line(at + 3)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = 1\n# two\nb = \"three\"\n";

    #[test]
    fn a_sealed_text_is_whole_however_its_lines_end() {
        let sealed = sealed(TEXT);
        assert_eq!(check(&sealed), Ok(()));
        assert_eq!(check(&sealed.replace('\n', "\r\n")), Ok(()));
        assert_eq!(super::sealed(&TEXT.replace('\n', "\r\n")), sealed);
    }

    #[test]
    fn every_change_has_a_place() {
        let sealed = sealed(TEXT);
        let of = |text: &str| check(text).unwrap_err();
        assert_eq!(of(&sealed.replace("# two", "# tow")), Broken::Line(1));
        assert_eq!(of(&sealed.replace("a = 1\n", "")), Broken::Line(0));
        assert_eq!(of(&sealed.replace("b = ", "x = 0\nb = ")), Broken::Line(2));
        assert_eq!(of(&sealed.replace("b = \"three\"\n", "")), Broken::Line(2));
        assert_eq!(of(&format!("{sealed}more = 1\n")), Broken::Line(6));
        let sum = hex(TEXT);
        assert_eq!(of(&sealed.replace(&sum, &hex("other"))), Broken::Line(5));
    }

    #[test]
    fn every_cut_is_told() {
        let sealed = sealed(TEXT);
        for cut in 0..sealed.trim_end().len() {
            assert!(
                matches!(check(&sealed[..cut]), Err(Broken::CutOff)),
                "{cut}: {:?}",
                check(&sealed[..cut])
            );
        }
    }

    #[test]
    fn no_byte_can_be_changed_unseen() {
        let sealed = sealed(TEXT);
        for at in 0..sealed.trim_end().len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(check(&changed).is_err(), "{at}: {changed}");
        }
    }
}
