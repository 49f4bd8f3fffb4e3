use crate::BoxFuture;

/// Knows whether what a project brought (servers, hooks) is still what a person trusted: it can change, and their mind can,
/// while a session is open.
pub trait Voucher: Send + Sync {
    fn vouches(&self) -> BoxFuture<'_, bool>;
}
