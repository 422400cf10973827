//! Limits as expressions: `ceil(T/30)+1`.
//!
//! A parser of its own, because the expression crates at hand say what is wrong and not where. It works a value
//! out as it reads; a limit is read once a workload, and a workload is a handful.

use std::ops::Range;

use super::section::hint;

/// What the letters of an expression stand for in one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Terms<'a> {
    /// What the expression is part of: `budget`.
    pub(super) of: &'static str,
    /// The letters.
    pub(super) all: &'a [Term],
}

/// One letter of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Term {
    pub(super) name: &'static str,
    /// What it counts, as the end of `T is ...`.
    pub(super) meaning: &'static str,
    pub(super) value: f64,
}

impl Terms<'_> {
    fn names(self) -> Vec<&'static str> {
        self.all.iter().map(|term| term.name).collect()
    }

    /// Every letter with its value, in words.
    pub(super) fn values(self) -> String {
        let each = self.all.iter().map(|term| format!("{} = {}", term.name, term.value));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Every letter with its meaning, in words.
    pub(super) fn meanings(self) -> String {
        let each = self.all.iter().enumerate();
        let each = each
            .map(|(at, term)| format!("{}{}{}", term.name, if at == 0 { " is " } else { " " }, term.meaning));
        each.collect::<Vec<_>>().join(", ")
    }
}

/// Whether the letter stands in the expression.
pub(super) fn mentions(text: &str, letter: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == letter)
}

/// What is wrong with an expression, and at which bytes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misread {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) hint: String,
}

const FUNCTIONS: [&str; 4] = ["ceil", "floor", "min", "max"];
/// Parentheses within each other; nobody writes more, and the reader's stack is finite.
const MAX_DEPTH: usize = 32;

