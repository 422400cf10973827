//! Reading a file of declarations as far as names go: exported types, fields, unions, imports.
//!
//! Made for what `@hey-api/openapi-ts` writes. It knows comments, strings and brackets, and no more of the language.

use std::collections::{BTreeMap, BTreeSet};

use super::{Generated, UnionMember};

/// The text without its comments.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if let Some(block) = rest.strip_prefix("/*") {
            Some(block.find("*/").map_or("", |end| &block[end + 2..]))
        } else if rest.starts_with("//") {
            Some(rest.find('\n').map_or("", |end| &rest[end..]))
        } else {
            None
        };
        if let Some(after) = skipped {
            out.push(' ');
            rest = after;
            continue;
        }
        let taken = if matches!(c, '\'' | '"' | '`') { string(rest) } else { c.len_utf8() };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// The bytes of the string that a text begins with, its quotes included.
fn string(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else { return 0 };
    let mut escaped = false;
    for (at, c) in chars {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The pieces of a text between separators that are in no bracket and no string.
fn split(text: &str, separators: &[char]) -> Vec<String> {
    let (mut depth, mut from, mut at) = (0_i32, 0, 0);
    let mut found = Vec::new();
    while let Some(c) = text[at..].chars().next() {
        let taken = if matches!(c, '\'' | '"' | '`') { string(&text[at..]) } else { c.len_utf8() };
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            c if depth == 0 && separators.contains(&c) => {
                found.push(text[from..at].trim().to_owned());
                from = at + taken;
            }
            _ => {}
        }
        at += taken;
    }
    found.push(text[from..].trim().to_owned());
    found.retain(|piece| !piece.is_empty());
    found
}

/// The exported types of a file without comments, as name and what stands behind the `=`.
pub(super) fn exported(text: &str) -> BTreeMap<String, String> {
    let declared = split(text, &[';']).into_iter().filter_map(|piece| {
        let piece = piece.strip_prefix("export type ")?;
        let (name, body) = piece.split_once('=')?;
        let name = name.trim();
        is_name(name).then(|| (name.to_owned(), body.trim().to_owned()))
    });
    declared.collect()
}

/// The names that a file imports from the generated one, each by its name there.
pub(super) fn imported(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for piece in split(text, &[';']) {
        let Some(rest) = piece.strip_prefix("import type ").or_else(|| piece.strip_prefix("import ")) else {
            continue;
        };
        let Some((names, from)) = rest.split_once("from") else { continue };
        if from.contains("/generated/") {
            let inner = names.trim().trim_start_matches('{').trim_end_matches('}');
            let own = inner.split(',').filter_map(|n| n.trim().split(' ').next()).filter(|n| is_name(n));
            found.extend(own.map(str::to_owned));
        }
    }
    found
}

/// The fields of a type that is an object.
pub(super) fn object(body: &str) -> Option<Generated> {
    let inner = body.strip_prefix('{')?.strip_suffix('}')?;
    let mut generated = Generated::default();
    for field in split(inner, &[';', ',']) {
        let Some((name, ty)) = field.split_once(':') else { continue };
        let name = name.trim().trim_start_matches("readonly ");
        let (name, required) = name.strip_suffix('?').map_or((name, true), |name| (name, false));
        let name = unquoted(name);
        if name == "kind" {
            generated.kind = literal(ty);
        }
        generated.fields.insert(name.to_owned(), required);
    }
    Some(generated)
}

/// The members of a type that is one of several.
pub(super) fn union(body: &str) -> Vec<UnionMember> {
    let member = |piece: String| {
        let piece = piece
            .trim()
            .strip_prefix('(')
            .and_then(|p| p.strip_suffix(')'))
            .map_or(piece.clone(), str::to_owned);
        let parts = split(&piece, &['&']);
        let name = parts.iter().find(|part| is_name(part))?.clone();
        let said = parts.iter().find_map(|part| object(part)?.kind);
        Some(UnionMember { name, said })
    };
    split(body, &['|']).into_iter().filter_map(member).collect()
}

fn literal(ty: &str) -> Option<String> {
    let ty = ty.trim();
    let bare = unquoted(ty);
    (bare.len() + 2 == ty.len()).then(|| bare.to_owned())
}

fn unquoted(text: &str) -> &str {
    let strip = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    strip('\'').or_else(|| strip('"')).unwrap_or(text)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
        /** export type No = { }; */
        export type Event = ({\n    kind: 'm__B-Output__1';\n} & B) | ({\n kind: 'A';\n} & A) | C;
        export type A = {\n    /**\n * Id; a name\n */\n id?: string;\n kind: 'A'; 'with-dash': Array<{ x: 1; }>; };
        export type B = { kind: 'B'; note: ';}' | null; }; // export type Z = {};
        export type C = string | null;
    ";

    #[test]
    fn types_fields_and_unions_are_found() {
        let types = exported(&without_comments(FILE));
        assert_eq!(types.keys().collect::<Vec<_>>(), ["A", "B", "C", "Event"]);
        let a = object(&types["A"]).unwrap();
        assert_eq!(a.kind.as_deref(), Some("A"));
        let fields: Vec<(&str, bool)> = a.fields.iter().map(|(n, r)| (n.as_str(), *r)).collect();
        assert_eq!(fields, [("id", false), ("kind", true), ("with-dash", true)]);
        assert_eq!(object(&types["B"]).unwrap().fields.len(), 2, "a string may hold brackets");
        assert!(object(&types["C"]).is_none());
        let union: Vec<(String, Option<String>)> =
            union(&types["Event"]).into_iter().map(|m| (m.name, m.said)).collect();
        let said = |s: &str| Some(s.to_owned());
        assert_eq!(
            union,
            [("B".into(), said("m__B-Output__1")), ("A".into(), said("A")), ("C".into(), None)]
        );
    }

    #[test]
    fn imports_count_by_their_name_in_the_generated_file() {
        let text = "import type { A as B, C } from '../generated/x.js'; import { D } from './other.js';";
        assert_eq!(imported(text).into_iter().collect::<Vec<_>>(), ["A", "C"]);
    }

    #[test]
    fn what_never_ends_is_read_to_the_end() {
        for text in ["/* open", "export type A = { kind: 'A", "export type = {", "'", "}}};;"] {
            let clean = without_comments(text);
            for body in exported(&clean).values() {
                let _ = (object(body), union(body));
            }
        }
    }
}
