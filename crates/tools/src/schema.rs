use bosun_backend::quoted;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// JSON Schema of `Input`: one object, no references, no dialect marker, nothing a model has no use for.
pub(crate) fn schema_of<Input: JsonSchema>(strict: bool) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<Input>().to_value();
    tidy(&mut schema);
    if let Value::Object(object) = &mut schema {
        object.remove("title");
        object.remove("description");
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        if strict {
            object.insert("additionalProperties".into(), Value::Bool(false));
        }
    }
    schema
}

/// Takes out number formats and the `null` of optional fields (they may be left out, and a `null` is dropped before
/// the arguments are read), so that what is left is what a model has to know.
fn tidy(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("format");
    // Doc comments are wrapped for the source, not for the reader.
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(tidy);
    }
    if let Some(items) = object.get_mut("items") {
        tidy(items);
    }
}

/// The first place where `args` do not fit `schema`, as half a sentence that names it. Covers what the schemas of this
/// crate say; what it lets through is still checked when the arguments are read.
pub(crate) fn first_problem(schema: &Value, args: &Value) -> Option<String> {
    object_problem("", schema, args.as_object()?)
}

/// The first list in `args` with more entries than `schema` allows. Nothing is built to find it, also where the list came as
/// text.
pub(crate) fn too_many(schema: &Value, args: &Value) -> Option<String> {
    many_in("", schema, args)
}

fn many_in(place: &str, schema: &Value, value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => length_problem(place, schema, items.len(), ["", "maxItems"]).or_else(|| {
            let of = schema.get("items")?;
            items.iter().enumerate().find_map(|(index, item)| many_in(&format!("{place}[{index}]"), of, item))
        }),
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object)?;
            properties.iter().find_map(|(name, wanted)| {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                many_in(&place, wanted, object.get(name)?)
            })
        }
        Value::String(text) if schema.get("maxItems").is_some() => {
            let entries: Vec<IgnoredAny> = serde_json::from_str(text.trim()).ok()?;
            length_problem(place, schema, entries.len(), ["", "maxItems"])
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn problem(place: &str, schema: &Value, value: &Value) -> Option<String> {
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !is_of(kind, value)
    {
        return Some(format!("'{place}' must be {}, not {}", in_words(kind), shown(value)));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        return Some(format!("'{place}' must be one of {}, not {}", names.join(", "), shown(value)));
    }
    match value {
        Value::Number(_) => number_problem(place, schema, value),
        Value::String(text) => length_problem(place, schema, text.chars().count(), ["minLength", "maxLength"]),
        Value::Array(items) => length_problem(place, schema, items.len(), ["minItems", "maxItems"]).or_else(|| {
            let of = schema.get("items")?;
            items.iter().enumerate().find_map(|(index, item)| problem(&format!("{place}[{index}]"), of, item))
        }),
        Value::Object(object) => object_problem(place, schema, object),
        Value::Null | Value::Bool(_) => None,
    }
}

fn object_problem(place: &str, schema: &Value, object: &Map<String, Value>) -> Option<String> {
    let at = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    let properties = schema.get("properties").and_then(Value::as_object);
    let unknown = object.keys().find(|name| !properties.is_some_and(|known| known.contains_key(*name)));
    let required = schema.get("required").and_then(Value::as_array);
    if let Some(name) =
        required.into_iter().flatten().filter_map(Value::as_str).find(|name| !object.contains_key(*name))
    {
        // The usual reason for a missing argument is that it was given under another name.
        let instead =
            unknown.map(|other| format!(" ('{}' is not an argument here)", quoted(&at(other)))).unwrap_or_default();
        return Some(format!("'{}' is missing{instead}", at(name)));
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false))
        && let Some(name) = unknown
    {
        let known: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        return Some(format!(
            "'{}' is not an argument of this tool, which takes {}",
            quoted(&at(name)),
            known.join(", ")
        ));
    }
    properties.into_iter().flatten().find_map(|(name, wanted)| problem(&at(name), wanted, object.get(name)?))
}

fn number_problem(place: &str, schema: &Value, value: &Value) -> Option<String> {
    let number = value.as_f64()?;
    if value.is_u64() && !value.is_i64() {
        return Some(format!("'{place}' is too large: {value}"));
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = bound("minimum")
        && number < least
    {
        return Some(format!("'{place}' must be at least {least}, not {value}"));
    }
    if let Some(most) = bound("maximum")
        && number > most
    {
        return Some(format!("'{place}' must be at most {most}, not {value}"));
    }
    None
}

fn length_problem(place: &str, schema: &Value, length: usize, [least, most]: [&str; 2]) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let of = if most == "maxItems" { "entries" } else { "characters" };
    if bound(least).is_some_and(|least| length < least) {
        return Some(if length == 0 {
            format!("'{place}' is empty")
        } else {
            format!("'{place}' has only {length} {of}")
        });
    }
    let most = bound(most).filter(|most| length > *most)?;
    Some(format!("'{place}' has {length} {of}, more than the {most} that are allowed"))
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn in_words(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}
