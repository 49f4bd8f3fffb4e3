use bosun_model::Stays;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::{Account, ListedModels, NoNews, known_model};

/// The first model of a list, as the server of that host says it.
fn first(host: &str, list: &Value) -> ListedModel {
    read(list.to_string().as_bytes(), Quirks::of_host(host).prices).unwrap().remove(0)
}

fn named(name: &str) -> ListedModel {
    ListedModel { name: name.into(), ..ListedModel::default() }
}

fn openrouter(pricing: Value) -> ListedModel {
    let row = json!({
        "id": "anthropic/claude-sonnet-4.6", "name": "Anthropic: Claude Sonnet 4.6", "context_length": 1_000_000,
        "architecture": { "input_modalities": ["text", "image", "file"], "output_modalities": ["text"] },
        "pricing": pricing,
        "top_provider": { "context_length": 1_000_000, "max_completion_tokens": 64_000, "is_moderated": true },
        "supported_parameters": ["max_tokens", "reasoning", "tools"],
    });
    first("openrouter.ai", &json!({ "data": [row] }))
}

#[test]
fn a_gateway_may_name_a_model_twice() {
    let list = json!({ "data": [{ "id": "a", "context_length": 8 }, { "id": "b" }, { "id": "a" }] });
    let models = read(list.to_string().as_bytes(), Quirks::of_host("gate.example").prices).unwrap();
    let names: Vec<_> = models.iter().map(|model| (model.name.as_str(), model.context_window)).collect();
    assert_eq!(names, [("a", Some(8)), ("b", None)]);
}

/// As each provider documents its list.
#[test]
fn each_list_is_read_in_its_own_words() {
    let pricing = json!({ "prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003",
        "input_cache_write": "0.00000375", "request": "0", "image": "0.0048" });
    let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75), ..Price::FREE };
    assert_eq!(
        openrouter(pricing),
        ListedModel {
            title: Some("Anthropic: Claude Sonnet 4.6".into()),
            context_window: Some(1_000_000),
            max_output: Some(64_000),
            images: Some(true),
            documents: Some(true),
            audio: Some(false),
            video: Some(false),
            reasoning: Some(true),
            price: Some(price),
            ..named("anthropic/claude-sonnet-4.6")
        }
    );
    let modalities = json!({ "input_modalities": ["audio", "file", "image", "text", "video"] });
    let all = json!({ "data": [{ "id": "google/gemini-3.5-flash", "architecture": modalities }] });
    let all = first("openrouter.ai", &all);
    assert_eq!((all.audio, all.video), (Some(true), Some(true)));

    let gemini = json!({ "models": [{ "name": "models/gemini-3-pro", "displayName": "Gemini 3 Pro", "thinking": true,
        "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent"] }] });
    assert_eq!(
        first("generativelanguage.googleapis.com", &gemini),
        ListedModel {
            title: Some("Gemini 3 Pro".into()),
            context_window: Some(1_048_576),
            max_output: Some(65_536),
            reasoning: Some(true),
            ..named("gemini-3-pro")
        }
    );

    let claude = json!({ "data": [{ "type": "model", "id": "claude-opus-5", "display_name": "Claude Opus 5",
        "max_input_tokens": 1_000_000, "max_tokens": 128_000, "capabilities": { "image_input": { "supported": true },
        "pdf_input": { "supported": true }, "thinking": { "supported": true, "types": {} } } }] });
    assert_eq!(
        first("api.anthropic.com", &claude),
        ListedModel {
            title: Some("Claude Opus 5".into()),
            context_window: Some(1_000_000),
            max_output: Some(128_000),
            images: Some(true),
            documents: Some(true),
            reasoning: Some(true),
            ..named("claude-opus-5")
        }
    );

    let mistral = json!({ "object": "list", "data": [
        { "id": "mistral-embed", "max_context_length": 8_192, "capabilities": { "completion_chat": false } },
        { "id": "pixtral-large", "name": "pixtral-large", "max_context_length": 131_072,
          "capabilities": { "completion_chat": true, "function_calling": true, "vision": true } }] });
    let pixtral = first("api.mistral.ai", &mistral);
    assert_eq!((pixtral.context_window, pixtral.images, pixtral.reasoning), (Some(131_072), Some(true), None));
    assert_eq!(pixtral.name, "pixtral-large", "what does not talk is left out");

    let together = json!([
        { "id": "black-forest-labs/FLUX.2", "type": "image", "pricing": { "input": 0, "output": 0 } },
        { "id": "deepseek-ai/DeepSeek-V4", "type": "chat", "display_name": "DeepSeek V4", "context_length": 163_840,
          "pricing": { "hourly": 0, "input": 0.6, "output": 1.7, "base": 0, "finetune": 0 } }]);
    let deepseek = first("api.together.xyz", &together);
    assert_eq!((deepseek.context_window, deepseek.title.as_deref()), (Some(163_840), Some("DeepSeek V4")));
    assert_eq!(deepseek.price.map(|price| (price.input, price.output, price.cache_read)), Some((0.6, 1.7, None)));

    let groq = json!({ "data": [{ "id": "openai/gpt-oss-120b", "context_window": 131_072, "max_completion_tokens": 65_536 }] });
    let oss = first("api.groq.com", &groq);
    assert_eq!((oss.context_window, oss.max_output), (Some(131_072), Some(65_536)));

    let kimi = json!({ "data": [{ "id": "kimi-k3", "context_length": 262_144, "supports_image_in": true,
        "supports_reasoning": true }] });
    let kimi = first("api.moonshot.ai", &kimi);
    assert_eq!((kimi.context_window, kimi.images, kimi.reasoning), (Some(262_144), Some(true), Some(true)));

    let llama = |can: Value| {
        json!({ "object": "list", "data": [{ "id": "gemma", "meta": { "n_ctx": 16_384, "n_ctx_train": 131_072 } }],
            "models": [{ "name": "gemma", "model": "gemma", "capabilities": can }] })
    };
    let sees = |can: Value| {
        let model = first("localhost:8080", &llama(can));
        (model.context_window, model.images, model.reasoning)
    };
    assert_eq!(sees(json!(["completion", "multimodal"])), (Some(16_384), Some(true), None));
    assert_eq!(sees(json!(["completion"])), (Some(16_384), Some(false), None));
}

