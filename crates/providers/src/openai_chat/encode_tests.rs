use bosun_model::{
    Abilities, CacheLifetime, CacheMarks, ChatRequest, ContentBlock, Effort, Message, ModelInfo, OutputSchema,
    Reasoning, SystemBlock, ToolChoice, ToolMessage, ToolStatus,
};
use insta::assert_json_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::adapter::{Adapter, LeftOut};
use crate::openai_chat::OpenAiChat;
use crate::testing::{attachments, conversation, decode_chat_at, hello, info, strict};
use crate::{Family, PRESETS, host_of};

fn body(request: &ChatRequest, host: &str) -> Value {
    let adapter = OpenAiChat::of(host, "test-model");
    crate::testing::body(&adapter, request, &info("test-model"))
}

const LOCAL: &str = "127.0.0.1:11434";
const VENDOR: &str = "api.openai.com";

#[test]
fn a_plain_question() {
    assert_json_snapshot!(body(&hello(), LOCAL));
}

#[test]
fn a_whole_conversation() {
    assert_json_snapshot!(body(&conversation(), LOCAL));
}

#[test]
fn what_cannot_be_carried_is_named() {
    assert_json_snapshot!(body(&attachments(), LOCAL)["messages"]);
}

#[test]
fn a_document_goes_as_its_server_takes_it() {
    let sent = |host| body(&attachments(), host)["messages"][0]["content"][0].clone();
    let url = "data:application/pdf;base64,QUJD";
    let file = json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": url } });
    assert_eq!((sent(VENDOR), sent("openrouter.ai"), sent("gate.example")), (file.clone(), file.clone(), file));
    assert_eq!(sent("api.mistral.ai"), json!({ "type": "document_url", "document_url": url }));
    for host in ["api.deepseek.com", "api.groq.com", "localhost:8000"] {
        assert!(sent(host)["text"].as_str().is_some_and(|text| text.contains("left out: a.pdf")), "{host}");
    }
}

#[test]
fn reasoning_goes_back_to_the_host_it_came_from_with_every_message_that_called() {
    let back = |host| {
        let body = body(&conversation(), host);
        let turns = body["messages"].as_array().unwrap().clone();
        turns.into_iter().filter(|turn| turn["role"] == "assistant").map(|turn| turn["reasoning_content"].clone())
    };
    assert_eq!(back(VENDOR).collect::<Vec<_>>(), [json!("Aloud."), json!("")]);
    assert_eq!(back(LOCAL).collect::<Vec<_>>(), [Value::Null, Value::Null]);
}

/// The second request of a turn, to the server that gave the recorded reply and to another.
#[test]
fn what_a_server_wants_back_goes_back_to_it_alone_in_the_shape_it_came_in() {
    let openrouter = include_str!("../../fixtures/openai_openrouter.sse");
    let gemini = include_str!("../../fixtures/openai_gemini.sse");
    let mistral = include_str!("../../fixtures/openai_mistral.sse");
    let second = |base_url: &str, recording: &str, host: &str| {
        let reply = decode_chat_at(base_url, recording).message().unwrap();
        let results = reply.tool_calls.iter().map(|call| {
            let (call_id, name, content) = (call.id.clone(), call.name.clone(), vec!["/a".into()]);
            Message::Tool(ToolMessage { call_id, name, status: ToolStatus::Success, content })
        });
        let results: Vec<_> = results.collect();
        let turns = [vec![Message::human("h", "hello"), Message::Ai(reply)], results].concat();
        body(&ChatRequest { messages: turns.into_iter().map(Into::into).collect(), ..ChatRequest::default() }, host)
    };
    let google = "https://generativelanguage.googleapis.com/v1beta/openai";
    assert_json_snapshot!(
        "details_back_to_openrouter",
        second("https://openrouter.ai/api/v1", openrouter, "openrouter.ai")
    );
    assert_json_snapshot!("a_signature_back_to_gemini", second(google, gemini, "generativelanguage.googleapis.com"));
    assert_json_snapshot!("parts_back_to_mistral", second("https://api.mistral.ai/v1", mistral, "api.mistral.ai"));
    for recording in [openrouter, gemini, mistral] {
        let elsewhere = second("https://openrouter.ai/api/v1", recording, LOCAL);
        let reply = elsewhere["messages"][1].as_object().unwrap();
        assert!(reply.keys().all(|name| ["role", "content", "tool_calls"].contains(&name.as_str())), "{reply:?}");
        assert!(reply["content"].is_string() || reply["content"].is_null(), "{reply:?}");
        assert_eq!(reply["tool_calls"][0].get("extra_content"), None);
    }
}

