use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::{canonical, usable};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn references_are_filled_in() {
    let raw = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "where": { "$ref": "#/$defs/Place" } },
        "$defs": { "Place": { "type": "string", "description": "A \u{1b}[31mplace\u{202e}" } },
        "required": ["where"],
        "anyOf": [{ "required": ["where"] }]
    });
    let expected = json!({
        "type": "object",
        "properties": { "where": { "type": "string", "description": "A place" } },
        "required": ["where"]
    });
    assert_eq!(usable(&object(raw)), Ok(expected));
}

#[test]
fn a_schema_without_anything_takes_nothing() {
    assert_eq!(usable(&Map::new()), Ok(json!({ "type": "object", "properties": {} })));
}

#[test]
fn a_type_that_holds_itself_ends() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } });
    let raw =
        json!({ "type": "object", "properties": { "list": { "$ref": "#/$defs/Node" } }, "$defs": { "Node": node } });
    let schema = usable(&object(raw)).unwrap().to_string();
    assert!(!schema.contains("$ref") && schema.len() < 4_000, "{schema}");
}

#[test]
fn references_that_multiply_are_refused() {
    let mut defs = Map::new();
    for level in 0..14 {
        let below = json!({ "$ref": format!("#/$defs/L{}", level + 1) });
        defs.insert(format!("L{level}"), json!({ "type": "object", "properties": { "a": below, "b": below } }));
    }
    defs.insert("L14".into(), json!({ "type": "string" }));
    let raw = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/L0" }, "y": { "$ref": "#/$defs/L0" } },
                      "$defs": defs });
    let deep = usable(&object(raw));
    // Either bounded or refused, never millions of parts.
    assert!(deep.as_ref().is_err() || deep.unwrap().to_string().len() < 400_000);
    let wide: Map<String, Value> = (0..600).map(|n| (format!("a{n}"), json!({ "$ref": "#/$defs/W" }))).collect();
    let many: Map<String, Value> = (0..20).map(|n| (format!("b{n}"), json!({ "type": "string" }))).collect();
    let raw = json!({ "type": "object", "properties": wide, "$defs": { "W": { "properties": many } } });
    assert!(usable(&object(raw)).unwrap_err().to_string().contains("parts"));
}

#[test]
fn what_a_provider_would_refuse_is_refused_here() {
    let large = json!({ "type": "object", "description": "x".repeat(70_000) });
    assert!(usable(&object(large)).unwrap_err().to_string().contains("over the limit"));
    assert!(usable(&object(json!({ "type": "array" }))).unwrap_err().to_string().contains("not an object"));
    for name in ["", "a b", "a\u{202e}b", "é", &"x".repeat(65)] {
        let raw = json!({ "type": "object", "properties": { name: {} } });
        assert!(usable(&object(raw)).unwrap_err().to_string().contains("name that models cannot use"), "{name}");
    }
}

#[test]
fn the_order_of_keys_makes_no_difference() {
    let (one, two) = (json!({ "b": [{ "y": 1, "x": 2 }], "a": 0 }), json!({ "a": 0, "b": [{ "x": 2, "y": 1 }] }));
    assert_eq!(canonical(&one).to_string(), canonical(&two).to_string());
}
