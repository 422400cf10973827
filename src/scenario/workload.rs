//! What the model streams.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use rand::Rng as _;
use toml::Spanned;
use toml::de::DeValue;

use super::aside::{Aside, Does};
use super::problem::Problem;
use super::section::{Faults, Section, hint, wrong};
use crate::agent_server::server::{Chunk, Finish, Script};
use crate::seed::Seed;

/// A user's message and the model's answer to it, token by token.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Its name in the scenario.
    pub name: String,
    /// Tokens a second.
    pub rate: f64,
    /// The tokens, in order; empty only where the provider fails before the first.
    pub tokens: Vec<Chunk>,
    /// What the user says.
    pub user: String,
    /// How the turn ends.
    pub finish: Finish,
    /// What happens between the tokens, in order.
    pub asides: Vec<Aside>,
    /// Bytes of one write of a released server's model, whatever they cut; `None` for a write a chunk. An emulated server
    /// has its chunks handed over whole.
    pub chunk_bytes: Option<NonZeroUsize>,
}

/// Tokens of one workload: a long reply has some ten thousand.
pub(super) const MAX_TOKENS: u64 = 100_000;
pub(super) const MAX_CHUNK_BYTES: u64 = 1_000_000;
pub(super) const MAX_RATE: f64 = 1_000_000.0;
pub(super) const CLASSES: [&str; 3] = ["text", "reasoning", "empty"];

impl Workload {
    pub(super) fn read(name: &str, mut section: Section<'_>, faults: &mut Faults) -> Option<Workload> {
        let rate = match section.value("rate") {
            Some(_) => section.positive("rate", MAX_RATE, faults),
            None => Some(50.0),
        };
        let user = section.text("user", faults).map_or_else(|| "hi".to_owned(), Spanned::into_inner);
        let finish = finish(&mut section, faults);
        let chunk_bytes = section.count("chunk_bytes", 1, MAX_CHUNK_BYTES, faults);
        let chunk_bytes = chunk_bytes.and_then(|n| NonZeroUsize::new(usize::try_from(n).ok()?));
        let tokens = match (section.value("tokens").is_some(), section.value("generate").is_some()) {
            (true, false) => explicit(&mut section, faults),
            (false, true) => generated(&mut section, faults).map(|tokens| (tokens, Vec::new())),
            _ => {
                faults.add(section.span.clone(), Problem::TokenSource { name: name.to_owned() });
                None
            }
        };
        section.finish(faults);
        let (tokens, asides) = tokens?;
        Some(Workload { name: name.to_owned(), rate: rate?, tokens, user, finish, asides, chunk_bytes })
    }

    /// The silences before tokens, for a server that can play no other aside.
    pub fn stalls(&self) -> Vec<(usize, Duration)> {
        let stall = |aside: &Aside| match aside.what {
            Does::Stall(time) => Some((aside.before, time)),
            _ => None,
        };
        self.asides.iter().filter_map(stall).collect()
    }

    /// What an emulated server streams of it.
    pub fn script(&self) -> Script {
        Script {
            user: self.user.clone(),
            chunks: self.tokens.clone(),
            gap: Duration::from_secs_f64(1.0 / self.rate.max(1e-6)),
            finish: self.finish,
            feed: None,
            tail: Duration::ZERO,
            stalls: self.stalls(),
        }
    }

    /// Whether only a released server can play it: an emulated one knows neither tool calls in the middle of an answer nor
    /// a provider that fails.
    pub fn needs_a_package(&self) -> bool {
        self.asides.iter().any(Aside::needs_a_package)
    }
}

fn finish(section: &mut Section<'_>, faults: &mut Faults) -> Finish {
    let Some(text) = section.text("finish", faults) else { return Finish::default() };
    let all = [Finish::Message, Finish::FinishTool];
    if let Some(finish) = all.into_iter().find(|f| f.as_str() == text.get_ref()) {
        return finish;
    }
    let word = text.get_ref().clone();
    let hint = hint(&word, &all.map(Finish::as_str));
    faults.add(text.span(), Problem::UnknownWord { what: "way to finish", word, hint });
    Finish::default()
}

fn explicit(section: &mut Section<'_>, faults: &mut Faults) -> Option<(Vec<Chunk>, Vec<Aside>)> {
    let value = section.value("tokens")?;
    if value.get_ref().as_array().is_some_and(|a| a.is_empty()) {
        faults.add(value.span(), Problem::Empty { key: "tokens".to_owned() });
        return None;
    }
    let (mut tokens, mut asides) = (Vec::new(), Vec::new());
    let mut failed = false;
    for mut item in section.tables("tokens", faults) {
        "a token".clone_into(&mut item.name);
        let text = item.text("text", faults).map(Spanned::into_inner);
        let reasoning = item.text("reasoning", faults).map(Spanned::into_inner);
        let aside = Aside::read(&mut item, tokens.len(), faults);
        let is_token = item.value("text").is_some() || item.value("reasoning").is_some();
        if !is_token && aside.is_empty() {
            faults.add(item.span.clone(), Problem::BareToken);
        }
        let late = |aside: &Aside| {
            matches!(aside.what, Does::Fail { status: Some(_), .. })
                && !(tokens.is_empty() && asides.is_empty())
        };
        if failed || aside.iter().any(late) {
            faults.add(item.span.clone(), Problem::ErrorPlace);
        }
        failed |= aside.iter().any(|aside| matches!(aside.what, Does::Fail { .. }));
        if failed && is_token {
            faults.add(item.span.clone(), Problem::ErrorPlace);
        }
        asides.extend(aside);
        let repeat = item.count("repeat", 1, MAX_TOKENS, faults).unwrap_or(1);
        let room = MAX_TOKENS.saturating_sub(tokens.len() as u64);
        if repeat > room {
            too_many(item.span.clone(), faults);
        }
        item.finish(faults);
        let token = Chunk { text, reasoning };
        let times = if is_token { repeat.min(room) } else { 0 };
        tokens.extend((0..times).map(|_| token.clone()));
    }
    Some((tokens, asides))
}

