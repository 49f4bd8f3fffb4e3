use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn fields(text: &str) -> Value {
    Value::Object(parse(text).unwrap().fields)
}

#[test]
fn fields_and_body_are_told_apart() {
    let read = parse("---\nname: a\ntags: [x, y]\n---\n\nBody\n---\nmore\n").unwrap();
    assert_eq!(Value::Object(read.fields), json!({"name": "a", "tags": ["x", "y"]}));
    assert_eq!((read.body, read.by_line), ("\nBody\n---\nmore\n", None));
}

#[test]
fn a_bom_windows_line_ends_and_an_end_at_the_dashes_are_fine() {
    assert_eq!(fields("\u{feff}---\r\nname: a\r\n---\r\nx"), json!({"name": "a"}));
    let ends = parse("---\nname: a\n---").unwrap();
    assert_eq!((Value::Object(ends.fields), ends.body), (json!({"name": "a"}), ""));
    assert_eq!(fields("---\non: yes\n---\n"), json!({"on": "yes"}));
}

#[test]
fn a_colon_in_a_description_is_forgiven_with_a_warning() {
    let read = parse("---\nname: pdf\ndescription: Use for: forms\n---\nx").unwrap();
    assert_eq!(Value::Object(read.fields), json!({"name": "pdf", "description": "Use for: forms"}));
    assert!(!read.by_line.unwrap().is_empty());
}

#[test]
fn what_is_broken_or_hostile_is_an_error_and_quick() {
    assert_eq!(parse("# Title"), Err(FrontMatterError::Missing));
    assert_eq!(parse(""), Err(FrontMatterError::Missing));
    assert_eq!(parse("---\nname: a\n"), Err(FrontMatterError::Unclosed));
    let long = format!("---\nname: {}\n---\n", "x".repeat(20_000));
    assert_eq!(parse(&long), Err(FrontMatterError::TooLong { most: LONGEST }));
    let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let row = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{row}]\n"));
    }
    let deep = format!("---\na: {}{}\n---\n", "[".repeat(500), "]".repeat(500));
    for text in
        [&format!("{bomb}---\n"), &deep, "---\nname: a\nname: b\n---\n", "---\na:\n\tb: c\n---\n", "---\n- a\n---\n"]
    {
        assert!(matches!(parse(text), Err(FrontMatterError::Yaml(_))), "{text:.60}");
    }
}
