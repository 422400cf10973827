//! Small changes to a schema that the derive made.

use serde_json::Value;

/// Takes the links of rustdoc out of descriptions, as nobody can follow them outside of it, and the line breaks of the
/// source.
pub(super) fn descriptions(schema: &mut Value) {
    each(schema, &mut |table| {
        if let Some(Value::String(text)) = table.get_mut("description") {
            let paragraphs = text.split("\n\n").map(|lines| plain(&lines.replace('\n', " ")));
            *text = paragraphs.collect::<Vec<_>>().join("\n\n");
        }
    });
}

/// Takes away that a value may be `null`.
pub(super) fn without_null(schema: &mut Value) {
    let is_null = |value: &Value| value == "null" || value.get("type").is_some_and(|kind| kind == "null");
    each(schema, &mut |table| {
        if table.get("default").is_some_and(Value::is_null) {
            table.shift_remove("default");
        }
        if let Some(Value::Array(kinds)) = table.get_mut("type") {
            kinds.retain(|kind| !is_null(kind));
            if let [only] = &kinds[..] {
                let only = only.clone();
                table.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = table.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        let Some(Value::Array(choices)) = table.get_mut("anyOf") else { return };
        choices.retain(|choice| !is_null(choice));
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            table.shift_remove("anyOf");
            table.extend(only.into_iter().filter(|(key, _)| key != "description"));
        }
    });
}

/// Calls `change` with every table of the schema, inner ones last.
fn each(schema: &mut Value, change: &mut dyn FnMut(&mut serde_json::Map<String, Value>)) {
    match schema {
        Value::Object(table) => {
            change(table);
            for value in table.values_mut() {
                each(value, change);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        _ => {}
    }
}

/// `[`X`]` and `[`X`](path)` as `` `X` ``.
fn plain(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else { break };
        out.push_str(before);
        out.push('`');
        out.push_str(name.rsplit("::").next().unwrap_or(name));
        out.push('`');
        rest = match after.strip_prefix('(').and_then(|path| path.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_names() {
        assert_eq!(plain("see [`a::B`] and [`C`](super::C), not [d]"), "see `B` and `C`, not [d]");
        assert_eq!(plain("an open [`link"), "an open [`link");
    }
}
