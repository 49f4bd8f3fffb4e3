//! Argument schemas of servers, made into what every provider takes: one object, no references, bounded.

use serde_json::{Map, Value, json};

use crate::left_out::ToolFault;
use crate::text;

/// Largest schema, in bytes of its JSON.
const LARGEST: usize = 64 * 1024;
const DEEPEST: usize = 16;
/// Parts that a schema may come to once its references are filled in.
const MOST_PARTS: usize = 4_000;
const LONGEST_TEXT: usize = 2_000;
const LONGEST_NAME: usize = 64;

/// The schema as a model is told of it, or why it cannot be.
pub(crate) fn usable(raw: &Map<String, Value>) -> Result<Value, ToolFault> {
    let root = Value::Object(raw.clone());
    let size = root.to_string().len();
    if size > LARGEST {
        return Err(ToolFault::TooLarge { bytes: size, most: LARGEST });
    }
    let mut walk = Walk { root: &root, parts: 0, odd: None };
    let walked = walk.part(&root, 0);
    if let Some(name) = walk.odd {
        return Err(ToolFault::Argument { name });
    }
    let Some(Value::Object(mut schema)) = walked else {
        return Err(ToolFault::TooDeep { most: MOST_PARTS });
    };
    for word in ["$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"] {
        // Providers take these inside only; the server checks the arguments by them anyway.
        schema.remove(word);
    }
    match schema.get("type") {
        None => {
            schema.insert("type".into(), json!("object"));
        }
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => return Err(ToolFault::NoObject { found: other.to_string() }),
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".into(), json!({}));
    }
    let names = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    match names.into_iter().find(|name| !is_argument(name)) {
        Some(name) => Err(ToolFault::Argument { name: text::line(name, 80) }),
        None => Ok(Value::Object(schema)),
    }
}

fn is_argument(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits)
}

struct Walk<'a> {
    root: &'a Value,
    parts: usize,
    /// A name that shows as another one.
    odd: Option<String>,
}

impl Walk<'_> {
    /// A part with its references filled in and its texts cleaned; `None` where it goes beyond the bounds.
    fn part(&mut self, value: &Value, depth: usize) -> Option<Value> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return None;
        }
        if depth > DEEPEST {
            // A type that holds itself: below here anything goes, and the server checks.
            return Some(json!({}));
        }
        match value {
            Value::Object(object) => match object.get("$ref") {
                Some(Value::String(place)) => {
                    let found = place.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
                    match found.cloned() {
                        Some(found) => self.part(&found, depth + 1),
                        None => Some(json!({})),
                    }
                }
                _ => self.object(object, depth),
            },
            Value::Array(items) => {
                items.iter().map(|item| self.part(item, depth + 1)).collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::String(text) => Some(Value::String(text::clean(text, LONGEST_TEXT))),
            other => Some(other.clone()),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, depth: usize) -> Option<Value> {
        let mut out = Map::with_capacity(object.len());
        for (key, value) in object {
            let dropped = depth == 0 && matches!(key.as_str(), "$defs" | "definitions")
                || matches!(key.as_str(), "$schema" | "$id" | "$comment" | "$anchor");
            if dropped {
                continue;
            }
            if key.chars().any(text::is_hidden) {
                // Cleaned, it would be another argument than the server's.
                self.odd = Some(text::line(key, LONGEST_NAME));
                return None;
            }
            out.insert(key.clone(), self.part(value, depth + 1)?);
        }
        Some(Value::Object(out))
    }
}

/// JSON with the keys of every object in order, so that the same content always has the same bytes.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort();
            keys.into_iter()
                .filter_map(|key| Some((key.clone(), canonical(object.get(key)?))))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
