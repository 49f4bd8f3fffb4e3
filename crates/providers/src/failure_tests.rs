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
    let table: [(u16, ModelErrorKind); 20] = [
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
        (424, Unavailable),
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

/// What each provider answers to a conversation longer than its model's window: status and body, as they were reported.
const TOO_LONG: [(&str, u16, &str); 33] = [
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#,
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 196000 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}"#,
    ),
    (
        "anthropic",
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
    ),
    (
        "openai, azure",
        400,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        "openai, azure",
        400,
        r#"{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        "google",
        400,
        r#"{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}"#,
    ),
    (
        "vertex (Gemini)",
        400,
        r#"[{"error":{"code":400,"message":"Unable to submit request because the input token count is 1236488 but model only supports up to 1048576. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}]"#,
    ),
    (
        "vertex (Claude)",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long"}}"#,
    ),
    ("bedrock", 400, r#"{"message":"Input is too long for requested model."}"#),
    (
        "bedrock",
        400,
        r#"{"message":"The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum"}"#,
    ),
    (
        "deepseek",
        400,
        r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
    ),
    (
        "qwen, qwen-intl",
        400,
        r#"{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]","param":null,"type":"invalid_request_error"},"request_id":"81a373d6"}"#,
    ),
    (
        "moonshot, moonshot-cn",
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)","type":"invalid_request_error"}}"#,
    ),
    ("zai", 400, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#),
    ("zhipu", 400, r#"{"error":{"code":"1261","message":"Prompt 超长"}}"#),
    (
        "mistral",
        400,
        r#"{"object":"error","message":"Prompt contains 40021 tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}"#,
    ),
    (
        "xai",
        400,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
    ),
    (
        "groq",
        400,
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        "groq",
        413,
        r#"{"error":{"message":"Request too large for model `openai/gpt-oss-120b` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 14325, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 537812 tokens (537812 of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400}}"#,
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Prompt is too long\"}}","provider_name":"Google"}}}"#,
    ),
    (
        "together",
        400,
        r#"{"error":{"message":"The input (516368 tokens) is longer than the model's context length (262144 tokens).","type":"invalid_request_error","param":null,"code":null}}"#,
    ),
    (
        "together",
        422,
        r#"{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 131073. Given: 131080 `inputs` tokens and 4096 `max_new_tokens`","type":"invalid_request_error"}}"#,
    ),
    ("ollama", 400, r#"{"error":"prompt too long; exceeded max context length by 100918 tokens"}"#),
    ("ollama", 400, r#"{"error":"the input length exceeds the context length"}"#),
    (
        "lmstudio",
        400,
        r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}"#,
    ),
    (
        "lmstudio",
        400,
        r#"{"error":"Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough."}"#,
    ),
    (
        "llamacpp",
        400,
        r#"{"error":{"code":400,"message":"request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}"#,
    ),
    (
        "llamacpp (Python)",
        500,
        r#"{"error":{"message":"Requested tokens (9437) exceed context window of 8192","type":"internal_server_error","param":null,"code":null}}"#,
    ),
    (
        "vllm",
        400,
        r#"{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 15099 tokens in the messages, Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}"#,
    ),
    (
        "vllm",
        400,
        r#"{"error":{"message":"The decoder prompt (length 5012) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.","type":"BadRequestError","param":null,"code":400}}"#,
    ),
    (
        "litellm",
        400,
        r#"{"error":{"message":"litellm.BadRequestError: litellm.ContextWindowExceededError: XaiException - too many input tokens","type":null,"param":null,"code":"400"}}"#,
    ),
];

#[test]
fn every_provider_is_understood_when_a_conversation_is_too_long() {
    for (provider, code, body) in TOO_LONG {
        assert_eq!(failed(code, body).kind, ContextOverflow, "{provider}: {body}");
        // Some say it in the middle of a reply, with no status.
        let read = body::read(body.as_bytes()).unwrap();
        let told = refused(&origin(Family::OpenAiChat), &Refusal { status: None, ..read });
        let is_limit_of_a_minute = body.contains("rate_limit_exceeded");
        assert_eq!(told.kind, if is_limit_of_a_minute { RateLimited } else { ContextOverflow }, "{provider}: {body}");
    }
    let named = |id: &str| TOO_LONG.iter().any(|(provider, ..)| provider.split([',', ' ']).any(|word| word == id));
    for preset in crate::PRESETS {
        assert!(named(preset.id), "{}", preset.id);
    }
}

