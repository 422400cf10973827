//! A trait that a fact says, or the reason why none does.

use serde::de::DeserializeOwned;
use toml::Value;

use crate::live::extract::Package;
use crate::record::extract::{ExtractedProfile, ExtractedTrait, MissingTrait};

/// The value of a trait, or a sentence: why the fact does not say it.
pub(super) type Answer = Result<Value, String>;

/// A value that there is.
#[expect(clippy::unnecessary_wraps, reason = "it stands in lists beside answers that are none")]
pub(super) fn is(value: impl Into<Value>) -> Answer {
    Ok(value.into())
}

/// A list of words.
pub(super) fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Value {
    words.into_iter().map(Value::from).collect::<Vec<_>>().into()
}

/// The traits of one party, as they are read off its facts.
#[derive(Debug)]
pub(super) struct Claims<'p> {
    pub(super) package: &'p Package,
    traits: Vec<ExtractedTrait>,
    missing: Vec<MissingTrait>,
}

impl<'p> Claims<'p> {
    pub(super) fn of(package: &'p Package) -> Claims<'p> {
        Claims { package, traits: Vec::new(), missing: Vec::new() }
    }

    /// Reads one fact; `say` answers for each of the paths. A fact that is not there is the reason for all of them.
    pub(super) fn read<T: DeserializeOwned, const N: usize>(
        &mut self,
        fact: &str,
        paths: [&'static str; N],
        say: impl FnOnce(T) -> [Answer; N],
    ) {
        match self.package.fact::<T>(fact) {
            Ok((is, how)) => self.answer(paths, say(is), how),
            Err(why) => self.answer(paths, std::array::from_fn(|_| Err(why.clone())), ""),
        }
    }

    /// Notes answers, for each of the paths.
    pub(super) fn answer<const N: usize>(
        &mut self,
        paths: [&'static str; N],
        answers: [Answer; N],
        how: &str,
    ) {
        for (path, answer) in paths.into_iter().zip(answers) {
            let path = path.to_owned();
            match answer {
                Ok(value) => self.traits.push(ExtractedTrait { path, value, how: how.to_owned() }),
                Err(why) => self.missing.push(MissingTrait { path, why }),
            }
        }
    }

    /// Notes what nothing is asked for.
    pub(super) fn not_asked(&mut self, list: &[(&'static str, &str)]) {
        for (path, why) in list {
            self.answer([path], [Err((*why).to_owned())], "");
        }
    }

    pub(super) fn into_profile(mut self, name: String, extends: String) -> ExtractedProfile {
        self.traits.sort_by(|a, b| a.path.cmp(&b.path));
        self.missing.sort_by(|a, b| a.path.cmp(&b.path));
        ExtractedProfile { name, extends, traits: self.traits, missing: self.missing }
    }
}
