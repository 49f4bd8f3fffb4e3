//! One row of a list of models, in the words of whoever wrote it. What a row does not say stays unknown.

use std::collections::HashSet;

use bosun_model::Price;
use serde::Deserialize;
use serde_json::Value;

use super::{LLAMA_CPP, LM_STUDIO, ListedModel, OLLAMA, RunBy};
use crate::lenient::Count;
use crate::preset::PriceList;

/// `data` with ids in most lists, `models` with names in Gemini's and Ollama's, the bare list at Together. llama.cpp has
/// both, with what its models can do in the second.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum List {
    Bare(Vec<Row>),
    Data {
        data: Vec<Row>,
        #[serde(default)]
        models: Value,
    },
    Models {
        models: Vec<Row>,
    },
}

/// Whatever beside a name is not of the shape that is looked for says nothing; a list is not lost for it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    id: Option<String>,
    name: Option<String>,
    display_name: Option<String>,
    #[serde(rename = "displayName")]
    display_name_of_google: Option<String>,
    /// What a model of Google's can be used for.
    #[serde(rename = "supportedGenerationMethods")]
    methods: Option<Vec<String>>,
    /// By which servers that run models are told from those that hand on.
    owned_by: Value,
    /// Ollama's, of a model in the cloud.
    remote_host: Value,
    remote_model: Value,
    /// What a model is for, at Together.
    r#type: Value,
    max_model_len: Count,
    context_length: Count,
    context_window: Count,
    max_context_length: Count,
    max_input_tokens: Count,
    #[serde(rename = "inputTokenLimit")]
    input_token_limit: Count,
    /// llama.cpp's: what it was started with.
    meta: Value,
    #[serde(rename = "outputTokenLimit")]
    output_token_limit: Count,
    /// Groq's.
    max_completion_tokens: Count,
    /// Anthropic's.
    max_tokens: Count,
    /// OpenRouter's.
    top_provider: Value,
    architecture: Value,
    supported_parameters: Value,
    /// Mistral: names with yes or no; Anthropic: names with `{ supported }`; Ollama and llama.cpp: a list of names.
    capabilities: Value,
    /// Gemini's.
    thinking: Value,
    /// Moonshot's.
    supports_image_in: Value,
    supports_reasoning: Value,
    pricing: Value,
}

impl List {
    pub(super) fn models(self, prices: PriceList) -> Vec<ListedModel> {
        let rows = match self {
            Self::Bare(rows) | Self::Models { models: rows } => rows,
            Self::Data { mut data, models } => {
                let models: Vec<Row> = serde_json::from_value(models).unwrap_or_default();
                for row in data.iter_mut().filter(|row| row.capabilities.is_null()) {
                    let same = models.iter().find(|other| other.name.is_some() && other.name == row.id);
                    row.capabilities = same.map(|other| other.capabilities.clone()).unwrap_or_default();
                }
                data
            }
        };
        // Gateways that join the lists of several accounts name a model once for each.
        let mut seen = HashSet::new();
        let listed = rows.into_iter().filter_map(|row| row.listed(prices));
        listed.filter(|model| seen.insert(model.name.clone())).collect()
    }
}

/// Whose `owned_by` says that they run what they list, each with what it is called. LiteLLM and its like say `openai`, or
/// whoever it is that they hand on to.
const SERVERS: [(&str, &str); 8] = [
    ("vllm", "vLLM"),
    ("llamacpp", LLAMA_CPP),
    ("library", OLLAMA),
    ("organization_owner", LM_STUDIO),
    ("sglang", "SGLang"),
    ("koboldcpp", "KoboldCpp"),
    ("tabbyAPI", "TabbyAPI"),
    ("docker", "Docker Model Runner"),
];

/// What Together lists beside what talks.
const OTHER_TYPES: [&str; 7] = ["image", "embedding", "rerank", "moderation", "audio", "transcribe", "video"];

impl Row {
    /// `None` for what cannot be talked with.
    fn listed(self, prices: PriceList) -> Option<ListedModel> {
        let is_used_otherwise =
            self.methods.as_ref().is_some_and(|methods| !methods.iter().any(|method| method == "generateContent"))
                || self.r#type.as_str().is_some_and(|kind| OTHER_TYPES.contains(&kind))
                || can(&self.capabilities, "completion_chat") == Some(false);
        if is_used_otherwise {
            return None;
        }
        let window = self.window();
        let facts = ListedModel {
            context_window: window,
            max_output: self.max_output().filter(|most| leaves_room(*most, window)),
            images: self.images(),
            audio: self.modality("audio"),
            video: self.modality("video"),
            documents: self.modality("file").or_else(|| can(&self.capabilities, "pdf_input")),
            reasoning: self.reasoning(),
            price: price(&self.pricing, prices),
            run_by: self.run_by(),
            ..ListedModel::default()
        };
        let title = self.display_name.or(self.display_name_of_google);
        let (name, title) = match (self.id, self.name) {
            (Some(id), name) => (id, title.or(name)),
            (None, Some(name)) => (name.strip_prefix("models/").unwrap_or(&name).to_owned(), title),
            (None, None) => return None,
        };
        Some(ListedModel { name, title, ..facts })
    }

