//! `bosun models`: what could answer, from where, and what is known of it.

use std::io::Write;

use bosun_model::{ModelInfo, Stays};
use bosun_providers::{
    Account, EnvironmentKeys, ListedModel, ListedModels, Preferences, ProviderConfig, Said, ask_again,
    catalogue_source, find_local_servers, known_model, list_models,
};
use bosun_session::SessionError;
use clap::Args;
use serde::Serialize;

use super::{Address, Models, Named};
use crate::Exit;
use crate::failure::Failure;
use crate::line::write_line;
use crate::terminal::{one_line, short};

/// Longest name in a table.
const NAME: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only of this provider: its models, asked of its own server.
    #[arg(value_name = "PROVIDER", conflicts_with = "local")]
    provider: Option<String>,
    /// Model servers on this machine: the usual ports of this machine are asked, and nothing else.
    #[arg(long)]
    local: bool,
    /// Asks at this address instead of the provider's own.
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

/// A provider or one of its models, as a line of JSON.
#[derive(Debug, Serialize)]
struct Row {
    provider: String,
    host: String,
    /// Whether requests are known to stay on this machine.
    local: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u32>,
    /// US dollars per million tokens; missing where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_price: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_price: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wants_key: Option<bool>,
}

pub(crate) async fn models(args: ModelsArgs, keys: EnvironmentKeys) -> Result<Exit, Failure> {
    let rows = match (&args.provider, args.local) {
        (Some(provider), _) => of_provider(provider, args.base_url.clone(), keys).await?,
        (None, true) => local(&Models::new(None, keys)).await?,
        (None, false) => providers(keys).await?,
    };
    let mut out = std::io::stdout().lock();
    for row in &rows {
        if args.json { write_line(&mut out, row)? } else { writeln!(out, "{}", row.line(args.provider.is_some()))? }
    }
    if args.provider.is_some() && !args.json {
        let (date, source) = catalogue_source();
        writeln!(std::io::stderr(), "what the list does not say is of {date}, from {source}")?;
    }
    if rows.is_empty() && args.local {
        writeln!(std::io::stderr(), "no model server answered at the usual ports of this machine")?;
    }
    Ok(Exit::Done)
}

/// Every provider that could be named, with where its requests would go. Servers of this machine that said before who runs
/// their models are asked again: others may listen there by now.
async fn providers(keys: EnvironmentKeys) -> Result<Vec<Row>, Failure> {
    let models = Models::new(None, keys);
    let (accounts, listed) = (models.accounts().await?, models.listed().await?);
    let config = async |account| models.config(account).await.ok();
    for (config, said) in ask_again(&accounts, &listed, &models.heard, config).await {
        models.learn(config, said).await?;
    }
    let listed = models.listed().await?;
    Ok(accounts.iter().map(|account| Row::of_account(account, &listed)).collect())
}

async fn of_provider(id: &str, base_url: Option<String>, keys: EnvironmentKeys) -> Result<Vec<Row>, Failure> {
    let models = Models::new(None, keys);
    models.ask_at(base_url.map(|url| Address { provider: id.to_owned(), url, named: Named::Now }));
    let account = models.account(id).await?;
    let config = models.config(&account).await?;
    let listed = list_models(&config).await.map_err(SessionError::from)?;
    if !config.lists_what_is_called() {
        return Err(Failure::NoDeployments { id: config.id, provider: account.label.to_string() });
    }
    let config = models.learn(config, Said::All(listed.clone())).await?;
    Ok(listed.into_iter().map(|model| Row::of_model(&config, &account, model)).collect())
}

async fn local(models: &Models) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for server in find_local_servers(&models.cloud()).await {
        let account = server.account;
        let mut config = ProviderConfig::new(account.id.as_str(), account.family, account.base_url.as_str());
        if server.models.is_empty() {
            let row = Row::of_account(&account, &ListedModels::default());
            rows.push(Row { wants_key: Some(server.wants_key), ..row });
        } else {
            config = Preferences::default().apply(config, &models.listed().await?).map_err(SessionError::from)?;
            config = models.learn(config, Said::All(server.models.clone())).await?;
        }
        rows.extend(server.models.into_iter().map(|model| Row::of_model(&config, &account, model)));
    }
    Ok(rows)
}

