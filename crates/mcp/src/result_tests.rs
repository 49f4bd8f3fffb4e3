use bosun_model::{Abilities, ContentBlock};
use bosun_tools::{RESULT_CHARS, ToolOutput};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::output;

/// The smallest PNG there is.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn read(answer: Value, images: bool) -> ToolOutput {
    let abilities = Abilities { images, ..Abilities::default() };
    output("s__t", serde_json::from_value(answer).unwrap(), abilities)
}

fn texts(output: &ToolOutput) -> String {
    output.content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("|")
}

#[test]
fn text_and_structure_are_told_once() {
    let told = json!({ "content": [{ "type": "text", "text": "{\"a\": 1}" }], "structuredContent": { "a": 1 } });
    assert_eq!(texts(&read(told, false)), "{\"a\": 1}");
    let other = json!({ "content": [{ "type": "text", "text": "see below" }], "structuredContent": { "a": 1 } });
    assert_eq!(texts(&read(other, false)), "see below\n{\"a\":1}");
    for (text, structured) in [("written", json!({ "content": "written" })), ("5", json!({ "result": 5 }))] {
        let wrapped = json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structured });
        assert_eq!(texts(&read(wrapped, false)), text);
    }
    assert_eq!(texts(&read(json!({ "content": [] }), false)), "(the tool answered with nothing)");
}

#[test]
fn errors_of_the_tool_are_error_results() {
    let answer = json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true });
    let output = read(answer, false);
    assert!(output.is_error);
    assert_eq!(texts(&output), "no such file");
}

#[test]
fn pictures_come_where_the_model_takes_them_and_are_named_where_not() {
    let answer = || json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": PNG }] });
    assert!(matches!(read(answer(), true).content[..], [ContentBlock::Media(_)]));
    let named = texts(&read(answer(), false));
    assert!(named.contains("an image from s__t") && named.contains("takes no images"), "{named}");
    let broken = json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "%%%" }] });
    assert!(texts(&read(broken, true)).contains("no base64"));
    let lying = json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" }] });
    assert!(texts(&read(lying, true)).contains("is not shown"));
    let sound = json!({ "content": [{ "type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8=" }] });
    assert!(texts(&read(sound, true)).contains("this model takes no sound"));
}

#[test]
fn resources_are_told_with_their_address() {
    let answer = json!({ "content": [
        { "type": "resource", "resource": { "uri": "demo://1", "text": "inside" } },
        { "type": "resource", "resource": { "uri": "demo://2", "blob": "aGVsbG8=", "mimeType": "application/x-thing" } },
        { "type": "resource_link", "uri": "file:///a\u{1b}[31m", "name": "a", "description": "the a" },
    ] });
    let told = texts(&read(answer, true));
    assert!(told.starts_with("[resource demo://1]\ninside\n"), "{told}");
    assert!(told.contains("demo://2") && told.ends_with("[resource a at file:///a: the a]"), "{told}");
}

#[test]
fn a_flood_is_cut_and_kept_elsewhere() {
    let answer = json!({ "content": [{ "type": "text", "text": "漢".repeat(RESULT_CHARS + 5) }] });
    let output = read(answer, true);
    let told = texts(&output);
    assert!(told.chars().count() < RESULT_CHARS + 200 && told.contains("the rest is left out"));
    assert_eq!(output.full_output.unwrap().len(), 3 * (RESULT_CHARS as u64 + 5));
    let pieces: Vec<Value> = (0..1_000).map(|n| json!({ "type": "text", "text": n.to_string() })).collect();
    assert!(texts(&read(json!({ "content": pieces }), true)).ends_with("[900 more pieces of the answer are left out]"));
    let images: Vec<Value> =
        (0..30).map(|_| json!({ "type": "image", "mimeType": "image/png", "data": PNG })).collect();
    assert_eq!(read(json!({ "content": images }), true).content.len(), 11);
}

#[test]
fn nothing_acts_on_a_terminal() {
    let answer = json!({ "content": [{ "type": "text", "text": "\u{1b}]0;x\u{7}a\u{202e}b" }] });
    assert_eq!(texts(&read(answer, true)), "ab");
}
