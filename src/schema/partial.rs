//! Tables that are laid over others, and so state only what they change.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// The keys of a `T`, none of them required, on every level.
#[derive(Debug)]
pub struct Partial<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Partial<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Some{}", T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Partial<{}>", T::schema_id()).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        partial::<T>()
    }
}

/// The schema of [`Partial`], all of it in one place.
pub fn partial<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    if let Some(table) = schema.as_object_mut() {
        loosen(table);
    }
    schema
}

/// What is left out is as in the table below, and no default. An item of a list replaces the whole list and stays whole.
fn loosen(table: &mut serde_json::Map<String, Value>) {
    table.shift_remove("required");
    table.shift_remove("default");
    if let Some(Value::Object(properties)) = table.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            loosen(property);
        }
    }
    if let Some(Value::Object(values)) = table.get_mut("additionalProperties") {
        loosen(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Outer {
        inner: Inner,
        list: Vec<Inner>,
    }

    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Inner {
        a: u8,
    }

    #[test]
    fn nothing_is_required_but_in_the_items_of_a_list() {
        let schema = partial::<Outer>().to_value();
        let inner = &schema["properties"]["inner"];
        assert!(schema.get("required").is_none() && inner.get("required").is_none(), "{schema}");
        assert_eq!(schema["properties"]["list"]["items"]["required"][0], "a");
        assert_eq!(
            (&schema["additionalProperties"], &inner["additionalProperties"]),
            (&false.into(), &false.into())
        );
    }
}