impl Row {
    fn of_account(account: &Account, listed: &ListedModels) -> Self {
        let onward = listed.onward(account);
        Self {
            provider: account.id.clone(),
            host: account.host(),
            local: onward.runs_itself,
            model: None,
            context_window: None,
            input_price: None,
            output_price: None,
            wants_key: None,
        }
    }

    fn of_model(config: &ProviderConfig, account: &Account, model: ListedModel) -> Self {
        let known: Option<ModelInfo> = known_model(config, &model.name).ok();
        let price = known.as_ref().and_then(|info| info.price);
        Self {
            local: known.as_ref().is_some_and(|info| info.stays == Stays::Yes),
            context_window: known.and_then(|info| info.context_window),
            model: Some(model.name),
            input_price: price.map(|price| price.input),
            output_price: price.map(|price| price.output),
            ..Self::of_account(account, &ListedModels::default())
        }
    }

    /// For people. `priced` where a price could be known.
    fn line(&self, priced: bool) -> String {
        let name = match &self.model {
            Some(model) => format!("{}:{model}", self.provider),
            None => self.provider.clone(),
        };
        let window = self.context_window.map(|tokens| format!("{tokens} tokens"));
        let price = match (self.input_price, self.output_price) {
            (Some(input), Some(output)) => Some(format!("${input} / ${output} per million")),
            _ if self.model.is_some() && priced => Some("price unknown".to_owned()),
            _ => None,
        };
        let key = self.wants_key.map(|wants| if wants { "wants a key" } else { "no model yet" }.to_owned());
        let facts: Vec<String> = [Some(one_line(&self.host)), window, price, key].into_iter().flatten().collect();
        format!("{:<40} {}", short(&one_line(&name), NAME), facts.join("  "))
    }
}

#[cfg(test)]
mod tests {
    use bosun_providers::{RunBy, preset};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_says_where_requests_go_and_that_a_price_is_not_known() {
        let account = Account::of_preset(preset("anthropic").unwrap());
        let config = ProviderConfig::new("anthropic", account.family, account.base_url.as_str());
        let listed = |name: &str| ListedModel { name: name.into(), ..ListedModel::default() };
        let known = Row::of_model(&config, &account, listed("claude-haiku-4-5"));
        assert_eq!(known.context_window, Some(200_000));
        assert!(
            known.line(true).ends_with("api.anthropic.com  200000 tokens  $1 / $5 per million"),
            "{}",
            known.line(true)
        );
        assert!(!known.local);
        let unknown = Row::of_model(&config, &account, listed("claude-\u{1b}[2J"));
        let line = unknown.line(true);
        assert!(line.ends_with("api.anthropic.com  price unknown") && !line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn only_what_is_known_to_stay_here_is_said_to() {
        let local = |id: &str, name: &str, run_by| {
            let account = Account::of_preset(preset(id).unwrap());
            let listed = ListedModel { name: name.into(), run_by, ..ListedModel::default() };
            let config = ProviderConfig::new(id, account.family, account.base_url.as_str());
            Row::of_model(&config.hearing(&Said::All(vec![listed.clone()])), &account, listed).local
        };
        assert!(local("ollama", "qwen3:4b", None) && local("vllm", "m", Some(RunBy::Server("vLLM"))));
        for (id, name) in [("ollama", "gpt-oss:120b-cloud"), ("vllm", "m"), ("litellm", "m"), ("openai", "gpt-5.4")] {
            assert!(!local(id, name, None), "{id}:{name}");
        }
        let accounts =
            |id: &str| Row::of_account(&Account::of_preset(preset(id).unwrap()), &ListedModels::default()).local;
        assert!(accounts("ollama") && !accounts("vllm") && !accounts("litellm") && !accounts("anthropic"));
    }
}
