use serde_json::{Map, Value};

/// Words of JSON Schema that no strict schema may have.
const FOREIGN: [&str; 11] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "prefixItems",
    "unevaluatedProperties",
];

/// Whether the vendor takes `schema` as a strict one: each of its objects names all of its fields and wants every one. Any
/// other is refused with `strict`, and without it the reply is held to it as well as the model can.
pub(crate) fn takes_strictly(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") && is_strict(schema)
}

fn is_strict(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return false };
    if FOREIGN.iter().any(|word| fields.contains_key(*word)) || !names_all(fields) {
        return false;
    }
    let below = |word: &str| fields.get(word).and_then(Value::as_object).into_iter().flat_map(Map::values);
    let either = fields.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let all = below("properties").chain(below("$defs")).chain(either).chain(fields.get("items"));
    all.into_iter().all(is_strict)
}

/// Whether a schema that may be of an object lets it have just its fields, and all of them.
fn names_all(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("type");
    let is_object =
        |kind: &Value| kind == "object" || kind.as_array().is_some_and(|kinds| kinds.contains(&"object".into()));
    if !kind.is_some_and(is_object) && !fields.contains_key("properties") {
        return true;
    }
    let wanted = fields.get("required").and_then(Value::as_array);
    let is_wanted = |name: &String| wanted.is_some_and(|wanted| wanted.iter().any(|one| one == name));
    let named = fields.get("properties").and_then(Value::as_object);
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && named.is_some_and(|named| named.keys().all(is_wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(properties: Value, required: &[&str]) -> Value {
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    #[test]
    fn only_schemas_that_want_every_field_and_no_other_are_strict() {
        let text = json!({ "type": "string", "enum": ["a", "b"] });
        let inner = object(json!({ "x": { "type": ["string", "null"] } }), &["x"]);
        let strict = object(json!({ "a": text, "b": { "type": "array", "items": inner } }), &["a", "b"]);
        assert!(takes_strictly(&strict));
        assert!(takes_strictly(&object(json!({ "a": { "anyOf": [text, inner] } }), &["a"])));
        let loose = json!({ "type": "object", "properties": { "a": text }, "required": ["a"] });
        let wrong = [
            json!({ "type": "object" }),
            loose.clone(),
            json!({ "type": "array", "items": inner }),
            object(json!({ "a": text }), &[]),
            object(json!({ "a": { "type": "array", "items": loose } }), &["a"]),
            object(json!({ "a": { "anyOf": [text, loose] } }), &["a"]),
            object(json!({ "a": { "oneOf": [text] } }), &["a"]),
            object(json!({ "a": { "type": ["object", "null"] } }), &["a"]),
            object(json!({ "a": true }), &["a"]),
        ];
        for schema in wrong {
            assert!(!takes_strictly(&schema), "{schema}");
        }
    }
}
