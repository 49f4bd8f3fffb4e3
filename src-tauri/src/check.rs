//! What the page sends is hostile until it was looked at. Ids and lengths are checked here, before anything else sees them;
//! whether a thing exists and may be done is for the room that owns it.

use bosun_protocol::{
    AdditionChange, Decide, Decision, ErrorCode, ItemId, Mention, ModelRef, PlanChange, Problem, RuleDraft,
    SecretField, SendMessage, ServerReach,
};

use crate::error::Failure;

/// Our ids are 32 letters; tool calls are named by providers, some at length.
const LONGEST_ID: usize = 64;
const LONGEST_CALL_ID: usize = 512;
const LONGEST_NAME: usize = 256;
const LONGEST_PATH: usize = 4_096;
/// A message that a person wrote or pasted.
const LONGEST_TEXT: usize = 4 << 20;
/// A file in base64 that goes along with a message.
const LONGEST_BYTES: usize = 24 << 20;
/// Attachments or mentions of one message; the room behind has its own, smaller, limits.
const MOST_ALONG: usize = 100;
/// A zip archive in base64.
const LONGEST_ARCHIVE: usize = 24 << 20;
/// Cards on one answer sheet.
const MOST_DECISIONS: usize = 1_000;
/// Rows of one page of the conversation.
const MOST_ITEMS: u32 = 500;

/// An id of ours. One that cannot exist is not found, like one that does not.
pub(crate) fn id(id: &str) -> Result<(), Failure> {
    let sound = (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if sound { Ok(()) } else { Err(Failure::new(ErrorCode::NotFound, Problem::NothingThere)) }
}

pub(crate) fn text(text: &str) -> Result<(), Failure> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    let megabytes = u32::try_from(LONGEST_TEXT >> 20).unwrap_or(u32::MAX);
    Err(Failure::new(ErrorCode::Invalid, Problem::TextTooLong { megabytes }))
}

/// What a person sends: something, and not too much of it.
pub(crate) fn message(words: &str) -> Result<(), Failure> {
    if words.trim().is_empty() {
        return Err(Failure::new(ErrorCode::Invalid, Problem::EmptyMessage));
    }
    text(words)
}

/// What a person sends with what goes along: words, something attached, or both.
pub(crate) fn said(message: &SendMessage) -> Result<(), Failure> {
    id(message.session.as_str())?;
    if message.attachments.is_empty() {
        self::message(&message.text)?;
    }
    text(&message.text)?;
    if message.attachments.len() > MOST_ALONG || message.mentions.len() > MOST_ALONG {
        return Err(Failure::new(ErrorCode::Invalid, Problem::SendInParts));
    }
    for attachment in &message.attachments {
        name(&attachment.name)?;
        id(&attachment.blob)?;
    }
    for mention in &message.mentions {
        match mention {
            Mention::Path { path: named } => path(named)?,
            Mention::Session { session } => id(session.as_str())?,
        }
    }
    Ok(())
}

/// What goes along with a message that is still being written, by what it is kept under.
pub(crate) fn along(blobs: &[String]) -> Result<(), Failure> {
    if blobs.len() > MOST_ALONG {
        return Err(Failure::new(ErrorCode::Invalid, Problem::SendInParts));
    }
    blobs.iter().try_for_each(|blob| id(blob))
}

/// A line of the plan as it is to be.
pub(crate) fn plan(change: &PlanChange) -> Result<(), Failure> {
    match change {
        PlanChange::Add { content } => text(content),
        PlanChange::Reword { id, content } => name(id).and_then(|()| text(content)),
        PlanChange::Move { id, .. } | PlanChange::Drop { id } | PlanChange::Restore { id } => name(id),
    }
}

/// A server or hook as it is to be. What all of them may come to together is for the room that keeps them.
pub(crate) fn addition(change: &AdditionChange) -> Result<(), Failure> {
    match change {
        AdditionChange::Server { was, server } => {
            was.iter().chain([&server.name]).try_for_each(|words| name(words))?;
            match &server.reach {
                ServerReach::Program { command, args, env } => {
                    args.iter().chain([command]).chain(words_of(env)).try_for_each(|words| text(words))
                }
                ServerReach::Address { url, headers } => {
                    words_of(headers).chain([url]).try_for_each(|words| text(words))
                }
            }
        }
        AdditionChange::Hook { was, hook } => {
            was.iter().chain([&hook.name]).try_for_each(|words| name(words))?;
            let words = hook.tools.iter().chain(&hook.args).chain([&hook.command]).chain(words_of(&hook.env));
            words.into_iter().try_for_each(|words| text(words))
        }
        AdditionChange::Switch { name: words, .. } | AdditionChange::Remove { name: words, .. } => name(words),
        AdditionChange::BringBack { id: known } => id(known),
    }
}

fn words_of(fields: &[SecretField]) -> impl Iterator<Item = &String> {
    fields.iter().flat_map(|field| [&field.name].into_iter().chain(&field.value))
}

/// A name, or a few words, of a person's.
pub(crate) fn name(words: &str) -> Result<(), Failure> {
    if words.len() <= LONGEST_PATH {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Invalid, Problem::NameTooLong))
}

