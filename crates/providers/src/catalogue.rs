//! What is known of models beforehand: `catalogue.json`, with its date and source. What is not in it is unknown, and
//! unknown models work.

use std::borrow::Cow;
use std::sync::OnceLock;

use bosun_model::{Abilities, ModelInfo, Price, PriceStep, Stays};
use serde::Deserialize;

/// The file, as it is embedded.
const FILE: &str = include_str!("catalogue.json");

/// A vendor's models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    /// Its own hosts.
    hosts: Vec<String>,
    /// Those of them where its prices hold; all where nothing is said.
    priced_at: Option<Vec<String>>,
    models: Vec<Model>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    name: String,
    /// Whether others may serve it too, with a window of their choosing.
    #[serde(default)]
    open_weights: bool,
    context_window: Option<u32>,
    max_output: Option<u32>,
    #[serde(default)]
    abilities: Abilities,
    price: Option<Price>,
    #[serde(default)]
    steps: Vec<PriceStep>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    date: String,
    source: String,
    vendors: Vec<Vendor>,
}

/// When and from where the figures were taken, for the settings to show.
pub fn catalogue_source() -> (&'static str, &'static str) {
    let catalogue = catalogue();
    (&catalogue.date, &catalogue.source)
}

/// What is known of `name` at `host`.
///
/// A price is the vendor's own, so it is given for the vendor's hosts only, and of those where it is in US dollars. A window holds wherever the vendor alone can
/// serve the model, behind a gateway too; who serves open weights chooses a window, so it is unknown elsewhere.
pub(crate) fn info(provider: &str, host: &str, name: &str) -> ModelInfo {
    let mut info = ModelInfo {
        provider: provider.to_owned(),
        name: name.to_owned(),
        context_window: None,
        max_output: None,
        abilities: Abilities::default(),
        price: None,
        steps: Vec::new(),
        scripted: false,
        stays: Stays::No,
    };
    if let Some((vendor, model)) = find(name) {
        let own = vendor.hosts.iter().any(|known| known == host);
        info.abilities = model.abilities;
        if own || !model.open_weights {
            info.context_window = model.context_window;
            info.max_output = model.max_output;
        }
        if vendor.priced_at.as_ref().unwrap_or(&vendor.hosts).iter().any(|known| known == host) {
            info.price = model.price;
            info.steps.clone_from(&model.steps);
        }
    }
    info
}

/// Whether anything is known of `name` itself, wherever it is served.
pub(crate) fn knows(name: &str) -> bool {
    find(name).is_some()
}

/// The models of the vendor at `host`.
#[cfg(test)]
pub(crate) fn names_at(host: &str) -> Vec<&'static str> {
    let vendors = catalogue().vendors.iter().filter(|vendor| vendor.hosts.iter().any(|own| own == host));
    vendors.flat_map(|vendor| &vendor.models).map(|model| model.name.as_str()).collect()
}

/// The vendor's own name of a model, out of what gateways and clouds make of it: `anthropic/claude-x`,
/// `us.anthropic.claude-x-20250101-v1:0` (Bedrock), `claude-x@20250101` (Vertex AI).
pub(crate) fn plain_name(name: &str) -> Cow<'_, str> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let Some((_, at_bedrock)) = name.split_once("anthropic.") else { return name.replace('@', "-").into() };
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == ':');
    match at_bedrock.rsplit_once("-v") {
        Some((name, version)) if is_version(version) => name.into(),
        _ => at_bedrock.into(),
    }
}

/// The entry for `name`: itself, as gateways and clouds call it, or with a date or `-latest` at its end.
fn find(name: &str) -> Option<(&'static Vendor, &'static Model)> {
    let name = plain_name(name);
    let vendors = catalogue().vendors.iter();
    let rows = vendors.flat_map(|vendor| vendor.models.iter().map(move |model| (vendor, model)));
    rows.filter(|(_, model)| name.strip_prefix(model.name.as_str()).is_some_and(is_version))
        .max_by_key(|(_, model)| model.name.len())
}

/// What may follow a model's name without making it another model: nothing, `-latest`, or a date with its year
/// (`-20251001`, `-2025-10-01`) or without its century (`-2512`).
fn is_version(rest: &str) -> bool {
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    let is_date = match digits.len() {
        8 => rest.chars().all(|c| c == '-' || c.is_ascii_digit()),
        4 => {
            rest.len() == 5
                && ("2301".."4001").contains(&&*digits)
                && digits.get(2..).is_some_and(|month| ("01"..="12").contains(&month))
        }
        _ => false,
    };
    rest.is_empty() || rest == "-latest" || (is_date && rest.starts_with('-'))
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        // A test reads the file, so that this cannot happen in a build that was tested.
        serde_json::from_str(FILE).unwrap_or_else(|error| {
            tracing::error!(%error, "the catalogue of models cannot be read");
            Catalogue { date: String::new(), source: String::new(), vendors: Vec::new() }
        })
    })
}

