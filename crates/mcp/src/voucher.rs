use crate::BoxFuture;

/// Knows whether what a project brought is still what a person trusted: it can change, and their mind can, while a session is
/// open. It is asked before each start, so that a question must be cheap, and of servers that run where a mind was changed
/// ([`crate::McpServers::end_unvouched`]).
pub trait Voucher: Send + Sync {
    fn vouches<'a>(&'a self, item: BroughtItem<'a>) -> BoxFuture<'a, bool>;
}

/// What a project brought, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroughtItem<'a> {
    Server(&'a str),
    Hook(&'a str),
}
