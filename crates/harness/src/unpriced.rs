//! Models whose price is not known: a limit of money does not hold for what they cost.

use bosun_agent::{AgentError, EntryBody, NoteAbout, NoteKind, TurnContext};
use bosun_model::ModelInfo;

/// Whether nothing can be said of what calls of a model cost.
pub(crate) fn is_unpriced(model: &ModelInfo) -> bool {
    model.price.is_none() && !model.scripted
}

/// Tells the person that what `model` costs is not counted towards `limit` US dollars, where nothing of that kind was told
/// in this turn, by whomever of its tree.
pub(crate) async fn tell(cx: &TurnContext, limit: f64, model: &ModelInfo) -> Result<(), AgentError> {
    if !is_unpriced(model) || !cx.spent().tell_uncounted() {
        return Ok(());
    }
    let model = format!("{}:{}", model.provider, model.name);
    let about = NoteAbout::CostNotCounted { limit: limit.to_string(), model };
    Ok(cx.log().record(vec![EntryBody::noted(NoteKind::PriceUnknown, about)]).await?)
}