/// Bytes in base64.
pub(crate) fn bytes(data: &str) -> Result<(), Failure> {
    if data.len() <= LONGEST_BYTES {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Invalid, Problem::BeyondModels))
}

/// The id of a row.
pub(crate) fn item(id: &ItemId) -> Result<(), Failure> {
    if (1..=LONGEST_CALL_ID).contains(&id.as_str().len()) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::NotFound, Problem::NoSuchRow))
}

pub(crate) fn path(path: &str) -> Result<(), Failure> {
    if !path.is_empty() && path.len() <= LONGEST_PATH && !path.contains('\0') {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Invalid, Problem::NoPath))
}

pub(crate) fn model(model: &ModelRef) -> Result<(), Failure> {
    let named = |name: &str| {
        let name = name.trim();
        !name.is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
    };
    if named(&model.provider) && named(&model.name) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Invalid, Problem::ModelName))
}

pub(crate) fn decisions(decisions: &[Decide]) -> Result<(), Failure> {
    if decisions.is_empty() || decisions.len() > MOST_DECISIONS {
        return Err(Failure::new(ErrorCode::Invalid, Problem::TooManyDecisions));
    }
    for decide in decisions {
        id(decide.session.as_str())?;
        if decide.call_id.as_str().len() > LONGEST_CALL_ID || decide.digest.len() > LONGEST_CALL_ID {
            return Err(Failure::new(ErrorCode::NotFound, Problem::NoSuchRequest));
        }
        match &decide.decision {
            Decision::Respond { text: words } | Decision::Reject { reason: Some(words) } => text(words)?,
            Decision::Edit { .. } | Decision::Approve | Decision::Reject { reason: None } => {}
        }
    }
    Ok(())
}

/// A rule to be made.
pub(crate) fn draft(draft: &RuleDraft) -> Result<(), Failure> {
    id(draft.session.as_str())?;
    if draft.call_id.as_str().len() > LONGEST_CALL_ID {
        return Err(Failure::new(ErrorCode::NotFound, Problem::NoSuchRequest));
    }
    if draft.pattern.len() > LONGEST_PATH {
        return Err(Failure::new(ErrorCode::Invalid, Problem::PatternTooLong));
    }
    Ok(())
}

pub(crate) fn drafts(drafts: &[RuleDraft]) -> Result<(), Failure> {
    if drafts.is_empty() || drafts.len() > MOST_DECISIONS {
        return Err(Failure::new(ErrorCode::Invalid, Problem::TooManyNewRules));
    }
    drafts.iter().try_for_each(draft)
}

/// A zip archive in base64 that a person picked.
pub(crate) fn archive(data: &str) -> Result<(), Failure> {
    if data.len() <= LONGEST_ARCHIVE {
        return Ok(());
    }
    let megabytes = u32::try_from(LONGEST_ARCHIVE >> 20).unwrap_or(u32::MAX);
    Err(Failure::new(ErrorCode::Invalid, Problem::ArchiveTooLarge { megabytes }))
}

/// As many rows as one page may hold.
pub(crate) fn page(limit: u32) -> u32 {
    limit.clamp(1, MOST_ITEMS)
}

#[cfg(test)]
mod tests {
    use bosun_protocol::{CallId, SessionId};

    use super::*;

    #[test]
    fn ids_are_short_and_plain() {
        id("0190a1b2c3d4e5f60718293a4b5c6d7e").unwrap();
        for wrong in ["", "..", "../x", "/etc/passwd", "a b", "a\0", "\u{4e2d}", &"a".repeat(65)] {
            assert!(id(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn texts_paths_and_models_have_bounds() {
        assert!(text(&"x".repeat(LONGEST_TEXT)).is_ok() && text(&"x".repeat(LONGEST_TEXT + 1)).is_err());
        assert!(path("/a").is_ok() && path("").is_err() && path("/a\0").is_err() && path(&"x".repeat(5_000)).is_err());
        let named = |provider: &str, name: &str| ModelRef { provider: provider.into(), name: name.into() };
        assert!(model(&named("openai", "vendor/model:free")).is_ok());
        for wrong in [named("", "m"), named("p", " "), named("p", "a\nb"), named("p", &"x".repeat(257))] {
            assert!(model(&wrong).is_err(), "{wrong:?}");
        }
        assert_eq!((page(0), page(50), page(u32::MAX)), (1, 50, 500));
    }

    #[test]
    fn archives_have_bounds() {
        assert!(archive("UEs=").is_ok() && archive(&"x".repeat(LONGEST_ARCHIVE + 1)).is_err());
    }

    #[test]
    fn one_wrong_decision_refuses_them_all() {
        let decide = |session: &str, text: &str| Decide {
            session: SessionId::from(session),
            call_id: CallId::from("call"),
            digest: "d".into(),
            decision: Decision::Respond { text: text.into() },
        };
        assert!(decisions(&[decide("a", "x"), decide("b", "y")]).is_ok());
        assert!(decisions(&[decide("a", "x"), decide("../b", "y")]).is_err());
        assert!(decisions(&[decide("a", &"x".repeat(LONGEST_TEXT + 1))]).is_err());
        assert!(decisions(&[]).is_err());
    }
}
