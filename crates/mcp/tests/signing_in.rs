//! A server that wants somebody to sign in, with the authorisation server beside it, over real HTTP on this machine.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests speak HTTP by hand and fail loudly"
)]

use std::sync::Arc;

use bosun_mcp::{Health, McpServers, ServerConfig, ServerConfigs, SignInError, TokenStore, Unkept, UnkeptTokens};
use bosun_testkit::ToolOffice;
use pretty_assertions::assert_eq;

fn servers(office: &ToolOffice, tokens: &Arc<dyn TokenStore>) -> McpServers {
    let config = ServerConfig { url: Some(office.url()), ..ServerConfig::default() };
    let configs = ServerConfigs::from([("office".to_owned(), config)]);
    let folder = std::env::temp_dir();
    McpServers::new(configs, &folder, Arc::new(Unkept::default())).unwrap().keeping(tokens)
}

/// A browser beside the test.
async fn browse(url: &str, said: fn(&str) -> String) -> String {
    let asked = ToolOffice::asked_of(url);
    assert_eq!((asked["response_type"].as_str(), asked["code_challenge_method"].as_str()), ("code", "S256"));
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:"), "{asked:?}");
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || ToolOffice::answer(&url, said)).await.unwrap()
}

fn health(servers: &McpServers) -> Health {
    servers.views().remove(0).health
}

fn unkept() -> Arc<dyn TokenStore> {
    Arc::new(UnkeptTokens::default())
}

#[tokio::test]
async fn a_person_signs_in_and_the_server_is_there_also_after_a_restart() {
    let office = ToolOffice::start();
    let tokens = unkept();
    let first = servers(&office, &tokens);
    first.start().await;
    assert_eq!(health(&first), Health::NeedsSignIn);
    let sign_in = first.sign_in("office").await.unwrap();
    let url = sign_in.url.clone();
    assert!(url.starts_with(&format!("{}/authorize?", office.address)), "{url}");
    assert_eq!(
        (sign_in.address().to_owned(), format!("http://{}", sign_in.host())),
        (office.url(), office.address.clone())
    );
    let browser = async {
        // A browser asks for more than it was sent for.
        let favicon = ToolOffice::asked_of(&url)["redirect_uri"].replace("/callback", "/favicon.ico");
        let nothing = tokio::task::spawn_blocking(move || ToolOffice::get(&favicon)).await.unwrap();
        assert!(nothing.contains("404"), "{nothing}");
        browse(&url, |state| format!("code=good-code&state={state}")).await
    };
    let (finished, page) = tokio::join!(sign_in.finished(), browser);
    assert_eq!(finished, Ok(()));
    assert!(page.contains("200 OK") && page.contains("signed in"), "{page}");
    assert_eq!(health(&first), Health::Ready { tools: 1 });
    let exchange = office.asked("/token").remove(0).form;
    assert!(exchange["code_verifier"].len() >= 43 && exchange["client_id"] == "client-1", "{exchange:?}");
    first.shut_down().await;
    // Another session, and one whose token has been taken back meanwhile: it is renewed without asking anyone.
    let again = servers(&office, &tokens);
    again.start().await;
    assert_eq!(health(&again), Health::Ready { tools: 1 });
    office.revoke();
    let later = servers(&office, &tokens);
    later.start().await;
    assert_eq!(health(&later), Health::Ready { tools: 1 });
    assert_eq!(office.asked("/token").len(), 2);
    assert_eq!(later.sign_out("office").await, Ok(()));
    assert_eq!(health(&later), Health::NeedsSignIn);
}

#[tokio::test]
async fn a_refusal_a_forged_answer_and_a_wrong_code_sign_nobody_in() {
    let office = ToolOffice::start();
    let servers = servers(&office, &unkept());
    type Said = fn(&str) -> String;
    let answers: [(Said, &str); 3] = [
        (|state| format!("error=access_denied&error_description=not%20today&state={state}"), "not today"),
        (|_| "code=good-code&state=forged".into(), "refused"),
        (|state| format!("code=bad-code&state={state}"), "refused"),
    ];
    for (said, expected) in answers {
        let sign_in = servers.sign_in("office").await.unwrap();
        let url = sign_in.url.clone();
        let (finished, page) = tokio::join!(sign_in.finished(), browse(&url, said));
        let error = finished.unwrap_err().to_string();
        assert!(error.contains(expected) && page.contains("400"), "{error}");
    }
    assert_eq!(health(&servers), Health::Stopped);
}

#[tokio::test]
async fn what_cannot_begin_says_why() {
    let office = ToolOffice::start();
    let servers = servers(&office, &unkept());
    assert!(matches!(servers.sign_in("nobody").await, Err(SignInError::Unknown { .. })));
    office.send_to(Some("file:///etc/passwd"));
    let error = servers.sign_in("office").await.err().unwrap();
    assert!(matches!(error, SignInError::Unsafe { .. } | SignInError::Unsupported { .. }), "{error}");
    office.send_to(None);
    office.turn_strangers_away();
    let error = servers.sign_in("office").await.err().unwrap().to_string();
    assert!(error.contains("give it a token as a header"), "{error}");
}
