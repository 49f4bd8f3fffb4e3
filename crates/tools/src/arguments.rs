use bosun_model::ToolSpec;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Arguments that do not fit a tool's schema; reads as the sentence the model gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Error invoking tool '{tool}': {reason}. Fix the arguments and call it again.")]
pub struct ArgumentError {
    pub tool: String,
    pub reason: String,
}

/// JSON Schema of `Input`: one object, no references, no dialect marker.
pub(crate) fn schema_of<Input: JsonSchema>(strict: bool) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<Input>().to_value();
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

/// Checks and reads `args`. Unknown arguments are ignored unless `strict`; numeric strings are taken as numbers
/// (behaviour.md 1.4).
pub(crate) fn parse<Input: DeserializeOwned>(
    spec: &ToolSpec,
    strict: bool,
    args: &Value,
) -> Result<Input, ArgumentError> {
    let fail = |reason: String| ArgumentError { tool: spec.name.clone(), reason };
    let Some(object) = args.as_object() else {
        return Err(fail("the arguments must be a JSON object".into()));
    };
    let properties = spec.schema.get("properties").and_then(Value::as_object);
    if strict && let Some(extra) = object.keys().find(|key| !properties.is_some_and(|known| known.contains_key(*key))) {
        return Err(fail(format!("'{extra}' is not an argument of this tool")));
    }
    serde_path(coerced(&spec.schema, args)).map_err(fail)
}

fn serde_path<Input: DeserializeOwned>(args: Value) -> Result<Input, String> {
    serde_json::from_value(args).map_err(|error| error.to_string())
}

/// `args` with strings read as numbers or booleans wherever `schema` wants those, and `null` dropped where the field
/// may be left out.
pub(crate) fn coerced(schema: &Value, args: &Value) -> Value {
    let (Some(properties), Some(object)) = (schema.get("properties").and_then(Value::as_object), args.as_object())
    else {
        return args.clone();
    };
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    object
        .iter()
        .filter(|(name, value)| !value.is_null() || required(name) || !properties.contains_key(*name))
        .map(|(name, value)| {
            let value = properties.get(name).map_or_else(|| value.clone(), |wanted| coerce_one(wanted, value));
            (name.clone(), value)
        })
        .collect::<Map<_, _>>()
        .into()
}

fn coerce_one(schema: &Value, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let wants = |name: &str| match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    };
    if wants("string") {
        return value.clone();
    }
    let text = text.trim();
    if wants("integer")
        && let Ok(number) = text.parse::<i64>()
    {
        return number.into();
    }
    if wants("number")
        && let Ok(number) = text.parse::<f64>()
    {
        return serde_json::Number::from_f64(number).map_or_else(|| value.clone(), Value::Number);
    }
    match text {
        "true" if wants("boolean") => Value::Bool(true),
        "false" if wants("boolean") => Value::Bool(false),
        _ => value.clone(),
    }
}
