//! A search of which only some is for whoever asked.

use std::time::Instant;

use super::GREP_TIME;
use crate::{Backend, BackendError, GrepMatch, GrepQuery, GrepResult, Truncation};

/// Times that a backend is asked, where what it gives first is not for whoever asked.
const ROUNDS: u32 = 9;

/// The first lines that `backend` finds and `keep` keeps, which may put them in other words: what it leaves out takes no
/// room from the others. The backend is asked for more lines each time, 256 times what is wanted at most and no more than it
/// holds at once, and however often that is, the time is one. What else the search says is what the backend said last.
///
/// # Errors
/// As [`Backend::grep`].
pub async fn grep_kept(
    backend: &dyn Backend,
    query: GrepQuery,
    mut keep: impl FnMut(&mut GrepMatch) -> bool + Send,
) -> Result<GrepResult, BackendError> {
    let end = Instant::now() + GREP_TIME;
    let until = query.until.map_or(end, |until| until.min(end));
    let wanted = query.max_count;
    let mut asked = wanted;
    let mut all = GrepResult::default();
    for _ in 0..ROUNDS {
        if until <= Instant::now() {
            all.truncated = Some(Truncation::Budget);
            break;
        }
        let query = GrepQuery { max_count: asked, until: Some(until), ..query.clone() };
        let mut found = backend.grep(query).await?;
        // More than it holds: it gives no more however much is asked for.
        let gave_all_it_holds = found.matches.len() < asked;
        found.matches.retain_mut(&mut keep);
        // One that ran out of time can have less than the one before it.
        found.matches.append(&mut all.matches);
        found.matches.sort_unstable();
        found.matches.dedup();
        all = found;
        if all.matches.len() >= wanted || all.truncated != Some(Truncation::Count) || gave_all_it_holds {
            break;
        }
        asked = asked.saturating_mul(2).max(1);
    }
    if all.matches.len() > wanted {
        all.matches.truncate(wanted);
        all.truncated = Truncation::worse(all.truncated, Some(Truncation::Count));
    }
    Ok(all)
}
