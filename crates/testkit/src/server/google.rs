//! The token endpoint of an authorization server, as Google's answers a program that a person once let in.

use serde_json::{Value, json};

use super::http::Request;

/// The only refresh token that is worth anything here.
pub const GOOGLE_REFRESH_TOKEN: &str = "1//canary-refresh-0123456789";

/// Status and body for a request of a token. `access` is the one that is handed out.
pub(super) fn answer(request: &Request, access: &str) -> (u16, Value) {
    let asked = fields(request);
    let field = |name: &str| asked.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let denied = |reason: &str| (400, json!({ "error": "invalid_grant", "error_description": reason }));
    match (field("grant_type"), field("refresh_token")) {
        (Some("refresh_token"), Some(GOOGLE_REFRESH_TOKEN)) => {
            (200, json!({ "access_token": access, "expires_in": 3_599, "token_type": "Bearer" }))
        }
        (Some("refresh_token"), _) => denied("Token has been expired or revoked."),
        _ => denied("the grant is none that this server knows"),
    }
}

/// The fields of a form, or of JSON: the vendor takes both.
fn fields(request: &Request) -> Vec<(String, String)> {
    let body = String::from_utf8_lossy(&request.body);
    if let Ok(Value::Object(fields)) = serde_json::from_str(&body) {
        return fields.into_iter().map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned())).collect();
    }
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.replace("%2F", "/"))).collect()
}
