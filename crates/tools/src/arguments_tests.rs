use bosun_model::ToolSpec;
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{coerced, parse};
use crate::schema::schema_of;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Input {
    /// What to look for.
    pattern: String,
    #[serde(default)]
    offset: i64,
    limit: Option<u32>,
    #[serde(default)]
    deep: bool,
    ratio: Option<f64>,
    mode: Option<Mode>,
    #[serde(default)]
    #[schemars(length(max = 3))]
    items: Vec<Item>,
    #[schemars(range(min = 1, max = 10))]
    count: Option<u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    First,
    Second,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    name: String,
    size: Option<u32>,
}

fn spec(strict: bool) -> ToolSpec {
    ToolSpec { name: "probe".into(), description: String::new(), schema: schema_of::<Input>(strict) }
}

fn read(args: Value) -> Result<Input, String> {
    parse(&spec(false), &args).map_err(|error| error.reason)
}

fn input(pattern: &str) -> Input {
    Input {
        pattern: pattern.into(),
        offset: 0,
        limit: None,
        deep: false,
        ratio: None,
        mode: None,
        items: vec![],
        count: None,
    }
}

#[test]
fn the_schema_says_only_what_a_model_needs() {
    let schema = schema_of::<Input>(true);
    assert_eq!(
        schema["properties"],
        json!({
            "pattern": { "description": "What to look for.", "type": "string" },
            "offset": { "type": "integer", "default": 0 },
            "limit": { "type": "integer", "minimum": 0 },
            "deep": { "type": "boolean", "default": false },
            "ratio": { "type": "number" },
            "mode": { "type": "string", "enum": ["first", "second"] },
            "items": {
                "type": "array", "maxItems": 3,
                "items": {
                    "type": "object",
                    "properties": { "name": { "type": "string" }, "size": { "type": "integer", "minimum": 0 } },
                    "required": ["name"]
                }
            },
            "count": { "type": "integer", "minimum": 1, "maximum": 10 },
        })
    );
    assert_eq!(schema["required"], json!(["pattern"]));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn numeric_text_is_taken_as_a_number_and_nothing_else_is() {
    for (given, wanted) in [(json!("5"), 5), (json!(" 7 "), 7), (json!(-3), -3), (json!(4.0), 4), (json!("6.0"), 6)] {
        assert_eq!(read(json!({"pattern": "x", "offset": given})).map(|input| input.offset), Ok(wanted), "{given}");
    }
    for (given, shown) in
        [(json!(1.5), "1.5"), (json!("1.5"), "\"1.5\""), (json!("five"), "\"five\""), (json!(true), "true")]
    {
        let reason = format!("'offset' must be a whole number, not {shown}");
        assert_eq!(read(json!({"pattern": "x", "offset": given})).map(|input| input.offset), Err(reason));
    }
    assert_eq!(read(json!({"pattern": "5"})), Ok(input("5")), "text stays text where text is wanted");
    assert_eq!(read(json!({"pattern": "x", "ratio": "0.5"})), Ok(Input { ratio: Some(0.5), ..input("x") }));
    assert_eq!(read(json!({"pattern": "x", "deep": "true"})), Ok(Input { deep: true, ..input("x") }));
    assert!(read(json!({"pattern": "x", "offset": 1e300})).is_err());
    let large = read(json!({"pattern": "x", "offset": u64::MAX})).unwrap_err();
    assert_eq!(large, "'offset' is too large: 18446744073709551615");
}

#[test]
fn null_means_left_out() {
    let args = json!({"pattern": "x", "limit": null, "offset": null, "deep": null, "items": null, "mode": null});
    assert_eq!(read(args.clone()), Ok(input("x")));
    assert_eq!(coerced(&spec(false).schema, &args), json!({"pattern": "x"}));
    assert_eq!(read(json!({"pattern": null})), Err("'pattern' must be text, not null".into()));
}

#[test]
fn an_error_names_the_field() {
    for (args, reason) in [
        (json!({}), "'pattern' is missing"),
        (json!({"query": "x"}), "'pattern' is missing ('query' is not an argument here)"),
        (json!({"pattern": 5}), "'pattern' must be text, not 5"),
        (json!({"pattern": ["a"]}), "'pattern' must be text, not [\"a\"]"),
        (json!({"pattern": "x", "mode": "bogus"}), "'mode' must be one of first, second, not \"bogus\""),
        (json!({"pattern": "x", "limit": -1}), "'limit' must be at least 0, not -1"),
        (json!({"pattern": "x", "count": 0}), "'count' must be at least 1, not 0"),
        (json!({"pattern": "x", "count": 11}), "'count' must be at most 10, not 11"),
        (json!({"pattern": "x", "items": [{"name": "a"}, {"size": 1}]}), "'items[1].name' is missing"),
        (
            json!({"pattern": "x", "items": [{"name": "a", "size": "b"}]}),
            "'items[0].size' must be a whole number, not \"b\"",
        ),
        (json!({"pattern": "x", "items": [1]}), "'items[0]' must be an object, not 1"),
        (
            json!({"pattern": "x", "items": [{"name":"a"},{"name":"a"},{"name":"a"},{"name":"a"}]}),
            "'items' has 4 entries, more than the 3 that are allowed",
        ),
    ] {
        assert_eq!(read(args), Err(reason.into()));
    }
    let long = read(json!({"pattern": "x", "offset": "y".repeat(500)})).unwrap_err();
    assert!(long.len() < 120, "{long}");
    let whole = parse::<Input>(&spec(false), &json!([1])).unwrap_err().to_string();
    assert_eq!(
        whole,
        "Error invoking tool 'probe': the arguments must be a JSON object. Fix the arguments and call it again."
    );
}

#[test]
fn unknown_arguments_are_ignored_unless_the_tool_is_strict() {
    let args = json!({"pattern": "x", "colour": "red"});
    assert_eq!(read(args.clone()), Ok(input("x")));
    let refused = parse::<Input>(&spec(true), &args).unwrap_err().reason;
    assert!(refused.starts_with("'colour' is not an argument of this tool, which takes pattern, offset"), "{refused}");
}

/// Nothing is built of a list that is too long, however it is written.
#[test]
fn a_list_with_too_many_entries_is_counted_before_it_is_read() {
    let many = json!([1, "two", {"no": "item"}, null]);
    let expected = Err("'items' has 4 entries, more than the 3 that are allowed".to_owned());
    assert_eq!(read(json!({"pattern": "x", "items": many})), expected);
    assert_eq!(read(json!({"pattern": "x", "items": many.to_string()})), expected);
    // What else is wrong with them is said where there are few enough.
    let few = read(json!({"pattern": "x", "items": [1]})).unwrap_err();
    assert!(few.contains("'items[0]' must be an object"), "{few}");
}

#[test]
fn nested_values_written_as_text_are_read() {
    let args = json!({"pattern": "x", "items": "[{\"name\": \"a\", \"size\": \"3\"}]"});
    assert_eq!(read(args), Ok(Input { items: vec![Item { name: "a".into(), size: Some(3) }], ..input("x") }));
    assert_eq!(
        read(json!({"pattern": "x", "items": "no list"})),
        Err("'items' must be a list, not \"no list\"".into())
    );
}