#[cfg(test)]
mod tests {
    use bosun_model::Usage;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_file_is_sound() {
        let read: Catalogue = serde_json::from_str(FILE).unwrap();
        let mut names: Vec<_> =
            read.vendors.iter().flat_map(|vendor| &vendor.models).map(|model| &model.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        for model in read.vendors.iter().flat_map(|vendor| &vendor.models) {
            assert!(model.max_output <= model.context_window, "{}", model.name);
            let mut before = (0, model.price);
            for step in &model.steps {
                let (over, price) = before;
                assert!(
                    step.over > over && price.is_some_and(|price| step.price.input > price.input),
                    "{}",
                    model.name
                );
                before = (step.over, Some(step.price));
            }
        }
        for vendor in &read.vendors {
            assert!(vendor.priced_at.iter().flatten().all(|host| vendor.hosts.contains(host)), "{vendor:?}");
        }
        let (date, source) = catalogue_source();
        assert_eq!(date.len(), "2026-01-01".len());
        assert!(source.len() < 60, "it stands in the middle of a sentence");
    }

    #[test]
    fn names_are_found_with_dates_and_behind_gateways_but_not_by_their_beginning() {
        let window = |host, name| info("p", host, name).context_window;
        let known = window("api.anthropic.com", "claude-haiku-4-5");
        assert!(known.is_some());
        assert_eq!(window("api.anthropic.com", "claude-haiku-4-5-20251001"), known);
        assert_eq!(window("openrouter.ai", "anthropic/claude-haiku-4-5-latest"), known);
        assert_eq!(window("api.anthropic.com", "claude-haiku-4-5-next"), None);
        let bedrock = "bedrock-runtime.eu-west-1.amazonaws.com";
        assert_eq!(window(bedrock, "eu.anthropic.claude-haiku-4-5-20251001-v1:0"), known);
        assert_eq!(window(bedrock, "anthropic.claude-haiku-4-5"), known);
        assert_eq!(window("us-east5-aiplatform.googleapis.com", "claude-haiku-4-5@20251001"), known);
        assert_eq!(info("p", bedrock, "eu.anthropic.claude-haiku-4-5-20251001-v1:0").price, None, "by the region");
        assert_eq!(window("api.openai.com", "gpt-4.1-mini-2025-04-14"), window("api.openai.com", "gpt-4.1-mini"));
    }

    #[test]
    fn a_date_without_its_century_is_a_version_and_one_with_a_row_of_its_own_is_that() {
        let price = |name| info("mistral", "api.mistral.ai", name).price.map(|price| price.input);
        assert_eq!(price("mistral-large-2512"), price("mistral-large-latest"));
        assert_eq!((price("mistral-medium-2604"), price("mistral-medium-2508")), (Some(1.5), Some(0.4)));
        for not_a_date in ["mistral-large-2513", "mistral-large-9912", "mistral-large-25-12", "mistral-large2512"] {
            assert_eq!(price(not_a_date), None, "{not_a_date}");
        }
    }

    #[test]
    fn a_price_holds_for_its_length_and_where_it_is_in_dollars() {
        let cost = |input| {
            let usage = Usage { input: Some(input), output: Some(1_000), ..Usage::default() };
            info("openai", "api.openai.com", "gpt-5.4").cost(&usage).unwrap()
        };
        assert!((cost(272_000) - (0.272 * 2.5 + 0.015)).abs() < 1e-9 && (cost(272_001) - cost(272_000)) > 0.68);
        assert!(info("zai", "api.z.ai", "glm-5.1").price.is_some());
        assert_eq!(info("zhipu", "open.bigmodel.cn", "glm-5.1").price, None);
        assert!(info("zhipu", "open.bigmodel.cn", "glm-5.1").context_window.is_some());
    }

    /// What it costs to hear differs from what it costs to read at some of Gemini's, and is unknown where nothing is said.
    #[test]
    fn sound_costs_its_own_price() {
        let of = |name| info("google", "generativelanguage.googleapis.com", name).price.and_then(|price| price.audio);
        for (name, price) in [
            ("gemini-2.5-flash", 1.0),
            ("gemini-2.5-flash-lite", 0.3),
            ("gemini-3-flash-preview", 1.0),
            ("gemini-3.1-flash-lite", 0.5),
        ] {
            assert_eq!(of(name), Some(price), "{name}");
        }
        let heard = Usage { input: Some(10), output: Some(1), audio: Some(5), ..Usage::default() };
        let unsaid = info("google", "generativelanguage.googleapis.com", "gemini-3.5-flash-lite");
        assert_eq!((unsaid.price.is_some(), unsaid.cost(&heard)), (true, None));
    }

    #[test]
    fn what_is_open_is_the_same_model_wherever_it_runs() {
        assert!(!info("ollama", "localhost:11434", "devstral").abilities.reasoning, "it does not think");
        assert!(info("xai", "api.x.ai", "grok-4.7").abilities.documents);
        let fable = info("anthropic", "api.anthropic.com", "claude-fable-5-2-20261109");
        assert_eq!(fable.price.map(|price| (price.input, price.output)), Some((8.0, 40.0)));
        assert!(knows("claude-mythos-5-2") && knows("claude-mythos-5-1"));
    }

    #[test]
    fn prices_and_the_windows_of_open_weights_hold_at_the_vendor_only() {
        assert!(info("p", "api.z.ai", "glm-4.7").price.is_some());
        let local = info("p", "127.0.0.1:8080", "glm-4.7");
        assert_eq!((local.price, local.context_window), (None, None));
        assert!(local.abilities.reasoning);
        assert_eq!(info("p", "gateway.example", "claude-haiku-4-5").price, None);
    }
}
