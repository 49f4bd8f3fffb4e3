use bosun_model::ChatRequest;
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;
use crate::Family;
use crate::testing::{body, conversation, hello, info};

const CLAUDE: &str = "claude-sonnet-4-6@20260101";

fn vertex(base_url: &str, model: &str, project: Option<&str>) -> Vertex {
    Vertex::new(&Endpoint::parse("vertex", Family::Vertex, base_url).unwrap(), model, project)
}

fn body_of(request: &ChatRequest, model: &str) -> Value {
    body(&vertex("https://aiplatform.googleapis.com", model, Some("p")), request, &info(model))
}

#[test]
fn a_plain_question_to_claude() {
    assert_json_snapshot!(body_of(&hello(), CLAUDE));
}

#[test]
fn a_whole_conversation_with_claude() {
    assert_json_snapshot!(body_of(&conversation(), CLAUDE));
}

#[test]
fn gemini_gets_what_it_gets_elsewhere() {
    let model = "gemini-2.5-flash";
    let endpoint = Endpoint::parse("google", Family::Gemini, "https://generativelanguage.googleapis.com").unwrap();
    assert_eq!(body_of(&conversation(), model), body(&Gemini::new(&endpoint, model), &conversation(), &info(model)));
}

#[test]
fn the_address_names_project_place_and_publisher() {
    let path = |base_url: &str, model: &str, project: Option<&str>| {
        vertex(base_url, model, project).chat_path(model).0.into_owned()
    };
    let regional = "https://europe-west1-aiplatform.googleapis.com";
    assert_eq!(
        path(regional, CLAUDE, Some("p")),
        "v1/projects/p/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-6@20260101:streamRawPredict"
    );
    assert_eq!(
        path("https://aiplatform.googleapis.com", "gemini-2.5-pro", Some("p")),
        "v1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent"
    );
    let whole = "https://h.example/v1/projects/q/locations/l";
    assert_eq!(
        path(whole, CLAUDE, Some("p")),
        "publishers/anthropic/models/claude-sonnet-4-6@20260101:streamRawPredict"
    );
    let pasted = Endpoint::parse("vertex", Family::Vertex, &format!("{whole}/publishers/google")).unwrap();
    assert_eq!(pasted.path(), "/v1/projects/q/locations/l");
}

#[test]
fn homes() {
    for host in ["aiplatform.googleapis.com", "us-east5-aiplatform.googleapis.com", "aiplatform.eu.rep.googleapis.com"]
    {
        assert!(is_home(host), "{host}");
    }
    for host in ["evil-aiplatform.googleapis.com.example", "googleapis.com", "127.0.0.1", "aiplatform.example"] {
        assert!(!is_home(host), "{host}");
    }
    assert_eq!(location_of("aiplatform.eu.rep.googleapis.com"), "eu");
}

#[test]
fn an_address_is_that_of_its_place() {
    for (place, address) in [
        ("global", "https://aiplatform.googleapis.com"),
        ("us", "https://aiplatform.us.rep.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("us-east5", "https://us-east5-aiplatform.googleapis.com"),
    ] {
        assert_eq!(address_of(place), address);
        let host = crate::host_of(address).unwrap();
        assert_eq!((is_home(&host), location_of(&host)), (true, place));
    }
}
