use bosun_model::{ChatModel, ChatRequest, Message, MessageBuilder, ModelError, ModelEvent};
use futures_util::StreamExt;

use crate::ProviderConfig;
use crate::http_model::HttpModel;

/// A call as small as can be, to see whether address, key and model work. Gives what the model said, which may be nothing.
///
/// # Errors
/// The provider's own, as any call would get it.
pub async fn test_call(config: &ProviderConfig, model: &str) -> Result<String, ModelError> {
    let model = HttpModel::new(config, model, None)?;
    let request = ChatRequest {
        messages: vec![Message::human("test", "Answer with one word: ready?").into()],
        max_output: Some(16),
        ..ChatRequest::default()
    };
    let mut stream = model.stream(request).await?;
    let mut builder = MessageBuilder::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        builder.push(&event)?;
        if matches!(event, ModelEvent::Finished { .. }) {
            break;
        }
    }
    Ok(builder.finish("test".into(), &model.info().provider)?.text())
}
