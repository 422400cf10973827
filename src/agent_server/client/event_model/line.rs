//! One field line of the vocabulary: `content?: str? since 1.18.1`.

use super::types::{Field, Type};
use crate::agent_server::profile::nearest;
use crate::unit::Release;

/// A field with the releases that have it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    field: Field,
    also_since: Option<Release>,
    since: Option<Release>,
    until: Option<Release>,
}

/// What a name in a type stands for.
#[derive(Debug, Clone)]
pub(super) enum Named {
    /// The model of that number.
    Model(usize),
    /// The family of that number.
    Family(usize),
    /// A type that was given a name.
    Alias(Type),
}

/// Every name that a type may use.
pub(super) type Names = std::collections::BTreeMap<String, Named>;

impl Line {
    /// Reads a line. The error is a lower-case fragment.
    pub(super) fn read(text: &str, names: &Names) -> Result<Line, String> {
        let (name, rest) = text.split_once(": ").ok_or("expected `name: type`")?;
        let mut words = rest.split_whitespace();
        let ty = read_type(words.next().ok_or("expected a type after `: `")?, names)?;
        let field = Field {
            name: name.trim_end_matches('?').into(),
            also: None,
            required: !name.ends_with('?'),
            or_null: false,
            or_str: false,
            ty,
        };
        let mut line = Line { field, also_since: None, since: None, until: None };
        while let Some(word) = words.next() {
            match word {
                "or-null" => line.field.or_null = true,
                "or-str" => line.field.or_str = true,
                "or" => line.field.also = Some(words.next().ok_or("expected a name after `or`")?.into()),
                "from" => line.also_since = Some(release(words.next())?),
                "since" => line.since = Some(release(words.next())?),
                "until" => line.until = Some(release(words.next())?),
                other => {
                    let hint =
                        nearest(other, ["or", "or-null", "or-str", "from", "since", "until"].into_iter());
                    return Err(format!("`{other}` means nothing after a type{hint}"));
                }
            }
        }
        Ok(line)
    }

    /// The field as `release` has it, if it has it.
    pub(super) fn at(&self, release: &Release) -> Option<Field> {
        let begun = |since: &Option<Release>| since.as_ref().is_none_or(|r| release.at_least(r));
        let over = self.until.as_ref().is_some_and(|r| release.at_least(r));
        if !begun(&self.since) || over {
            return None;
        }
        let mut field = self.field.clone();
        field.also = field.also.filter(|_| begun(&self.also_since));
        Some(field)
    }
}

fn release(word: Option<&str>) -> Result<Release, String> {
    let word = word.ok_or("expected a release")?;
    word.parse().map_err(|e| format!("`{word}` is no release: {e}"))
}

/// Reads a type such as `list<TextContent|ImageContent>?`.
pub(super) fn read_type(text: &str, names: &Names) -> Result<Type, String> {
    if let Some(inner) = text.strip_suffix('?') {
        return Ok(Type::Nullable(Box::new(read_type(inner, names)?)));
    }
    let members = split(text, '|');
    if members.len() > 1 {
        let members: Result<_, _> = members.into_iter().map(|m| read_type(m, names)).collect();
        return Ok(Type::Union(members?));
    }
    if let Some((head, inner)) = text.strip_suffix('>').and_then(|t| t.split_once('<')) {
        if head == "kind" {
            return match names.get(inner) {
                Some(Named::Family(family)) => Ok(Type::KindName(*family)),
                _ => Err(format!("`{inner}` is no family")),
            };
        }
        let inner = Box::new(read_type(inner, names)?);
        return match head {
            "list" => Ok(Type::List(inner)),
            "seq" => Ok(Type::Seq(inner)),
            "set" => Ok(Type::Set(inner)),
            "dict" => Ok(Type::Dict(inner)),
            _ => Err(format!("`{head}` holds nothing; list, seq, set, dict and kind do")),
        };
    }
    if let Some((head, inside)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        let words = || inside.split('|').map(Into::into).collect();
        return match head {
            "one_of" => Ok(Type::OneOf(words())),
            "enum" => Ok(Type::Enum(words())),
            _ => bounded(head, inside),
        };
    }
    plain(text, names)
}

const BUILT_IN: [&str; 8] = ["any", "str", "bool", "int", "float", "dict", "instance", "class"];