#[test]
fn the_output_limit_has_the_name_that_the_host_takes() {
    let asked = ChatRequest { max_output: Some(16), ..hello() };
    let limit = |host| (body(&asked, host)["max_tokens"].clone(), body(&asked, host)["max_completion_tokens"].clone());
    assert_eq!(limit(LOCAL), (json!(16), Value::Null));
    assert_eq!(limit(VENDOR), (Value::Null, json!(16)));
    // A gateway hands the field on to models that refuse the old name.
    let at_gateway = |model| {
        let body = crate::testing::body(&OpenAiChat::of("gate.example", model), &asked, &info(model));
        (body["max_tokens"].clone(), body["max_completion_tokens"].clone())
    };
    for model in ["gpt-5.6-sol", "gpt-6-astra", "openai/gpt-5", "o4-mini"] {
        assert_eq!(at_gateway(model), (Value::Null, json!(16)), "{model}");
    }
    for model in ["gpt-4.1", "claude-opus-5", "olmo-3", "gpt-oss-120b"] {
        assert_eq!(at_gateway(model), (json!(16), Value::Null), "{model}");
    }
}

#[test]
fn which_conversation_it_is_is_told_where_that_is_documented() {
    let asked = |key: &str| ChatRequest { conversation: Some(key.into()), ..hello() };
    let told = |key: &str, host| body(&asked(key), host)["prompt_cache_key"].clone();
    assert_eq!((told("s1", VENDOR), told("s1", "mine.openai.azure.com")), (json!("s1"), json!("s1")));
    for host in [LOCAL, "openrouter.ai", "gate.example"] {
        assert_eq!(told("s1", host), Value::Null, "{host}");
    }
    assert_eq!(told(&"x".repeat(65), VENDOR), Value::Null, "no longer one is taken");
    assert_eq!(body(&hello(), VENDOR)["prompt_cache_key"], Value::Null);
}

/// DeepSeek and Moonshot refuse a conversation that has a reply without its thoughts, whoever made it.
#[test]
fn who_wants_thoughts_with_every_reply_gets_them_also_for_those_of_others() {
    let at = |host: &str, model: &str, request: &ChatRequest| {
        crate::testing::body(&OpenAiChat::of(host, model), request, &info(model))
    };
    let plain = |id: &str, content| {
        let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
        (reply.id, reply.content, reply.tool_calls) = (id.into(), content, vec![]);
        Message::Ai(reply)
    };
    let back = |body: &Value| {
        let turns = body["messages"].as_array().unwrap().clone();
        let replies = turns.into_iter().filter(|turn| turn["role"] == "assistant");
        replies.map(|turn| turn.get("reasoning_content").cloned()).collect::<Vec<_>>()
    };
    let text = |text: &str| Some(json!(text));
    // A session that another provider began.
    assert_eq!(back(&at("api.deepseek.com", "deepseek-v4-pro", &conversation())), [text(""), text("")]);
    assert_eq!(back(&at("api.moonshot.ai", "kimi-k2.6", &conversation())), [text(" "), text(" ")], "not empty");
    assert_eq!(back(&at("api.moonshot.cn", "kimi-k2-turbo-preview", &conversation())), [None, None]);
    assert_json_snapshot!("from_claude_to_deepseek", at("api.deepseek.com", "deepseek-v4-pro", &conversation()));
    // The second turn of one that it began itself: its last words were a plain answer.
    let aloud = Reasoning {
        text: "Hm.".into(),
        signature: None,
        opaque: Some(json!({ "reasoning_content": "api.deepseek.com" })),
    };
    let mut second = hello();
    second.messages.push(plain("a1", vec![ContentBlock::Reasoning(aloud), "Done.".into()]).into());
    second.messages.push(Message::human("h2", "and now?").into());
    assert_eq!(back(&at("api.deepseek.com", "deepseek-v4-pro", &second)), [text("Hm.")]);
    assert_json_snapshot!("second_turn_at_deepseek", at("api.deepseek.com", "deepseek-v4-pro", &second)["messages"]);
}