/// The value of `text` with these terms.
pub(super) fn work_out(text: &str, terms: Terms<'_>) -> Result<f64, Misread> {
    let mut reader = Reader { text, at: 0, depth: 0, terms };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.unexpected("an operator or the end")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    terms: Terms<'a>,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<f64, Misread> {
        let mut value = self.product()?;
        loop {
            match self.peek() {
                Some('+') => value += self.after(1, Self::product)?,
                Some('-') => value -= self.after(1, Self::product)?,
                _ => return Ok(value),
            }
        }
    }

    fn product(&mut self) -> Result<f64, Misread> {
        let mut value = self.factor()?;
        loop {
            match self.peek() {
                Some('*') => value *= self.after(1, Self::factor)?,
                Some('/') => {
                    let at = self.at..self.at + 1;
                    let divisor = self.after(1, Self::factor)?;
                    if divisor == 0.0 {
                        let message = "this divides by zero".to_owned();
                        return Err(Misread { at, message, hint: String::new() });
                    }
                    value /= divisor;
                }
                _ => return Ok(value),
            }
        }
    }

    fn factor(&mut self) -> Result<f64, Misread> {
        match self.peek() {
            Some('-') => Ok(-self.deeper(Self::factor)?),
            Some('(') => {
                let value = self.deeper(Self::sum)?;
                self.expect(')', "`)`")?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.named(),
            _ => {
                let wanted = format!("a number, {}, a function or `(`", self.terms.names().join(", "));
                Err(self.unexpected(&wanted))
            }
        }
    }

    fn number(&mut self) -> Result<f64, Misread> {
        let at = self.word(|c| c.is_ascii_digit() || c == '.' || c == '_');
        self.text[at.clone()].replace('_', "").parse().map_err(|_| Misread {
            message: format!("`{}` is no number", &self.text[at.clone()]),
            at,
            hint: String::new(),
        })
    }

    fn named(&mut self) -> Result<f64, Misread> {
        let at = self.word(|c| c.is_alphanumeric() || c == '_');
        let name = &self.text[at.clone()];
        if self.peek() == Some('(') {
            return self.called(at);
        }
        match self.terms.all.iter().find(|term| term.name == name) {
            Some(term) => Ok(term.value),
            _ if FUNCTIONS.contains(&name) => {
                let message = format!("`{name}` is a function and takes its arguments in parentheses");
                Err(Misread { at, message, hint: String::new() })
            }
            _ => {
                let message = format!("`{name}` is no variable of a {}", self.terms.of);
                let near = hint(name, &self.terms.names());
                let hint = format!("{near}: {}", self.terms.meanings());
                Err(Misread { at, message, hint })
            }
        }
    }

    fn called(&mut self, at: Range<usize>) -> Result<f64, Misread> {
        let name = self.text[at.clone()].to_owned();
        if !FUNCTIONS.contains(&name.as_str()) {
            let (message, hint) =
                (format!("`{name}` is no function of a {}", self.terms.of), hint(&name, &FUNCTIONS));
            return Err(Misread { at, message, hint });
        }
        let mut arguments = vec![self.deeper(Self::sum)?];
        while self.peek() == Some(',') {
            arguments.push(self.after(1, Self::sum)?);
        }
        self.expect(')', "`,` or `)`")?;
        match (name.as_str(), &arguments[..]) {
            ("ceil", [x]) => Ok(ceiling(*x)),
            ("floor", [x]) => Ok(-ceiling(-*x)),
            ("min", [_, _, ..]) => Ok(arguments.iter().copied().fold(f64::INFINITY, f64::min)),
            ("max", [_, _, ..]) => Ok(arguments.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            _ => {
                let takes = if name == "ceil" || name == "floor" { "one argument" } else { "two or more" };
                let message = format!("`{name}` takes {takes}, not {}", arguments.len());
                Err(Misread { at, message, hint: String::new() })
            }
        }
    }

    /// Steps over `bytes` and reads on.
    fn after(
        &mut self,
        bytes: usize,
        read: impl Fn(&mut Self) -> Result<f64, Misread>,
    ) -> Result<f64, Misread> {
        self.at += bytes;
        read(self)
    }

    /// Steps over one character and reads on, one level deeper.
    fn deeper(&mut self, read: impl Fn(&mut Self) -> Result<f64, Misread>) -> Result<f64, Misread> {
        if self.depth == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} levels");
            return Err(Misread { at: self.at..self.at + 1, message, hint: String::new() });
        }
        self.depth += 1;
        let value = self.after(1, read)?;
        self.depth -= 1;
        Ok(value)
    }

    fn expect(&mut self, wanted: char, words: &str) -> Result<(), Misread> {
        if self.peek() != Some(wanted) {
            return Err(self.unexpected(words));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn word(&mut self, part: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.find(|c| !part(c)).unwrap_or(rest.len());
        start..self.at
    }

    fn unexpected(&mut self, wanted: &str) -> Misread {
        let found = self.peek();
        let at = self.at..self.at + found.map_or(0, char::len_utf8);
        let found = found.map_or("the end".to_owned(), |c| format!("`{c}`"));
        Misread { at, message: format!("expected {wanted}, found {found}"), hint: String::new() }
    }
}

/// The next whole number, but not for a quotient that is whole up to its rounding: 500 tokens at 100/s are 5 s.
fn ceiling(x: f64) -> f64 {
    let near = x.round();
    if (x - near).abs() <= 1e-9 * x.abs().max(1.0) { near } else { x.ceil() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn term(name: &'static str, meaning: &'static str, value: f64) -> Term {
        Term { name, meaning, value }
    }

    const ALL: [Term; 3] =
        [term("T", "seconds of streaming", 75.0), term("N", "tokens", 500.0), term("S", "subscribers", 4.0)];
    const TERMS: Terms<'_> = Terms { of: "budget", all: &ALL };

    fn value(text: &str) -> f64 {
        work_out(text, TERMS).unwrap_or_else(|e| panic!("{text}: {e:?}"))
    }

    #[test]
    fn precedence_is_that_of_arithmetic() {
        for (text, expected) in [
            ("1", 1.0),
            (" 1_000.5 ", 1000.5),
            ("1+2*3", 7.0),
            ("(1+2)*3", 9.0),
            ("8-4-2", 2.0),
            ("8/4/2", 1.0),
            ("-2+3", 1.0),
            ("2--3", 5.0),
            ("ceil(T/30)+1", 4.0),
            ("floor(T/30)", 2.0),
            ("floor(-0.5)", -1.0),
            ("min(S, N, 3) + max(1, 2)", 5.0),
            ("N * (S + 1) / 100", 25.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text} is {}", value(text));
        }
    }

    #[test]
    fn a_quotient_that_is_whole_is_not_rounded_up() {
        let all = [term("T", "seconds of streaming", 0.1 + 0.2)];
        let terms = Terms { all: &all, ..TERMS };
        assert_eq!(work_out("ceil(T/0.1)", terms), Ok(3.0));
        assert_eq!(work_out("floor(0.3/0.1)", terms), Ok(3.0));
        assert_eq!(work_out("ceil(T/0.1 + 0.001)", terms), Ok(4.0));
    }

    #[test]
    fn what_does_not_read_has_its_place() {
        let deep = "(".repeat(MAX_DEPTH + 1);
        for (text, at, said) in [
            ("", 0..0, "found the end"),
            ("1 +", 3..3, "found the end"),
            ("1 2", 2..3, "expected an operator or the end, found `2`"),
            ("ceil(T/30", 9..9, "expected `,` or `)`, found the end"),
            ("(1", 2..2, "expected `)`"),
            ("2 * Q", 4..5, "`Q` is no variable"),
            ("t", 0..1, "`t` is no variable"),
            ("ciel(T)", 0..4, "`ciel` is no function"),
            ("ceil", 0..4, "in parentheses"),
            ("ceil(1, 2)", 0..4, "takes one argument, not 2"),
            ("1 + max(1)", 4..7, "takes two or more, not 1"),
            ("1 / (S - 4)", 2..3, "divides by zero"),
            ("1.2.3", 0..5, "`1.2.3` is no number"),
            ("1 € 2", 2..5, "found `€`"),
            (&deep, MAX_DEPTH..MAX_DEPTH + 1, "more than 32 levels"),
        ] {
            let misread = work_out(text, TERMS).unwrap_err();
            assert_eq!(misread.at, at, "{text}: {misread:?}");
            assert!(misread.message.contains(said), "{text}: {misread:?}");
        }
        assert!(work_out("ciel(T)", TERMS).unwrap_err().hint.contains("`ceil`"));
        let hint = work_out("Q", TERMS).unwrap_err().hint;
        assert!(hint.ends_with(": T is seconds of streaming, N tokens, S subscribers"), "{hint}");
    }

    #[test]
    fn a_letter_is_mentioned_as_a_word_of_its_own() {
        assert!(mentions("ceil(N/2)+C", "N") && mentions("N", "N"));
        assert!(!mentions("min(1, Nn) + N_", "N"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+*/()., TNSceilmax0-9€]{0,40}") {
            if let Err(misread) = work_out(&text, TERMS) {
                proptest::prop_assert!(text.get(misread.at.clone()).is_some(), "{:?}", misread);
            }
        }
    }
}
