//! Models whose price is not known: a limit of money does not hold for what they cost.

use bosun_agent::{AgentError, EntryBody, NoteAbout, NoteKind, TurnContext};
use bosun_model::ModelInfo;

/// Tells the person that what `model` costs is not counted towards `limit` US dollars, where nothing of that kind was told
/// in this turn, by whomever of its tree.
pub(crate) async fn tell(cx: &TurnContext, limit: f64, model: &ModelInfo) -> Result<(), AgentError> {
    if !model.is_unpriced() || !cx.spent().tell_uncounted() {
        return Ok(());
    }
    let model = format!("{}:{}", model.provider, model.name);
    let about = NoteAbout::CostNotCounted { limit: limit.to_string(), model };
    Ok(cx.log().record(vec![EntryBody::noted(NoteKind::PriceUnknown, about)]).await?)
}