fn plain(text: &str, names: &Names) -> Result<Type, String> {
    Ok(match text {
        "any" => Type::Any,
        "str" => Type::Str,
        "bool" => Type::Bool,
        "int" => Type::Int(None),
        "float" => Type::Float(None, None),
        "dict" => Type::Dict(Box::new(Type::Any)),
        "instance" => Type::Instance,
        "class" => Type::Class,
        name => match names.get(name) {
            Some(Named::Model(model)) => Type::Model(*model),
            Some(Named::Family(family)) => Type::Family(*family),
            Some(Named::Alias(alias)) => alias.clone(),
            None => {
                let hint = nearest(name, BUILT_IN.into_iter().chain(names.keys().map(String::as_str)));
                return Err(format!("`{name}` is no type{hint}"));
            }
        },
    })
}

/// `int(min=0)` and the like.
fn bounded(head: &str, inside: &str) -> Result<Type, String> {
    let (mut min, mut max, mut not) = (None, None, None);
    for bound in inside.split(',') {
        match bound.split_once('=') {
            Some(("min", n)) => min = Some(n),
            Some(("max", n)) => max = Some(n),
            Some(("not", word)) => not = Some(word),
            _ => return Err(format!("`{bound}` is no bound; min=, max= and not= are")),
        }
    }
    let bad = |e: &dyn std::fmt::Display| format!("`{head}({inside})`: {e}");
    match (head, min, max, not) {
        ("str", Some(n), None, None) => Ok(Type::LongStr(n.parse().map_err(|e| bad(&e))?)),
        ("str", None, None, Some(word)) => Ok(Type::StrExcept(word.into())),
        ("int", Some(n), None, None) => Ok(Type::Int(Some(n.parse().map_err(|e| bad(&e))?))),
        ("float", min, max, None) => {
            let float = |n: Option<&str>| n.map(str::parse).transpose().map_err(|e| bad(&e));
            Ok(Type::Float(float(min)?, float(max)?))
        }
        _ => Err(bad(&"no such bounds")),
    }
}

/// Splits at `sep` outside brackets.
fn split(text: &str, sep: char) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c| {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        c == sep && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        [("Text".into(), Named::Model(3)), ("Action".into(), Named::Family(1))].into()
    }

    fn ty(text: &str) -> Result<Type, String> {
        read_type(text, &names())
    }

    #[test]
    fn types_nest() {
        let words = |w: &str| Type::OneOf(w.split('|').map(Into::into).collect());
        assert_eq!(ty("one_of(a|b)"), Ok(words("a|b")));
        assert_eq!(ty("list<one_of(a|b)>?"), Ok(Type::Nullable(Box::new(Type::List(words("a|b").into())))));
        assert_eq!(
            ty("Text|dict<int>"),
            Ok(Type::Union([Type::Model(3), Type::Dict(Type::Int(None).into()),].into()))
        );
        assert_eq!(ty("kind<Action>?"), Ok(Type::Nullable(Type::KindName(1).into())));
        assert_eq!(ty("float(min=0,max=1)"), Ok(Type::Float(Some(0.0), Some(1.0))));
    }

    #[test]
    fn wrong_types_say_what_is_wrong() {
        for (bad, word) in [
            ("Txet", "did you mean `Text`"),
            ("tuple<int>", "`tuple` holds nothing"),
            ("int(min=x)", "int(min=x)"),
            ("int(most=1)", "`most=1` is no bound"),
            ("kind<Text>", "`Text` is no family"),
        ] {
            assert!(ty(bad).unwrap_err().contains(word), "{bad}: {:?}", ty(bad));
        }
    }

    #[test]
    fn a_line_holds_from_since_until_until() {
        let line = Line::read("a?: str or b from 1.3.0 since 1.2.0 until 1.4.0", &names()).unwrap();
        let at = |r: &str| line.at(&r.parse().unwrap());
        assert!(at("1.1.9").is_none() && at("1.4.0").is_none());
        assert_eq!(at("1.2.0").unwrap().also, None);
        assert_eq!(at("1.3.9+AB").unwrap().also.as_deref(), Some("b"));
        assert!(!at("1.2.0").unwrap().required);
        let text = Line::read("a: str sicne 1.2.0", &names()).unwrap_err();
        assert!(text.contains("did you mean `since`"), "{text}");
    }
}
