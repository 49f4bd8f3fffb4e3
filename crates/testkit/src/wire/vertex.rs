use serde_json::{Value, json};

/// The models of a publisher.
pub(super) fn models(publisher: &str, names: &[String]) -> Value {
    let rows: Vec<_> = names
        .iter()
        .map(|name| json!({ "name": format!("publishers/{publisher}/models/{name}"), "versionId": "default" }))
        .collect();
    json!({ "publisherModels": rows })
}
