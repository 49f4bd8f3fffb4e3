use bosun_model::{ChatRequest, Effort, ModelErrorKind};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;
use crate::Family;
use crate::testing::{body, conversation, hello, info};
use crate::testing::{decode, origin};

const MODEL: &str = "eu.anthropic.claude-sonnet-4-6-20260101-v1:0";

fn body_of(request: &ChatRequest) -> Value {
    body(&Bedrock::new(MODEL), request, &info(MODEL))
}

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body_of(&hello()));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body_of(&ChatRequest { effort: Some(Effort::High), ..conversation() }));
}

#[test]
fn the_model_is_part_of_the_address() {
    assert_eq!(
        Bedrock::new(MODEL).chat_path(MODEL).0,
        "model/eu.anthropic.claude-sonnet-4-6-20260101-v1%3A0/invoke-with-response-stream"
    );
    let own = "arn:aws:bedrock:us-east-1:1:application-inference-profile/a";
    let path = Bedrock::new(MODEL).chat_path(own).0;
    assert_eq!(path.matches('/').count(), 2, "{path}");
}

#[test]
fn regions_and_homes() {
    for (host, region) in [
        ("bedrock-runtime.eu-central-1.amazonaws.com", Some("eu-central-1")),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", Some("us-gov-west-1")),
        ("vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", Some("us-east-1")),
        ("gate.example", None),
        ("127.0.0.1", None),
    ] {
        assert_eq!(region_of(host), region);
        assert_eq!(is_home(host), region.is_some(), "{host}");
    }
    assert!(!is_home("bedrock-runtime.us-east-1.amazonaws.com.evil.example") && !is_home("amazonaws.com"));
    let listing = listing_host("bedrock-runtime.eu-central-1.amazonaws.com");
    assert_eq!(listing.as_deref(), Some("bedrock.eu-central-1.amazonaws.com"));
}

#[test]
fn failures_in_awss_words_have_their_meaning() {
    use ModelErrorKind::*;
    for (kind, words, wanted) in [
        ("ThrottlingException:http://internal.amazon.com/coral/", "Too many tokens, please wait.", RateLimited),
        ("ValidationException", "The provided model identifier is invalid.", InvalidRequest),
        ("ValidationException", "Input is too long for requested model.", ContextOverflow),
        ("AccessDeniedException", "You don't have access to the model with the specified model ID.", Unauthorized),
        ("UnrecognizedClientException", "The security token included in the request is invalid.", Unauthorized),
        ("ServiceUnavailableException", "Too many connections", Unavailable),
        ("modelTimeoutException", "the model took too long", Timeout),
        ("ResourceNotFoundException", "Could not resolve the foundation model", NotFound),
    ] {
        let refusal = Refusal::of_aws(kind, &serde_json::json!({ "message": words }).to_string());
        let error = crate::failure::refused(&origin(Family::Bedrock), &refusal);
        assert_eq!((error.kind, error.message.as_str()), (wanted, words));
    }
}

#[test]
fn something_else_is_no_stream_of_frames() {
    let page = decode(Family::Bedrock, &[b"<html><title>Sign in</title>"]);
    assert_eq!(page.error.unwrap().kind, ModelErrorKind::NotAModelServer);
}