/// A price is one that a call can be reckoned by, or none.
#[test]
fn a_price_that_depends_on_more_than_tokens_stays_unknown() {
    assert_eq!(openrouter(json!({ "prompt": "-1", "completion": "-1" })).price, None, "a router of theirs");
    let tiers = json!([{ "min_prompt_tokens": 200_000, "prompt": "0.000006" }]);
    assert_eq!(openrouter(json!({ "prompt": "0.000003", "completion": "0.000015", "overrides": tiers })).price, None);
    assert_eq!(openrouter(json!({ "prompt": "0.000001", "completion": "0.000001", "request": "0.005" })).price, None);
    assert_eq!(openrouter(json!({ "prompt": "soon", "completion": "0.000001" })).price, None);
    let free = openrouter(json!({ "prompt": "0", "completion": "0" })).price;
    assert_eq!(free.map(|price| (price.input, price.output)), Some((0.0, 0.0)));
    // Nobody says what another server's figures are in.
    let unknown = json!({ "data": [{ "id": "m", "pricing": { "prompt": "0.1", "completion": "0.2", "input": 1, "output": 2 } }] });
    assert_eq!(first("gateway.example", &unknown).price, None);
}

#[test]
fn an_output_as_long_as_the_window_is_no_limit_and_what_is_no_list_is_none() {
    let row = |most: u32| json!({ "data": [{ "id": "m", "context_length": 131_072, "max_completion_tokens": most }] });
    assert_eq!(first("api.groq.com", &row(131_072)).max_output, None);
    assert_eq!(first("api.groq.com", &row(65_536)).max_output, Some(65_536));
    // Fields of another shape say nothing, and a list is not lost for them.
    let odd = json!({ "models": null, "data": [{ "id": "m", "meta": null, "pricing": "free", "architecture": [],
        "supported_parameters": { "tools": true }, "thinking": { "budget": 1 }, "type": 7, "top_provider": null,
        "capabilities": "all", "supports_image_in": "yes" }] });
    assert_eq!(first("openrouter.ai", &odd), named("m"));
    for wrong in ["7", "{}", r#"{"data": 7}"#, "[1]", r#"{"models": [7]}"#] {
        assert_eq!(read(wrong.as_bytes(), PriceList::None), None, "{wrong}");
    }
}

