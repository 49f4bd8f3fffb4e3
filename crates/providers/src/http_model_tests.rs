use bosun_testkit::{ModelServer, Reply, Rule, Wire};
use serde_json::json;

use super::*;
use crate::Family;
use crate::testing::{config, conversation};

#[tokio::test]
async fn what_was_sent_is_kept_behind_a_call_and_not_behind_an_answer() {
    let server = ModelServer::start();
    server.add(Rule::last_contains("look").reply(Reply::call("ls", json!({}))));
    server.add(Rule::last_contains("say").reply(Reply::text("So it is.")));
    let config = ProviderConfig { base_url: server.base_url(Wire::OpenAi), ..config(Family::OpenAiChat) };
    let model = HttpModel::new(&config, "test-model", None).unwrap();
    for (words, is_kept) in [("look", true), ("say", false)] {
        let mut request = conversation();
        request.messages.push(Arc::new(Message::human("h", words)));
        let events: Vec<_> = model.stream(request.clone()).await.unwrap().collect().await;
        assert!(events.iter().all(Result::is_ok), "{events:?}");
        assert_eq!(model.connection.whole.memo.number(&request.messages).is_some(), is_kept, "{words}");
    }
}
