use bosun_backend::quoted;
use bosun_model::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::schema;

/// Arguments that do not fit a tool's schema; reads as the sentence the model gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Error invoking tool '{tool}': {reason}. Fix the arguments and call it again.")]
pub struct ArgumentError {
    pub tool: String,
    /// Names the argument and says what is wrong with it.
    pub reason: String,
}

/// Checks and reads `args`. Unknown arguments are ignored unless the schema forbids them; numeric strings are taken as
/// numbers (behaviour.md 1.4).
pub(crate) fn parse<Input: DeserializeOwned>(spec: &ToolSpec, args: &Value) -> Result<Input, ArgumentError> {
    let args = fitting(spec, args)?;
    serde_json::from_value(args).map_err(|error| unread(spec, &error))
}

/// Checks `args` as [`parse`] does, and gives them back as they would be run.
pub(crate) fn validated<Input: DeserializeOwned>(spec: &ToolSpec, args: &Value) -> Result<Value, ArgumentError> {
    let args = fitting(spec, args)?;
    Input::deserialize(&args).map_err(|error| unread(spec, &error))?;
    Ok(args)
}

/// `args` as the schema means them, where they fit it.
fn fitting(spec: &ToolSpec, args: &Value) -> Result<Value, ArgumentError> {
    let fail = |reason: String| ArgumentError { tool: spec.name.clone(), reason };
    if !args.is_object() {
        return Err(fail("the arguments must be a JSON object".into()));
    }
    // Before anything is built from them.
    if let Some(problem) = schema::too_many(&spec.schema, args) {
        return Err(fail(problem));
    }
    let args = coerced(&spec.schema, args);
    match schema::first_problem(&spec.schema, &args) {
        Some(problem) => Err(fail(problem)),
        None => Ok(args),
    }
}

fn unread(spec: &ToolSpec, error: &serde_json::Error) -> ArgumentError {
    ArgumentError { tool: spec.name.clone(), reason: quoted(&error.to_string()).into_owned() }
}

/// Checks `args` against `spec.schema` and gives them back as they would be run (text read as numbers where numbers are
/// wanted, and so on), for tools that are no [`crate::Tool`].
///
/// # Errors
/// [`ArgumentError`] for the first place that does not fit.
pub fn checked_arguments(spec: &ToolSpec, args: &Value) -> Result<Value, ArgumentError> {
    fitting(spec, args)
}

/// `value` as `schema` means it: text read as a number, a boolean, a list or an object where one of those is wanted and
/// text is not, whole floats read as whole numbers, and `null` dropped where the field may be left out.
pub(crate) fn coerced(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(object) => coerced_object(schema, object),
        Value::Array(items) => match schema.get("items") {
            Some(of) => items.iter().map(|item| coerced(of, item)).collect(),
            None => value.clone(),
        },
        Value::String(text) => from_text(schema, text).unwrap_or_else(|| value.clone()),
        Value::Number(number) if wants(schema, "integer") => {
            number.as_f64().filter(|_| number.is_f64()).and_then(whole).map_or_else(|| value.clone(), Value::from)
        }
        other => other.clone(),
    }
}

fn coerced_object(schema: &Value, object: &Map<String, Value>) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Value::Object(object.clone());
    };
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    object
        .iter()
        .filter(|(name, value)| !value.is_null() || required(name) || !properties.contains_key(*name))
        .map(|(name, value)| {
            let value = properties.get(name).map_or_else(|| value.clone(), |wanted| coerced(wanted, value));
            (name.clone(), value)
        })
        .collect::<Map<_, _>>()
        .into()
}

fn from_text(schema: &Value, text: &str) -> Option<Value> {
    if wants(schema, "string") {
        return None;
    }
    let text = text.trim();
    if wants(schema, "integer") {
        return text.parse::<i64>().ok().or_else(|| text.parse().ok().and_then(whole)).map(Value::from);
    }
    if wants(schema, "number") {
        return text.parse().ok().and_then(Number::from_f64).map(Value::Number);
    }
    if wants(schema, "boolean") {
        return match text {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        };
    }
    // Some models write a nested value as text.
    let nested: Value = serde_json::from_str(text).ok()?;
    let fits = nested.is_array() && wants(schema, "array") || nested.is_object() && wants(schema, "object");
    fits.then(|| coerced(schema, &nested))
}

/// `number` as an integer where it is one and exact.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

fn wants(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(wanted)) => wanted == kind,
        Some(Value::Array(wanted)) => wanted.iter().any(|wanted| wanted == kind),
        // A choice of words (`enum`) is text.
        _ => kind == "string" && schema.get("enum").is_some(),
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