#[test]
fn of_openais_names_only_those_that_hold_a_conversation_are_listed() {
    for name in
        ["gpt-5.4", "gpt-4o-mini", "o3", "chatgpt-4o-latest", "codex-mini-latest", "ft:gpt-4o-mini:me:tts-bot:1"]
    {
        assert!(is_talker(name), "{name}");
    }
    for name in [
        "text-embedding-3-small",
        "whisper-1",
        "dall-e-3",
        "tts-1-hd",
        "gpt-4o-mini-tts",
        "omni-moderation-latest",
        "gpt-4o-transcribe",
        "gpt-4o-realtime-preview",
        "gpt-audio",
        "gpt-image-1",
        "sora-2",
        "babbage-002",
        "gpt-3.5-turbo-instruct",
        "ft:davinci-002:me::1",
    ] {
        assert!(!is_talker(name), "{name}");
    }
}

#[test]
fn names_of_other_vendors_tell_what_cannot_be_talked_to() {
    for name in ["meta-llama/Llama-3.3-70B-Instruct", "qwen3:4b", "my-gateway/claude", "mistral-small", "kimi-k2.6"] {
        assert!(seems_to_talk(name), "{name}");
    }
    for name in [
        "BAAI/bge-large-en-v1.5",
        "intfloat/multilingual-e5-large-instruct",
        "nomic-embed-text:latest",
        "black-forest-labs/FLUX.1-schnell",
        "openai/whisper-large-v3",
        "canopylabs/orpheus-v1-english",
        "meta-llama/llama-guard-4-12b",
        "jina-reranker-v2",
        "mistral-ocr-latest",
    ] {
        assert!(!seems_to_talk(name), "{name}");
    }
}

/// What was never listed is asked about before its first call: it may cost something.
#[tokio::test]
async fn a_server_at_a_presets_port_is_asked_once_whether_it_runs_its_models() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let lists = |owned_by: &str, names: &[&str]| {
        let rows: Vec<Value> = names.iter().map(|name| json!({ "id": name, "owned_by": owned_by })).collect();
        server.answer_models_with(Reply::http(200, json!({ "object": "list", "data": rows }).to_string()));
    };
    let config = |id: &str| ProviderConfig::new(id, Family::OpenAiChat, server.base_url(Wire::OpenAi));
    let stays = async |id: &str, name: &str| {
        let said = ask_about(&config(id), name, &HeardOf::default()).await?;
        Some(known_model(&config(id).hearing(&said), name).unwrap().stays)
    };
    lists("vllm", &["m", "n"]);
    assert_eq!(stays("vllm", " m ").await, Some(Stays::Yes));
    assert_eq!((stays("vllm", "other").await, stays("own", "m").await), (Some(Stays::Unknown), None));
    lists("llamacpp", &["/models/qwen.gguf"]);
    assert_eq!(stays("llamacpp", "any").await, Some(Stays::Yes), "it takes any name");
    lists("vllm", &["m"]);
    assert_eq!(stays("vllm", "other").await, Some(Stays::Unknown), "nobody else does");
    lists("openai", &["m"]);
    assert_eq!(stays("vllm", "m").await, Some(Stays::Unknown));
}

/// Another may listen at a port than the one that was there when the list was stored.
#[tokio::test]
async fn a_server_nearby_is_asked_once_more_by_each_run_of_the_program() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let lists = |owned_by: &str| {
        let rows = json!([{ "id": "m", "owned_by": owned_by }]);
        server.answer_models_with(Reply::http(200, json!({ "object": "list", "data": rows }).to_string()));
    };
    let stored = KnownModel { name: "m".into(), server_runs: Some(true), ..KnownModel::default() };
    for id in ["own", "vllm"] {
        let config = || {
            let config = ProviderConfig::new(id, Family::OpenAiChat, server.base_url(Wire::OpenAi));
            config.with_known([stored.clone()])
        };
        let (heard, before) = (HeardOf::default(), server.requests().len());
        let asked = async || ask_about(&config(), "m", &heard).await;
        assert_eq!(known_model(&config(), "m").unwrap().price, Some(Price::FREE), "as it was");
        lists("openai");
        let said = asked().await.unwrap();
        let info = known_model(&config().hearing(&said), "m").unwrap();
        assert_eq!((info.stays, info.price), (Stays::Unknown, None));
        assert_eq!((asked().await, server.requests().len()), (None, before + 1), "once");
        // A list that was looked at is as good.
        let heard = HeardOf::default();
        heard.list(&config(), &[]);
        assert_eq!(ask_about(&config(), "m", &heard).await, None);
        // Nobody is asked far away.
        let far = ProviderConfig { base_url: "https://gate.example/v1".into(), ..config() };
        assert!(!HeardOf::default().is_old(&far, None) && HeardOf::default().is_old(&config(), None));
        // Who does not answer changes nothing, and is asked again.
        let heard = HeardOf::default();
        server.answer_models_with(Reply::http(503, "busy"));
        assert_eq!(ask_about(&config(), "m", &heard).await, None);
        assert!(heard.is_old(&config(), None));
    }
}