/// DeepSeek, Moonshot and Qwen refuse to force a model that thinks, as theirs do by default; Zhipu forces none.
#[test]
fn a_call_is_forced_where_the_model_can_be_told_not_to_think_meanwhile() {
    let forced = |host: &str, model: &str, effort| {
        let request = ChatRequest { tool_choice: ToolChoice::Tool("ls".into()), effort, ..conversation() };
        let body = crate::testing::body(&OpenAiChat::of(host, model), &request, &info(model));
        let off = body["thinking"]["type"] == "disabled" || body["enable_thinking"] == false;
        (body.get("tool_choice").is_some(), off, body.get("reasoning_effort").is_some())
    };
    for effort in [None, Some(Effort::High)] {
        for (host, model) in [
            ("api.deepseek.com", "deepseek-v4-pro"),
            ("api.moonshot.ai", "kimi-k2.6"),
            ("dashscope.aliyuncs.com", "qwen3.8-max"),
        ] {
            assert_eq!(forced(host, model, effort), (true, true, false), "{model}");
        }
        for (host, model) in [("api.moonshot.ai", "kimi-k3"), ("api.z.ai", "glm-5.3"), ("api.moonshot.ai", "kimi-next")]
        {
            let (is_forced, is_off, _) = forced(host, model, effort);
            assert_eq!((is_forced, is_off), (false, false), "{model}");
        }
        assert_eq!(forced("open.bigmodel.cn", "glm-4.6", effort).0, false, "it takes no choice but a free one");
        assert_eq!(forced("api.deepseek.com", "deepseek-chat", effort), (true, false, false), "which does not think");
    }
    let free = ChatRequest { tool_choice: ToolChoice::None, ..conversation() };
    let body =
        crate::testing::body(&OpenAiChat::of("api.deepseek.com", "deepseek-v4-pro"), &free, &info("deepseek-v4-pro"));
    assert_eq!((body["tool_choice"].clone(), body.get("thinking")), (json!("none"), None));
}

#[test]
fn tool_choices() {
    let choose = |tool_choice| body(&ChatRequest { tool_choice, ..conversation() }, LOCAL)["tool_choice"].clone();
    assert_eq!(choose(ToolChoice::Auto), Value::Null);
    assert_eq!(choose(ToolChoice::None), json!("none"));
    assert_eq!(choose(ToolChoice::Required), json!("required"));
    assert_eq!(choose(ToolChoice::Tool("ls".into())), json!({ "type": "function", "function": { "name": "ls" } }));
}

#[test]
fn all_that_can_be_asked_for() {
    let request = ChatRequest {
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: strict() }),
        conversation: Some("session-1".into()),
        ..hello()
    };
    let of = |host, model| crate::testing::body(&OpenAiChat::of(host, model), &request, &info(model));
    assert_json_snapshot!(of(VENDOR, "o4-mini"));
    // DeepSeek takes no schema, and thinks or does not.
    assert_json_snapshot!("by_a_server_of_its_own_kind", of("api.deepseek.com", "deepseek-v4-pro"));
    // Mistral refuses fields that it does not know.
    assert_eq!(of("api.mistral.ai", "mistral-large-latest")["stream_options"], Value::Null);
}

/// OpenRouter hands the marks on to Anthropic, which takes four, and only its models want any.
#[test]
fn claude_at_openrouter_is_asked_to_cache_and_nobody_else_is() {
    let asked = |host: &str, model: &str, request: &ChatRequest| {
        crate::testing::body(&OpenAiChat::of(host, model), request, &info(model))
    };
    let marked = |lifetime| {
        let cache = CacheMarks { tools: true, conversation: true, lifetime, ..CacheMarks::default() };
        ChatRequest { cache, ..conversation() }
    };
    let marks = |body: &Value| body.to_string().matches("cache_control").count();
    let minutes = marked(CacheLifetime::FiveMinutes);
    let claude = "anthropic/claude-sonnet-4.6";
    let hour = asked("openrouter.ai", claude, &marked(CacheLifetime::OneHour));
    assert_eq!(hour["tools"][0]["cache_control"], json!({ "type": "ephemeral", "ttl": "1h" }));
    assert_eq!(marks(&asked("openrouter.ai", claude, &hello())), 0, "nothing was to be kept");
    assert_eq!(marks(&asked("openrouter.ai", "openai/gpt-5.4", &minutes)), 0);
    assert_eq!(marks(&asked("api.together.xyz", claude, &minutes)), 0);
    let block = |text: &str| SystemBlock { text: text.into(), cache: true };
    let many = ChatRequest { system: ["a", "b", "c", "d"].map(block).into(), ..minutes.clone() };
    let many = asked("openrouter.ai", claude, &many);
    assert_eq!((marks(&many), many["messages"][0]["content"][1].get("cache_control")), (4, None));
    assert_json_snapshot!(asked("openrouter.ai", claude, &minutes));
}