/// OpenRouter says of other providers' failures that they failed, and what they said apart.
#[test]
fn what_a_gateway_passes_on_is_what_is_shown() {
    let of = |code: u16, raw: &str| {
        let body = serde_json::json!({ "error": { "message": "Provider returned error", "code": code,
            "metadata": { "raw": raw, "provider_name": "BaseTen" } } });
        let error = failed(code, &body.to_string());
        (error.kind, error.message)
    };
    assert_eq!(of(429, "m is rate-limited upstream"), (RateLimited, "m is rate-limited upstream".into()));
    assert_eq!(of(400, r#"{"error":{"message":"One image at most."}}"#), (InvalidRequest, "One image at most.".into()));
    assert_eq!(of(502, ""), (Unavailable, "Provider returned error".into()));
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

/// What stands in between answers in HTML, and means the same by it.
#[test]
fn a_gateways_page_means_what_its_status_means() {
    let page = |title: &str| {
        format!(
            "<html>\r\n<head><title>{title}</title></head>\r\n<body><center><h1>{title}</h1></center></body></html>"
        )
    };
    let pages = [
        (401, "401 Authorization Required", Unauthorized, "api.openai.com refused the key (status 401); enter another"),
        (408, "408 Request Time-out", Timeout, "408 Request Time-out"),
        (413, "413 Request Entity Too Large", ContextOverflow, "413 Request Entity Too Large"),
        (424, "424 Failed Dependency", Unavailable, "424 Failed Dependency"),
        (429, "429 Too Many Requests", RateLimited, "429 Too Many Requests"),
        (503, "503 Service Temporarily Unavailable", Unavailable, "503 Service Temporarily Unavailable"),
        (504, "504 Gateway Time-out", Timeout, "504 Gateway Time-out"),
        (413, "", ContextOverflow, "api.openai.com refused the request (status 413)"),
    ];
    for (code, title, kind, words) in pages {
        let error = failed(code, &page(title));
        assert_eq!((error.kind, error.status), (kind, Some(code)), "{title}");
        assert!(error.message.starts_with(words), "{error}");
    }
    for (code, title) in [(400, "400 Bad Request"), (403, "Attention Required!"), (404, "404 Not Found")] {
        let error = failed(code, &page(title));
        assert_eq!(error.kind, NotAModelServer, "{title}");
        assert!(error.message.contains(title), "{error}");
    }
}

#[test]
fn what_nobody_takes_for_a_model_is_no_wrong_address() {
    let tools = "(an agent works with tools: choose a model that takes them)";
    for (code, words, kind, advice) in [
        (404, "No endpoints found that support image input", InvalidRequest, ""),
        (404, "No endpoints found that support input audio", InvalidRequest, ""),
        (404, "No endpoints found that support tool use. To learn more, visit: https://h", InvalidRequest, tools),
        (404, "No endpoints found for acme/gone.", NotFound, ""),
        (404, "No endpoints found matching your data policy", NotFound, ""),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", InvalidRequest, tools),
        (400, "deepseek-reasoner does not support Function Calling", InvalidRequest, tools),
    ] {
        let error = failed(code, &format!(r#"{{"error":{{"message":"{words}","code":{code}}}}}"#));
        assert_eq!((error.kind, error.message), (kind, format!("{words} {advice}").trim().to_owned()));
    }
}

#[test]
fn an_address_that_leads_nowhere_is_named_with_what_it_lacks() {
    let at = |base_url: &str, body: &str| {
        let mut config = crate::testing::config(Family::OpenAiChat);
        config.base_url = base_url.into();
        let origin = Origin::new(&config, &crate::testing::endpoint(&config));
        status(&origin, StatusCode::NOT_FOUND, &HeaderMap::new(), body.as_bytes()).message
    };
    let bare = "(http://localhost:11434 does not end in /v1, which most servers need)";
    for (body, words) in [("404 page not found", "404 page not found"), (r#"{"detail":"Not Found"}"#, "Not Found")] {
        assert_eq!(at("http://localhost:11434", body), format!("{words} {bare}"));
    }
    assert!(at("http://localhost:11434", "").contains("does not end in /v1"));
    // That a path was not found is labelled as a model that was not.
    let labelled = r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#;
    assert_eq!(at("http://localhost:11434", labelled), format!("File Not Found {bare}"));
    assert!(at("http://localhost:11434", "{}").contains("does not end in /v1"));
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