#[tokio::test]
async fn a_model_of_ollama_is_asked_about_once_more_by_each_run_of_the_program() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let config = |server_runs| {
        let known = KnownModel { name: "m".into(), context_window: Some(8), server_runs, ..KnownModel::default() };
        ProviderConfig::new("ollama", Family::Ollama, server.base_url(Wire::Ollama)).with_known([known])
    };
    let stays = async |heard: &HeardOf, server_runs| {
        let said = ask_about(&config(server_runs), "m", heard).await?;
        Some(known_model(&config(server_runs).hearing(&said), "m").unwrap().stays)
    };
    let heard = HeardOf::default();
    assert_eq!(stays(&heard, Some(false)).await, Some(Stays::Yes), "it is one of this machine by now");
    assert_eq!(stays(&heard, Some(false)).await, None);
    server.answer_at("/api/show", Reply::http(200, r#"{"remote_model":"gpt-oss:120b"}"#));
    assert_eq!(stays(&HeardOf::default(), Some(true)).await, Some(Stays::No));
    server.answer_at("/api/show", Reply::http(500, "busy"));
    assert_eq!(stays(&HeardOf::default(), Some(true)).await, None);
}

/// What it lists in OpenAI's shape it says to run itself, all of it.
#[tokio::test]
async fn models_of_ollamas_cloud_are_known_by_its_own_list_where_another_is_asked_for() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let row = |name: &str| json!({ "id": name, "owned_by": "library" });
    let list = json!({ "object": "list", "data": [row("qwen3:4b"), row("mine"), row("gpt-oss:20b-cloud")] });
    server.answer_models_with(Reply::http(200, list.to_string()));
    let own = json!({ "models": [{ "name": "qwen3:4b" }, { "name": "gpt-oss:20b-cloud" },
        { "name": "mine", "remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b" }] });
    server.answer_at("/api/tags", Reply::http(200, own.to_string()));
    let config = ProviderConfig::new("local-9000", Family::OpenAiChat, server.base_url(Wire::OpenAi));
    let by = async || {
        let listed = list_models(&config).await.unwrap();
        listed.into_iter().map(|model| (model.run_by, model.untold)).collect::<Vec<_>>()
    };
    let (itself, another) = (Some(RunBy::Server("Ollama")), Some(RunBy::Another));
    assert_eq!(by().await, [(itself, false), (another, false), (another, false)]);
    server.answer_at("/api/tags", Reply::http(503, "busy"));
    assert_eq!(by().await, [(None, true), (None, true), (None, true)]);
    server.answer_at("/api/tags", Reply::http(404, "nothing there"));
    assert_eq!(by().await, [(None, false), (None, false), (None, false)]);
}

/// Whatever its port is, it is LM Studio where it says so.
#[tokio::test]
async fn an_lm_studio_that_is_silent_about_its_models_is_no_other_server() {
    use bosun_testkit::{ModelServer, Reply, Script, Wire};
    let server = ModelServer::with(Script { models: vec!["m".into()], ..Script::default() });
    let lists = |owned_by: &str| {
        let list = json!({ "object": "list", "data": [{ "id": "m", "owned_by": owned_by }] });
        server.answer_models_with(Reply::http(200, list.to_string()));
    };
    let config = ProviderConfig::new("lmstudio", Family::OpenAiChat, server.base_url(Wire::OpenAi));
    let mut learnt = ListedModels::default();
    lists("organization_owner");
    learnt.learn(&config, &list_models(&config).await.unwrap()).unwrap();
    let told = learnt.clone();
    let account = Account::new("lmstudio", "LM Studio", Family::OpenAiChat, server.base_url(Wire::OpenAi));
    assert_eq!(told.onward(&account).runs, ["m"]);
    for silent in [Reply::http(503, "busy"), Reply::hang()] {
        server.answer_at("/api/v0/models", silent);
        assert_eq!(learnt.learn(&config, &list_models(&config).await.unwrap()), Err(NoNews));
        assert_eq!(learnt, told);
    }
    // What another says in its list counts, and so does that LM Studio's own is refused.
    let refused = json!({ "error": { "message": "that is no key of ours" } }).to_string();
    for (owned_by, answer) in [
        ("openai", Reply::http(503, "busy")),
        ("openai", Reply::http(401, refused.clone())),
        ("organization_owner", Reply::http(403, refused)),
        ("organization_owner", Reply::http(404, "no such address")),
    ] {
        let mut learnt = told.clone();
        lists(owned_by);
        server.answer_at("/api/v0/models", answer);
        assert_eq!(learnt.learn(&config, &list_models(&config).await.unwrap()), Ok(()), "{owned_by}");
        assert_eq!(learnt, ListedModels::default(), "it is another: {owned_by}");
    }
}

