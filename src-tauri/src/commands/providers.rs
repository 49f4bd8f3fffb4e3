use bosun_protocol::{CatalogueView, LocalServerView, ModelChoice, ProviderView, SaveProvider, TestCall};

use super::{Answer, Managed};
use crate::argument::{Arg, Line};

/// As far as is known. Servers of this machine of which nothing was heard of late are asked again beside it.
#[tauri::command]
#[specta::specta]
pub async fn list_providers(shell: Managed<'_>) -> Answer<Vec<ProviderView>> {
    let core = shell.core().await?;
    let listed = core.providers.list().await?;
    core.providers.look_beside();
    Ok(listed)
}

/// Over the channel that something new is known of the providers, which are to be listed again.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_providers(shell: Managed<'_>, channel: Line<()>) -> Answer<()> {
    shell.news.watch(channel.0);
    Ok(())
}

/// Adds or changes a provider. Keys only go in: nothing gives one back.
#[tauri::command]
#[specta::specta]
pub async fn save_provider(shell: Managed<'_>, provider: Arg<SaveProvider>) -> Answer<ProviderView> {
    let core = shell.core().await?;
    core.changed(core.providers.save(provider.0)).await
}

/// Removes a provider of the user's with its key; one that is built in goes back to how it came.
#[tauri::command]
#[specta::specta]
pub async fn remove_provider(shell: Managed<'_>, id: Arg<String>) -> Answer<()> {
    let core = shell.core().await?;
    core.changed(core.providers.remove(&id)).await
}

/// Adds a header to every request to a provider, changes it, or takes it away where `value` is empty. Values only go in.
#[tauri::command]
#[specta::specta]
pub async fn set_provider_header(
    shell: Managed<'_>,
    id: Arg<String>,
    name: Arg<String>,
    value: Arg<String>,
) -> Answer<ProviderView> {
    let core = shell.core().await?;
    core.changed(core.providers.set_header(&id, &name, &value)).await
}

/// A small call to `model`; without one, to a model of the provider's list.
#[tauri::command]
#[specta::specta]
pub async fn test_provider(shell: Managed<'_>, id: Arg<String>, model: Arg<Option<String>>) -> Answer<TestCall> {
    shell.core().await?.providers.test(&id, model.as_deref()).await
}

#[tauri::command]
#[specta::specta]
pub async fn list_models(shell: Managed<'_>, provider: Arg<String>) -> Answer<Vec<ModelChoice>> {
    shell.core().await?.providers.models(&provider).await
}

/// When and from where the program has what it knows of models beforehand.
#[tauri::command]
#[specta::specta]
pub async fn catalogue_source() -> Answer<CatalogueView> {
    let (date, source) = bosun_providers::catalogue_source();
    Ok(CatalogueView { date: date.to_owned(), source: source.to_owned() })
}

/// The model servers that answer at the usual ports of this machine.
#[tauri::command]
#[specta::specta]
pub async fn find_local_servers(shell: Managed<'_>) -> Answer<Vec<LocalServerView>> {
    shell.core().await?.providers.find_local().await
}

/// The provider for a server that was found, added where there is none yet.
#[tauri::command]
#[specta::specta]
pub async fn use_local_server(shell: Managed<'_>, base_url: Arg<String>) -> Answer<ProviderView> {
    shell.core().await?.providers.use_local(&base_url).await
}