fn too_many(span: Range<usize>, faults: &mut Faults) {
    let allowed = format!("at most {MAX_TOKENS} tokens, repeats counted");
    faults.add(span, Problem::OutOfRange { key: "tokens".to_owned(), allowed });
}

fn generated(section: &mut Section<'_>, faults: &mut Faults) -> Option<Vec<Chunk>> {
    let value = section.value("generate")?;
    let DeValue::Table(table) = value.get_ref() else {
        wrong("generate", "a table", value, faults);
        return None;
    };
    let mut recipe = Section::new("`generate`", value.span(), table);
    let count = recipe.require("count", faults).then(|| recipe.count("count", 1, MAX_TOKENS, faults));
    let seed = recipe.count("seed", 0, u64::MAX, faults).unwrap_or(1);
    let mut classes = Vec::new();
    for word in recipe.list("classes", faults).unwrap_or_default() {
        match CLASSES.into_iter().find(|c| c == word.get_ref()) {
            Some(class) => classes.push(class),
            None => faults.add(
                word.span(),
                Problem::UnknownWord {
                    what: "class",
                    hint: hint(word.get_ref(), &CLASSES),
                    word: word.into_inner(),
                },
            ),
        }
    }
    recipe.finish(faults);
    if classes.is_empty() {
        classes.push("text");
    }
    Some(generate(count.flatten()?, &classes, Seed(seed)))
}

/// `count` tokens; text is numbered, so that a lost or swapped one can be told from its neighbours.
fn generate(count: u64, classes: &[&str], seed: Seed) -> Vec<Chunk> {
    let mut rng = seed.derive("workload").rng();
    let mut pick = || classes[usize::try_from(rng.next_u64() % classes.len() as u64).unwrap_or_default()];
    (0..count)
        .map(|n| match pick() {
            "reasoning" => Chunk { text: None, reasoning: Some(format!("why{n} ")) },
            "empty" => Chunk { text: Some(String::new()), reasoning: None },
            _ => Chunk { text: Some(format!("tok{n} ")), reasoning: None },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tokens: &str) -> Result<Workload, String> {
        let text = format!(
            "question = \"q\"\nservers = [\"1.58.2\"]\nclients = [\"python@same\"]\nworkloads = [\"w\"]\n\
             [workload.w]\nchunk_bytes = 3\ntokens = [{tokens}]\n"
        );
        let names = super::super::names::double::Double::new();
        let scenario = super::super::Scenario::parse("s.toml", &text, &names).map_err(|e| e.to_string())?;
        Ok(scenario.workloads[0].as_ref().clone())
    }

    #[test]
    fn what_happens_between_tokens_is_read_in_its_place() {
        let load = read(
            "{ text = \"a\", repeat = 2 }, { stall_s = 1.5 }, { text = \"b\", stall_s = 2 }, { tool = \"look\" }, { error = \"busy\" }",
        )
        .unwrap();
        assert_eq!((load.tokens.len(), load.chunk_bytes.map(NonZeroUsize::get)), (3, Some(3)));
        let ms = Duration::from_millis;
        assert_eq!(load.stalls(), [(2, ms(1500)), (2, ms(2000))]);
        let tool = Does::Tool { name: "look".into(), arguments: "{}".into() };
        let fail = Does::Fail { status: None, message: "busy".into() };
        assert_eq!(load.asides[2..], [Aside { before: 3, what: tool }, Aside { before: 3, what: fail }]);
        assert!(load.needs_a_package() && !read("{ text = \"a\", stall_s = 1 }").unwrap().needs_a_package());
        let refused = read("{ error = \"busy\", status = 503 }").unwrap();
        assert!(refused.tokens.is_empty() && refused.needs_a_package());
    }

    #[test]
    fn an_aside_in_the_wrong_place_is_refused() {
        for (tokens, why) in [
            ("{ error = \"x\" }, { text = \"a\" }", "nothing can follow an error"),
            ("{ text = \"a\" }, { error = \"x\", status = 503 }", "nothing can follow an error"),
            ("{ text = \"a\", error = \"x\" }", "nothing can follow an error"),
            ("{ tool = \"t\", arguments = \"[1]\" }", "text of a JSON object"),
            ("{ repeat = 2 }", "neither `text` nor `reasoning`"),
            ("{ text = \"a\", stall_s = 0 }", "above 0"),
            ("{ error = \"x\", status = 200 }", "from 400 to 599"),
        ] {
            let error = read(tokens).unwrap_err();
            assert!(error.contains(why), "{tokens}: {error}");
        }
    }

    #[test]
    fn generated_tokens_repeat_by_seed_and_keep_to_their_classes() {
        let tokens = generate(50, &["text", "reasoning"], Seed(1));
        assert_eq!(tokens, generate(50, &["text", "reasoning"], Seed(1)));
        assert_ne!(tokens, generate(50, &["text", "reasoning"], Seed(2)));
        assert!(tokens.iter().any(|t| t.text.is_some()) && tokens.iter().any(|t| t.reasoning.is_some()));
        assert!(generate(9, &["empty"], Seed(1)).iter().all(|t| t.text.as_deref() == Some("")));
    }
}
