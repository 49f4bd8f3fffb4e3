//! Headers of the person's own: as they are written, and kept in the keyring.

use bosun_protocol::{ErrorCode, Problem};
use bosun_providers::{Account, LONGEST_HEADER, MOST_HEADERS, WrongHeader, check_own_header};
use bosun_session::SessionError;
use bosun_store::{Key, Keys};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::Models;
use super::keys::secret_line;
use crate::failure::Failure;
use crate::terminal::one_line;

/// A header as it was written or asked for; one without a value is to go.
pub(super) struct OwnHeader {
    pub name: String,
    pub value: Zeroizing<String>,
}

/// A header as it is written, or with its value asked for.
pub(super) fn read(header: &str) -> Result<OwnHeader, Failure> {
    let (name, value) = match header.split_once('=') {
        Some((name, value)) => (name, Zeroizing::new(value.to_owned())),
        None => (header, secret_line(&format!("Value of the header {}", one_line(header)))?),
    };
    let (name, value) = (name.trim().to_owned(), Zeroizing::new(value.trim().to_owned()));
    if value.is_empty() && !header.contains('=') {
        return Err(Failure::HeaderEmpty { header: name });
    }
    check_own_header(&[], &name, &value).map_err(wrong)?;
    Ok(OwnHeader { name, value })
}

fn wrong(wrong: WrongHeader) -> Failure {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let problem = match wrong {
        WrongHeader::Unsendable(error) => return SessionError::from(error).into(),
        WrongHeader::TooLong => Problem::HeaderTooLong { most: count(LONGEST_HEADER) },
        WrongHeader::TooMany => Problem::HeadersFull { most: count(MOST_HEADERS) },
    };
    SessionError::new(ErrorCode::Invalid, problem).into()
}

/// Keeps a header for `account`, or takes it away. Where the keyring does not take it, what it said; one that was not
/// there before is not there then either.
pub(super) async fn keep(
    models: &Models,
    kept: &Keys,
    account: &Account,
    OwnHeader { name, value }: OwnHeader,
) -> Result<Option<String>, Failure> {
    let host = account.host();
    let known = kept.header_names(&account.id, &host).await?;
    check_own_header(&known, &name, &value).map_err(wrong)?;
    let value = SecretString::from(value.as_str());
    models.secrets.learn(&value);
    let place = kept.set_header(&account.id, &host, &name, value).await.map_err(SessionError::from)?;
    let refused = refusal(&place);
    if refused.is_some() && !known.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
        // A keyring that may have it after all does not let go of it now: its name stays, to be taken away by.
        kept.set_header(&account.id, &host, &name, SecretString::from("")).await.ok();
    }
    Ok(refused)
}

/// What the keyring said where it did not take a secret.
pub(super) fn refusal(place: &Key) -> Option<String> {
    match place {
        Key::InMemory { reason, .. } | Key::Locked { reason } => Some(reason.to_string()),
        Key::InKeyring(_) | Key::Missing => None,
    }
}
