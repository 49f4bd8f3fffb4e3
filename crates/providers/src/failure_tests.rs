use bosun_model::ModelErrorKind::{self, *};
use pretty_assertions::assert_eq;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use crate::testing::{KEY, origin};

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair =
        |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    pairs.iter().map(pair).collect()
}

fn failed(code: u16, body: &str) -> ModelError {
    status(&origin(Family::OpenAiChat), StatusCode::from_u16(code).unwrap(), &HeaderMap::new(), body.as_bytes())
}

#[test]
fn every_status_has_a_kind_even_without_a_word() {
    let table: [(u16, ModelErrorKind); 19] = [
        (400, InvalidRequest),
        (401, Unauthorized),
        (402, Billing),
        (403, Unauthorized),
        (404, NotFound),
        (405, NotFound),
        (407, NotAModelServer),
        (408, Timeout),
        (409, Unavailable),
        (413, ContextOverflow),
        (418, InvalidRequest),
        (422, InvalidRequest),
        (429, RateLimited),
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
        (504, Timeout),
        (529, Unavailable),
        (599, Unavailable),
    ];
    for (code, kind) in table {
        let error = failed(code, "");
        assert_eq!((error.kind, error.status), (kind, Some(code)));
        assert!(error.message.contains("api.openai.com"), "{error}");
    }
}

#[test]
fn the_providers_sentence_is_found_in_every_shape() {
    let shapes = [
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"No."},"request_id":"r"}"#,
        r#"{"error":{"message":"No.","type":"x","param":null,"code":null}}"#,
        r#"{"error":"No."}"#,
        r#"{"object":"error","message":"No.","code":400}"#,
        r#"[{"error":{"code":400,"message":"No.","status":"INVALID_ARGUMENT"}}]"#,
        r#"{"detail":"No."}"#,
        r#"{"message":"No."}"#,
        "No.",
        "  No.\n",
    ];
    for body in shapes {
        assert_eq!(failed(400, body).message, "No.", "{body}");
    }
    let complaint = r#"{"detail":[{"loc":["body","messages"],"msg":"Field required","type":"missing"}]}"#;
    assert_eq!(failed(422, complaint).message, "body.messages: Field required");
}

#[test]
fn words_refine_the_kind() {
    let cases = [
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            ContextOverflow,
        ),
        (
            500,
            r#"{"error":"the prompt exceeds the model's context length: Reduce the length of the messages"}"#,
            ContextOverflow,
        ),
        (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#, Billing),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}"#,
            Billing,
        ),
        (
            429,
            r#"{"error":{"message":"Request too large: tokens per min (TPM). Reduce the length of the messages"}}"#,
            RateLimited,
        ),
        (400, r#"[{"error":{"message":"API key not valid. Please pass a valid API key."}}]"#, Unauthorized),
        (400, r#"{"error":{"message":"m","code":"model_not_found"}}"#, NotFound),
        (404, r#"{"error":"model 'x' not found"}"#, NotFound),
    ];
    for (code, body, kind) in cases {
        assert_eq!(failed(code, body).kind, kind, "{body}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date_and_never_long() {
    let wait = |pairs: &[(&'static str, &str)]| {
        let code = StatusCode::TOO_MANY_REQUESTS;
        status(&origin(Family::Anthropic), code, &headers(pairs), b"").retry_after.map(|wait| wait.as_secs_f64())
    };
    let date = ("date", "Fri, 06 Nov 2026 08:49:30 GMT");
    assert_eq!(wait(&[("retry-after", "3")]), Some(3.0));
    assert_eq!(wait(&[("retry-after", "0.5"), ("retry-after-ms", "250")]), Some(0.25));
    assert_eq!(wait(&[("retry-after", "1000000000")]), Some(600.0));
    assert_eq!(
        wait(&[("retry-after", "Fri, 06 Nov 2026 08:49:37 GMT"), ("date", "Fri, 06 Nov 2026 08:49:30 GMT")]),
        Some(7.0)
    );
    assert_eq!(
        wait(&[("retry-after", "Thu, 05 Nov 2026 08:49:37 GMT"), ("date", "Fri, 06 Nov 2026 08:49:30 GMT")]),
        Some(0.0)
    );
    assert_eq!(wait(&[("retry-after", "Fri, 06 Nov 2026 08:49:37 GMT")]), None);
    for wrong in ["-1", "soon", "NaN", "inf", ""] {
        assert_eq!(wait(&[("retry-after", wrong), date]), None, "{wrong}");
    }
}

#[test]
fn pages_are_told_from_refusals() {
    let page = "<html><head><title>Welcome to Café WiFi</title></head></html>";
    assert_eq!(failed(403, page).kind, NotAModelServer);
    assert!(failed(403, page).message.contains("Café WiFi"));
    let bad_gateway = failed(502, "<html><head><title>502 Bad Gateway</title></head></html>");
    assert_eq!((bad_gateway.kind, bad_gateway.message.as_str()), (Unavailable, "502 Bad Gateway"));
}

#[test]
fn an_address_that_leads_nowhere_is_named_with_what_it_lacks() {
    let at = |base_url: &str, body: &str| {
        let mut config = crate::testing::config(Family::OpenAiChat);
        config.base_url = base_url.into();
        let origin = Origin::new(&config, &crate::testing::endpoint(&config));
        status(&origin, StatusCode::NOT_FOUND, &HeaderMap::new(), body.as_bytes()).message
    };
    let bare = "(http://localhost:11434 has no /v1 at its end; most servers want it)";
    for (body, words) in [("404 page not found", "404 page not found"), (r#"{"detail":"Not Found"}"#, "Not Found")] {
        assert_eq!(at("http://localhost:11434", body), format!("{words} {bare}"));
    }
    assert!(at("http://localhost:11434", "").contains("has no /v1 at its end"));
    // That a path was not found is labelled as a model that was not.
    let labelled = r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#;
    assert_eq!(at("http://localhost:11434", labelled), format!("File Not Found {bare}"));
    assert!(at("http://localhost:11434", "{}").contains("has no /v1 at its end"));
    let elsewhere = at("http://localhost:8080/x/v1", r#"{"detail":"Not Found"}"#);
    assert_eq!(elsewhere, "Not Found (asked at http://localhost:8080/x/v1; check the base URL)");
    // The address is right where the server knows what a model is.
    for words in ["model 'x' not found", "The model `x` does not exist"] {
        assert_eq!(at("http://localhost:11434", &format!(r#"{{"error":"{words}"}}"#)), words);
    }
}

#[test]
fn redirects_name_where_they_lead_and_what_to_do() {
    let to = headers(&[("location", "https://evil.example/v1/messages")]);
    let error = status(&origin(Family::Anthropic), StatusCode::TEMPORARY_REDIRECT, &to, b"");
    assert_eq!((error.kind, error.status), (NotAModelServer, Some(307)));
    assert!(error.message.contains("https://evil.example/v1/messages"));
}

#[test]
fn keys_are_redacted_and_long_sentences_cut() {
    let echo = format!(r#"{{"error":{{"message":"wrong key {KEY}, headers: x-api-key: {KEY}"}}}}"#);
    let error = failed(401, &echo);
    assert_eq!(error.message, "wrong key [redacted], headers: x-api-key: [redacted]");
    let long = failed(400, &"ü".repeat(5_000));
    assert!(long.message.len() < 2_010 && long.message.ends_with("ü…"));
}
