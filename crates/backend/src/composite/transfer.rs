use futures_util::future::join_all;

use super::CompositeBackend;
use super::part::Part;
use crate::{BackendError, VirtualPath};

/// The members of a batch that go to one part, with their places in the batch.
struct Share<'a, T> {
    part: Part<'a>,
    places: Vec<usize>,
    members: Vec<T>,
}

pub(super) async fn upload(
    composite: &CompositeBackend,
    files: Vec<(VirtualPath, Vec<u8>)>,
) -> Vec<Result<(), BackendError>> {
    let mut answers: Vec<Option<Result<(), BackendError>>> = files.iter().map(|_| None).collect();
    let mut shares = Vec::new();
    for (place, (path, bytes)) in files.into_iter().enumerate() {
        match composite.changing(&path) {
            Ok((part, inner)) => add(&mut shares, part, place, (inner, bytes)),
            Err(error) => put(&mut answers, place, Err(error)),
        }
    }
    let done = shares.into_iter().map(|share| async move {
        let answered = share.part.backend.upload(share.members).await;
        (share.part, share.places, answered)
    });
    settle(&mut answers, join_all(done).await);
    in_order(answers)
}

pub(super) async fn download(
    composite: &CompositeBackend,
    paths: Vec<VirtualPath>,
) -> Vec<Result<Vec<u8>, BackendError>> {
    let mut answers: Vec<Option<Result<Vec<u8>, BackendError>>> = paths.iter().map(|_| None).collect();
    let mut shares = Vec::new();
    for (place, path) in paths.into_iter().enumerate() {
        if composite.holds_routes(&path) {
            put(&mut answers, place, Err(BackendError::IsADirectory { path }));
        } else {
            let (part, inner) = composite.part(&path);
            add(&mut shares, part, place, inner);
        }
    }
    let done = shares.into_iter().map(|share| async move {
        let answered = share.part.backend.download(share.members).await;
        (share.part, share.places, answered)
    });
    settle(&mut answers, join_all(done).await);
    in_order(answers)
}

fn add<'a, T>(shares: &mut Vec<Share<'a, T>>, part: Part<'a>, place: usize, member: T) {
    match shares.iter_mut().find(|share| share.part.index() == part.index()) {
        Some(share) => {
            share.places.push(place);
            share.members.push(member);
        }
        None => shares.push(Share { part, places: vec![place], members: vec![member] }),
    }
}

fn put<T>(answers: &mut [Option<T>], place: usize, answer: T) {
    if let Some(free) = answers.get_mut(place) {
        *free = Some(answer);
    }
}

type Answered<'a, T> = (Part<'a>, Vec<usize>, Vec<Result<T, BackendError>>);

fn settle<T>(answers: &mut [Option<Result<T, BackendError>>], done: Vec<Answered<'_, T>>) {
    for (part, places, answered) in done {
        for (place, answer) in places.into_iter().zip(answered) {
            put(answers, place, answer.map_err(|error| part.outer_error(error)));
        }
    }
}

fn in_order<T>(answers: Vec<Option<Result<T, BackendError>>>) -> Vec<Result<T, BackendError>> {
    let unanswered = || BackendError::Io {
        path: VirtualPath::root(),
        kind: std::io::ErrorKind::Other,
        reason: "the place it belongs to gave no answer".to_owned(),
    };
    answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(unanswered()))).collect()
}