    fn run_by(&self) -> Option<RunBy> {
        if is_text(&self.remote_host) || is_text(&self.remote_model) {
            return Some(RunBy::Another);
        }
        let owner = self.owned_by.as_str()?;
        SERVERS.iter().find(|(word, _)| *word == owner).map(|(_, name)| RunBy::Server(name))
    }

    fn window(&self) -> Option<u32> {
        let of_list = [
            self.max_model_len,
            self.context_length,
            self.context_window,
            self.max_context_length,
            self.max_input_tokens,
            self.input_token_limit,
        ];
        of_list.into_iter().find_map(tokens).or_else(|| number(&self.meta, "n_ctx"))
    }

    fn max_output(&self) -> Option<u32> {
        let of_list = [self.output_token_limit, self.max_completion_tokens, self.max_tokens];
        of_list.into_iter().find_map(tokens).or_else(|| number(&self.top_provider, "max_completion_tokens"))
    }

    fn images(&self) -> Option<bool> {
        let named = ["vision", "image_input"].iter().find_map(|name| can(&self.capabilities, name));
        // Their own word for both servers that list what a model can do: whoever completes and is not more takes text only.
        let listed = names(&self.capabilities).filter(|names| names.contains(&"completion"));
        let listed = listed.map(|names| names.contains(&"vision") || names.contains(&"multimodal"));
        self.modality("image").or(listed).or(named).or(self.supports_image_in.as_bool())
    }

    fn reasoning(&self) -> Option<bool> {
        let by_field = names(&self.supported_parameters).map(|fields| fields.contains(&"reasoning"));
        let named = ["reasoning", "thinking"].iter().find_map(|name| can(&self.capabilities, name));
        let listed = names(&self.capabilities).filter(|names| names.contains(&"thinking")).map(|_| true);
        by_field.or(listed).or(named).or(self.thinking.as_bool()).or(self.supports_reasoning.as_bool())
    }

    /// Whether a model takes something, as OpenRouter says it.
    fn modality(&self, kind: &str) -> Option<bool> {
        Some(names(self.architecture.get("input_modalities")?)?.contains(&kind))
    }
}

/// A longest output is of use where it leaves half of the window for what is asked; some lists repeat the window there.
fn leaves_room(most: u32, window: Option<u32>) -> bool {
    window.is_none_or(|window| most <= window / 2)
}

fn tokens(count: Count) -> Option<u32> {
    u32::try_from(count.0?).ok().filter(|tokens| *tokens > 0)
}

fn number(fields: &Value, name: &str) -> Option<u32> {
    u32::try_from(fields.get(name)?.as_u64()?).ok().filter(|number| *number > 0)
}

/// What an object of capabilities says of one.
fn can(capabilities: &Value, name: &str) -> Option<bool> {
    let said = capabilities.as_object()?.get(name)?;
    said.as_bool().or_else(|| said.get("supported")?.as_bool())
}

/// Whether something is said.
pub(super) fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// What a list of names holds.
pub(super) fn names(list: &Value) -> Option<Vec<&str>> {
    Some(list.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// `None` where a list has no price, or one that does not depend on tokens alone.
fn price(pricing: &Value, prices: PriceList) -> Option<Price> {
    let dollars = |name: &str| {
        let value = pricing.get(name)?;
        let amount = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        (amount.is_finite() && amount >= 0.0).then_some(amount)
    };
    match prices {
        PriceList::None => None,
        PriceList::PerToken => {
            let by_length = pricing.get("overrides").and_then(Value::as_array).is_some_and(|tiers| !tiers.is_empty());
            if by_length || dollars("request").is_some_and(|fee| fee > 0.0) {
                return None;
            }
            // A millionth of a dollar has no exact binary fraction; ten digits behind the point are.
            let million = |name: &str| dollars(name).map(|amount| (amount * 1e16).round() / 1e10);
            Some(Price {
                input: million("prompt")?,
                output: million("completion")?,
                cache_read: million("input_cache_read"),
                cache_write: million("input_cache_write"),
                cache_write_hour: None,
                audio: million("audio"),
            })
        }
        PriceList::PerMillion => {
            let (input, output) = (dollars("input")?, dollars("output")?);
            Some(Price {
                input,
                output,
                cache_read: dollars("cached_input"),
                cache_write: None,
                cache_write_hour: None,
                audio: None,
            })
        }
    }
}