#[tokio::test]
async fn models_of_ollamas_cloud_are_known_at_lm_studios_port_too() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let row = |name: &str| json!({ "id": name, "owned_by": "library" });
    let list = json!({ "object": "list", "data": [row("qwen3:4b"), row("mine")] });
    server.answer_models_with(Reply::http(200, list.to_string()));
    server.answer_at("/api/v0/models", Reply::http(404, "no such address"));
    let own =
        json!({ "models": [{ "name": "qwen3:4b" }, { "name": "mine", "remote_host": "https://ollama.com:443" }] });
    server.answer_at("/api/tags", Reply::http(200, own.to_string()));
    let config = ProviderConfig::new("lmstudio", Family::OpenAiChat, server.base_url(Wire::OpenAi));
    let by: Vec<_> = list_models(&config).await.unwrap().into_iter().map(|model| model.run_by).collect();
    assert_eq!(by, [Some(RunBy::Server("Ollama")), Some(RunBy::Another)]);
}

/// A list about some of which its server was silent is none that was heard whole.
#[tokio::test]
async fn a_server_that_was_silent_about_a_model_is_asked_about_that_one_again() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let row = |name: &str, owned_by: &str| json!({ "id": name, "owned_by": owned_by });
    let list = json!({ "data": [row("told", "vllm"), row("m", "organization_owner")] });
    server.answer_models_with(Reply::http(200, list.to_string()));
    server.answer_at("/api/v0/models", Reply::http(503, "busy"));
    let known = ["told", "m"].map(|name| KnownModel { name: name.into(), ..KnownModel::default() });
    let config = ProviderConfig::new("own", Family::OpenAiChat, server.base_url(Wire::OpenAi)).with_known(known);
    let heard = HeardOf::default();
    heard.list(&config, &list_models(&config).await.unwrap());
    assert!(heard.is_old(&config, None) && heard.is_old(&config, Some("m")) && !heard.is_old(&config, Some("told")));
    assert_eq!(ask_about(&config, "told", &heard).await, None);
    assert!(ask_about(&config, "m", &heard).await.is_some());
}

/// A program runs for days.
#[tokio::test]
async fn what_was_heard_grows_old_and_who_was_silent_is_asked_again_after_a_while() {
    use bosun_testkit::{ModelServer, Reply, Wire};
    let server = ModelServer::start();
    let passes = async |seconds: u64| {
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(seconds)).await;
        tokio::time::resume();
    };
    let known = || KnownModel { name: "m".into(), ..KnownModel::default() };
    let near = ProviderConfig::new("own", Family::OpenAiChat, server.base_url(Wire::OpenAi)).with_known([known()]);
    let ollama = ProviderConfig::new("ollama", Family::Ollama, server.base_url(Wire::Ollama)).with_known([known()]);
    for (config, path) in [(&near, "/v1/models"), (&ollama, "/api/show")] {
        let heard = HeardOf::default();
        let asked = async || {
            let before = server.requests().len();
            let said = ask_about(config, "m", &heard).await;
            (said.is_some(), server.requests().len() > before)
        };
        server.answer_at(path, Reply::hang());
        assert_eq!(asked().await, (false, true), "{path}");
        passes(20).await;
        assert_eq!(asked().await, (false, false), "it is not waited for before every call: {path}");
        passes(11).await;
        let answer = if path == "/api/show" { "{}" } else { r#"{"data":[{"id":"m"}]}"# };
        server.answer_at(path, Reply::http(200, answer));
        assert_eq!(asked().await, (true, true), "{path}");
        passes(9 * 60).await;
        assert!(!heard.is_old(config, Some("m")), "{path}");
        passes(61).await;
        assert!(heard.is_old(config, Some("m")), "{path}");
    }
}

#[test]
fn a_model_of_ollamas_cloud_is_run_by_another() {
    let list = json!({ "models": [
        { "name": "qwen3:4b", "digest": "0" },
        { "name": "mine", "remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b" },
    ] });
    let listed = read(list.to_string().as_bytes(), PriceList::None).unwrap();
    assert_eq!([listed[0].run_by, listed[1].run_by], [None, Some(RunBy::Another)]);
}