#[test]
fn the_mark_of_the_conversation_stands_before_what_passes() {
    let human = |text: &str| std::sync::Arc::new(Message::human("h", text));
    let model = "anthropic/claude-sonnet-4.6";
    let turns = |messages: Vec<std::sync::Arc<Message>>, passing, conversation| {
        let cache = CacheMarks { conversation, passing, ..CacheMarks::default() };
        let request = ChatRequest { messages: messages.into(), cache, ..ChatRequest::default() };
        let body = crate::testing::body(&OpenAiChat::of("openrouter.ai", model), &request, &info(model));
        body["messages"].as_array().unwrap().clone()
    };
    // The texts behind which there is a mark.
    let marked = |messages: Vec<std::sync::Arc<Message>>, passing| {
        let turns = turns(messages, passing, true);
        let parts = turns.iter().filter_map(|turn| turn["content"].as_array()).flatten();
        let marked = parts.filter(|part| part.get("cache_control").is_some());
        marked.map(|part| part["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked(vec![human("a"), human("b")], 0), ["b"]);
    assert_eq!(marked(vec![human("a"), human("b")], 1), ["a"]);
    let step = &conversation().messages[7..9];
    assert_eq!(marked([&[human("a")], step, &[human("b")]].concat(), 1), ["Error: no such folder"]);
    assert_eq!(marked([&[human("a")], step].concat(), 0), ["Error: no such folder"]);
    assert_eq!(marked(vec![human("a")], 1), ["a"], "nothing else is there to mark");
    // What was marked is found again: it has the same form when more stands behind it.
    let both = vec![human("a"), human("b")];
    let longer = [&both, step].concat();
    let texts = |turns: Vec<Value>| {
        let parts = turns[0]["content"].as_array().unwrap().clone();
        parts.into_iter().map(|part| part["text"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(turns(both, 0, true)), texts(turns(longer, 0, true)));
}

/// One golden body for each provider that speaks this wire: its limit, effort, schema and usage fields, and a tool that
/// must be called.
#[test]
fn every_preset_is_asked_in_its_own_words() {
    let request = ChatRequest {
        tool_choice: ToolChoice::Tool("ls".into()),
        tools: conversation().tools,
        max_output: Some(1_000),
        effort: Some(Effort::High),
        output: Some(OutputSchema { name: "answer".into(), schema: json!({ "type": "object" }) }),
        conversation: Some("session-1".into()),
        ..hello()
    };
    let chat = PRESETS.iter().filter(|preset| preset.family == Family::OpenAiChat);
    for preset in chat {
        let (id, host) = (preset.id, host_of(preset.base_url).unwrap());
        let abilities = Abilities { reasoning: true, ..Abilities::default() };
        let thinks = ModelInfo { abilities, ..info("model") };
        assert_json_snapshot!(
            format!("preset_{id}"),
            crate::testing::body(&OpenAiChat::of(&host, "model"), &request, &thinks)
        );
    }
}

/// A conversation that another model began has ids that Mistral refuses.
#[test]
fn mistral_gets_ids_of_its_own_kind_in_call_and_result_alike() {
    let turns = |host: &str, model: &str| {
        let body = crate::testing::body(&OpenAiChat::of(host, model), &conversation(), &info(model));
        body["messages"].as_array().unwrap().clone()
    };
    let ids = |turns: &[Value]| {
        let calls =
            turns.iter().filter_map(|turn| turn["tool_calls"].as_array()).flatten().map(|call| call["id"].clone());
        let results = turns.iter().filter_map(|turn| turn.get("tool_call_id").cloned());
        (calls.collect::<Vec<_>>(), results.collect::<Vec<_>>())
    };
    for (host, model) in
        [("api.mistral.ai", "mistral-medium-latest"), ("openrouter.ai", "mistralai/mistral-medium-3.5")]
    {
        let (calls, results) = ids(&turns(host, model));
        assert_eq!((calls.len(), &calls), (4, &results), "{host}");
        for id in &calls {
            let id = id.as_str().unwrap();
            assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        }
    }
    let (calls, results) = ids(&turns("openrouter.ai", "openai/gpt-5.4"));
    assert_eq!((&calls[0], &results[0]), (&json!("functions.ls:0"), &json!("functions.ls:0")));
}

#[test]
fn words_of_the_models_own_stand_behind_results_where_something_else_is_refused() {
    let roles = |order: bool| {
        let adapter: std::sync::Arc<dyn Adapter> = match order {
            true => OpenAiChat::of("api.mistral.ai", "m").leaving(LeftOut::ORDER).unwrap(),
            false => std::sync::Arc::new(OpenAiChat::of("api.mistral.ai", "m")),
        };
        let body = crate::testing::body(&*adapter, &conversation(), &info("m"));
        let turns = body["messages"].as_array().unwrap().clone();
        turns.iter().map(|turn| turn["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let plain = ["system", "user", "assistant", "tool", "tool", "tool", "user", "assistant", "tool"];
    assert_eq!(roles(false), plain);
    let bridged = ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user", "assistant", "tool"];
    assert_eq!(roles(true), bridged);
}
