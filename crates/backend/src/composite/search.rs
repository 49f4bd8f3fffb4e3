//! One search over several backends: all at once, so that their time is one budget, and with one count for all.

use std::time::Instant;

use futures_util::future::join_all;

use super::CompositeBackend;
use super::part::Part;
use crate::search::{GREP_TIME, Glob, grep_kept, hidden, is_git, is_hidden};
use crate::{BackendError, GlobQuery, GlobResult, GrepMatch, GrepQuery, GrepResult, Truncation, Unread, VirtualPath};

/// What one part is asked.
struct Question<'a> {
    part: Part<'a>,
    start: VirtualPath,
    pattern: Option<String>,
    /// It has the folder that the search is about; the others are mounted below.
    has_start: bool,
}

pub(super) async fn glob(composite: &CompositeBackend, query: GlobQuery) -> Result<GlobResult, BackendError> {
    let questions = questions(composite, &query.path, Some(&query.pattern), query.include_ignored)?;
    let asked = questions.into_iter().map(|question| {
        let query = GlobQuery {
            pattern: question.pattern.clone().unwrap_or_default(),
            path: question.start.clone(),
            ..query.clone()
        };
        async move { (question.part.backend.glob(query).await, question) }
    });
    let mut all = GlobResult::default();
    for (answer, question) in join_all(asked).await {
        match settled(answer, &question)? {
            Ok(found) => {
                let mut paths = found.paths;
                paths.retain_mut(|path| is_own(composite, &question.part, path));
                all.paths.extend(paths);
                all.unread.extend(unread(composite, &question, found.unread));
                all.truncated = Truncation::worse(all.truncated, found.truncated);
                all.left_out += found.left_out;
                all.failed.extend(found.failed.into_iter().map(|error| question.part.outer_error(error)));
            }
            Err(error) => all.failed.push(error),
        }
    }
    all.paths.sort_unstable();
    all.paths.dedup();
    keep_first(&mut all.unread);
    // A mount may be asked about more than one pattern.
    all.failed.dedup();
    Ok(all)
}

pub(super) async fn grep(composite: &CompositeBackend, query: GrepQuery) -> Result<GrepResult, BackendError> {
    let questions = questions(composite, &query.path, query.glob.as_deref(), query.include_ignored)?;
    let end = Instant::now() + GREP_TIME;
    let until = Some(query.until.map_or(end, |until| until.min(end)));
    let max_count = query.max_count;
    let asked = questions.into_iter().map(|question| {
        let query = GrepQuery { glob: question.pattern.clone(), path: question.start.clone(), until, ..query.clone() };
        async move {
            let own = |row: &mut GrepMatch| is_own(composite, &question.part, &mut row.path);
            (grep_kept(question.part.backend, query, own).await, question)
        }
    });
    let mut all = GrepResult::default();
    for (answer, question) in join_all(asked).await {
        match settled(answer, &question)? {
            Ok(found) => {
                all.matches.extend(found.matches);
                all.unread.extend(unread(composite, &question, found.unread));
                all.truncated = Truncation::worse(all.truncated, found.truncated);
                all.left_out += found.left_out;
                all.binary |= found.binary && question.has_start;
                all.failed.extend(found.failed.into_iter().map(|error| question.part.outer_error(error)));
            }
            Err(error) => all.failed.push(error),
        }
    }
    all.matches.sort_unstable();
    all.matches.dedup();
    all.failed.dedup();
    keep_first(&mut all.unread);
    if all.matches.len() > max_count {
        all.matches.truncate(max_count);
        all.truncated = Truncation::worse(all.truncated, Some(Truncation::Count));
    }
    Ok(all)
}

/// Which parts hold something below `start`, and what each is asked about names.
fn questions<'a>(
    composite: &'a CompositeBackend,
    start: &'a VirtualPath,
    pattern: Option<&str>,
    include_ignored: bool,
) -> Result<Vec<Question<'a>>, BackendError> {
    let glob = pattern.map(|pattern| Glob::parse(pattern, hidden(include_ignored))).transpose()?;
    let (part, inner) = composite.part(start);
    let mut questions = vec![Question { part, start: inner, pattern: pattern.map(str::to_owned), has_start: true }];
    for (part, rest) in composite.routes_below(start) {
        let ask = |pattern| Question { part, start: VirtualPath::root(), pattern, has_start: false };
        if rest.segments().any(is_git) {
            continue;
        }
        match &glob {
            Some(glob) => {
                let progress = rest.segments().try_fold(glob.start(), |progress, name| glob.enter(&progress, name));
                let patterns = progress.map(|progress| glob.rest(&progress)).unwrap_or_default();
                questions.extend(patterns.into_iter().map(|pattern| ask(Some(pattern))));
            }
            None if include_ignored || !rest.segments().any(is_hidden) => questions.push(ask(None)),
            None => {}
        }
    }
    Ok(questions)
}

/// The inner error where a mount below the start failed by itself: the rest of the search is worth having, and says so.
fn settled<T>(
    answer: Result<T, BackendError>,
    question: &Question<'_>,
) -> Result<Result<T, BackendError>, BackendError> {
    match answer {
        Ok(found) => Ok(Ok(found)),
        Err(error @ (BackendError::BadPattern { .. } | BackendError::Cancelled)) => Err(error),
        Err(error) if question.has_start => Err(question.part.outer_error(error)),
        Err(error) => {
            let error = question.part.outer_error(error);
            tracing::warn!(%error, "a mount could not be searched");
            Ok(Err(error))
        }
    }
}

/// Whether the caller can reach what a part has found, by the caller's name, which it has from here on.
fn is_own(composite: &CompositeBackend, part: &Part<'_>, place: &mut VirtualPath) -> bool {
    *place = part.outer(place);
    composite.part(place).0.index() == part.index()
}

fn unread(composite: &CompositeBackend, question: &Question<'_>, mut found: Vec<Unread>) -> Vec<Unread> {
    found.retain_mut(|one| is_own(composite, &question.part, &mut one.path));
    found
}

fn keep_first(unread: &mut Vec<Unread>) {
    unread.sort_unstable();
    unread.dedup();
    unread.truncate(Unread::MOST);
}
