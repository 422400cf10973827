//! What the model streams.

use std::ops::Range;

use rand::Rng as _;
use toml::Spanned;
use toml::de::DeValue;

use super::problem::Problem;
use super::section::{Faults, Section, hint, wrong};
use crate::agent_server::server::{Chunk, Finish};
use crate::seed::Seed;

/// A user's message and the model's answer to it, token by token.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Its name in the scenario.
    pub name: String,
    /// Tokens a second.
    pub rate: f64,
    /// The tokens, in order; never empty.
    pub tokens: Vec<Chunk>,
    /// What the user says.
    pub user: String,
    /// How the turn ends.
    pub finish: Finish,
}

/// Tokens of one workload: a long reply has some ten thousand.
const MAX_TOKENS: u64 = 100_000;
const MAX_RATE: f64 = 1_000_000.0;
const CLASSES: [&str; 3] = ["text", "reasoning", "empty"];

impl Workload {
    pub(super) fn read(name: &str, mut section: Section<'_>, faults: &mut Faults) -> Option<Workload> {
        let rate = match section.value("rate") {
            Some(_) => section.positive("rate", MAX_RATE, faults),
            None => Some(50.0),
        };
        let user = section.text("user", faults).map_or_else(|| "hi".to_owned(), Spanned::into_inner);
        let finish = finish(&mut section, faults);
        let tokens = match (section.value("tokens").is_some(), section.value("generate").is_some()) {
            (true, false) => explicit(&mut section, faults),
            (false, true) => generated(&mut section, faults),
            _ => {
                faults.add(section.span.clone(), Problem::TokenSource { name: name.to_owned() });
                None
            }
        };
        section.finish(faults);
        Some(Workload { name: name.to_owned(), rate: rate?, tokens: tokens?, user, finish })
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

fn explicit(section: &mut Section<'_>, faults: &mut Faults) -> Option<Vec<Chunk>> {
    let value = section.value("tokens")?;
    if value.get_ref().as_array().is_some_and(|a| a.is_empty()) {
        faults.add(value.span(), Problem::Empty { key: "tokens".to_owned() });
        return None;
    }
    let mut tokens = Vec::new();
    for mut item in section.tables("tokens", faults) {
        "a token".clone_into(&mut item.name);
        let text = item.text("text", faults).map(Spanned::into_inner);
        let reasoning = item.text("reasoning", faults).map(Spanned::into_inner);
        if item.value("text").is_none() && item.value("reasoning").is_none() {
            faults.add(item.span.clone(), Problem::BareToken);
        }
        let repeat = item.count("repeat", 1, MAX_TOKENS, faults).unwrap_or(1);
        let room = MAX_TOKENS.saturating_sub(tokens.len() as u64);
        if repeat > room {
            too_many(item.span.clone(), faults);
        }
        item.finish(faults);
        let token = Chunk { text, reasoning };
        tokens.extend((0..repeat.min(room)).map(|_| token.clone()));
    }
    Some(tokens)
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

    #[test]
    fn generated_tokens_repeat_by_seed_and_keep_to_their_classes() {
        let tokens = generate(50, &["text", "reasoning"], Seed(1));
        assert_eq!(tokens, generate(50, &["text", "reasoning"], Seed(1)));
        assert_ne!(tokens, generate(50, &["text", "reasoning"], Seed(2)));
        assert!(tokens.iter().any(|t| t.text.is_some()) && tokens.iter().any(|t| t.reasoning.is_some()));
        assert!(generate(9, &["empty"], Seed(1)).iter().all(|t| t.text.as_deref() == Some("")));
    }
}
