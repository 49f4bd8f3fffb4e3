//! Signing in at a server of tools, for the sessions that use it.
#![allow(clippy::disallowed_methods, reason = "tests look at files and knock at ports")]

use std::sync::Arc;

use bosun_harness::Extras;
use bosun_model::ChatRequest;
use bosun_protocol::{ErrorCode, ServerHealth, SessionId};
use bosun_store::{Keys, MemorySecrets, SecretStore};
use bosun_testkit::{Reply, ToolOffice};
use pretty_assertions::assert_eq;

use super::stage::Stage;

/// Says which tools of the server it was offered.
fn offered(request: &ChatRequest) -> Reply {
    let names = request.tools.iter().map(|tool| tool.name.as_str()).filter(|name| name.starts_with("office__"));
    Reply::text(format!("offered: {}", names.collect::<Vec<_>>().join(" ")))
}

async fn staged(stage: &Stage, office: &ToolOffice, keyring: &Arc<MemorySecrets>) {
    let keyring = Arc::clone(keyring) as Arc<dyn SecretStore>;
    stage.sessions.keep_sign_ins(Arc::new(Keys::new(keyring, Some(Arc::clone(&stage.database)))));
    let text = format!("[mcp.office]\nurl = \"{}\"\n[mcp.office.tools]\nstamp = \"allow\"\n", office.url());
    stage.sessions.add(Extras::parse(&text).unwrap(), Vec::new()).await.unwrap();
}

async fn said(stage: &Stage, session: &SessionId) -> String {
    stage.sessions.send(session, "which?".into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    let item = stage.snapshot(session).await.items.pop().unwrap();
    match item.body {
        bosun_protocol::ItemBody::Ai { text, .. } => text.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn health(stage: &Stage, session: &SessionId) -> (ServerHealth, Option<bool>) {
    let server = stage.sessions.server_views(session).await.unwrap().remove(0);
    (server.health, server.signed_in)
}

async fn browse(url: String) -> String {
    tokio::task::spawn_blocking(move || ToolOffice::sign_in(&url)).await.unwrap()
}

#[tokio::test]
async fn a_person_signs_in_once_and_all_sessions_have_the_tools_until_they_sign_out() {
    let (office, keyring) = (ToolOffice::start(), Arc::new(MemorySecrets::default()));
    let stage = Stage::new(offered).await;
    staged(&stage, &office, &keyring).await;
    let (session, other) = (stage.session().await, stage.session().await);
    for session in [&session, &other] {
        assert_eq!(said(&stage, session).await, "offered: ");
        assert_eq!(health(&stage, session).await, (ServerHealth::NeedsSignIn, Some(false)));
    }

    let page = stage.sessions.begin_sign_in(Some(&session), "office").await.unwrap();
    assert_eq!(format!("http://{}", page.host), office.address);
    let (finished, shown) = tokio::join!(stage.sessions.finish_sign_in(&page.id), browse(page.url.clone()));
    assert_eq!((finished, shown.contains("signed in")), (Ok(()), true));
    for session in [&session, &other] {
        assert_eq!(health(&stage, session).await, (ServerHealth::Ready { tools: 1 }, Some(true)));
        assert_eq!(said(&stage, session).await, "offered: office__stamp");
    }

    // The tokens are in the keyring, and in nothing that the database has.
    let stage = stage.restarted(offered).await;
    staged(&stage, &office, &keyring).await;
    assert_eq!(said(&stage, &session).await, "offered: office__stamp");
    let kept = keyring.get(crate::SIGN_INS, &office.url()).await.unwrap();
    assert!(kept.is_some());
    for file in std::fs::read_dir(stage.data.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"token-1"), "{:?} holds a token", file.path());
    }

    stage.sessions.sign_out(Some(&session), "office").await.unwrap();
    assert_eq!(health(&stage, &session).await, (ServerHealth::NeedsSignIn, Some(false)));
    assert_eq!(said(&stage, &session).await, "offered: ");
}

#[tokio::test]
async fn a_sign_in_is_refused_given_up_or_begun_anew() {
    let (office, keyring) = (ToolOffice::start(), Arc::new(MemorySecrets::default()));
    let stage = Stage::new(offered).await;
    staged(&stage, &office, &keyring).await;
    let sessions = &stage.sessions;
    assert_eq!(sessions.begin_sign_in(None, "nobody").await.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(sessions.own_servers().await.unwrap()[0].address, Some(office.url()));

    let page = sessions.begin_sign_in(None, "office").await.unwrap();
    let url = page.url.clone();
    let refusing = tokio::task::spawn_blocking(move || {
        ToolOffice::answer(&url, |state| format!("error=access_denied&error_description=not%20today&state={state}"))
    });
    let refused = sessions.finish_sign_in(&page.id).await.unwrap_err();
    assert!(refused.to_string().contains("not today"), "{refused}");
    refusing.await.unwrap();

    // Its port is closed as soon as it is given up, or another one begins.
    let port = |url: &str| ToolOffice::asked_of(url)["redirect_uri"].rsplit(':').next().unwrap().to_owned();
    let listens = |url: &str| {
        let port = port(url).split('/').next().unwrap().to_owned();
        std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    };
    let first = sessions.begin_sign_in(None, "office").await.unwrap();
    assert!(listens(&first.url));
    let second = sessions.begin_sign_in(None, "office").await.unwrap();
    assert_eq!(sessions.finish_sign_in(&first.id).await.unwrap_err().code, ErrorCode::NotFound);
    sessions.cancel_sign_in(&second.id);
    assert_eq!(sessions.finish_sign_in(&second.id).await.unwrap_err().code, ErrorCode::NotFound);
    let closed = async {
        while listens(&first.url) || listens(&second.url) {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), closed).await.unwrap();
    assert!(!sessions.is_signed_in(&office.url()).await);
}
