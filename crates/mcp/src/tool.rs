use std::sync::Arc;

use bosun_backend::VirtualPath;
use bosun_model::ToolSpec;
use bosun_tools::{ArgumentError, BoxFuture, DynTool, Preview, ToolContext, ToolError, ToolKind, ToolOutput};
use serde_json::Value;

use crate::failure::{Ending, Failure};
use crate::listed::Listed;
use crate::result;
use crate::server::{Server, Withheld};

/// A tool of a server. Always of the kind that asks: what a server says about itself decides nothing.
pub struct McpTool {
    server: Arc<Server>,
    /// By the server's own name.
    tool: String,
    spec: ToolSpec,
    /// What it said of itself when it was offered.
    hash: String,
}

impl McpTool {
    pub(crate) fn new(server: Arc<Server>, tool: String, listed: Listed) -> Self {
        Self { server, tool, spec: listed.spec, hash: listed.hash }
    }

    /// The server's name, as settings have it.
    pub fn server(&self) -> &str {
        &self.server.name
    }

    /// Whether its server is one that the project brought.
    pub fn is_brought(&self) -> bool {
        self.server.is_brought()
    }

    /// Whether its server is not what a person trusts any more.
    pub fn is_untrusted(&self) -> bool {
        self.server.is_untrusted()
    }

    /// Differs for any two tools that a model would be told of in different words.
    pub fn mark(&self) -> (&str, &str) {
        (&self.spec.name, &self.hash)
    }

    async fn run(&self, cx: &ToolContext, args: Value) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = args else {
            return Err(ToolError::Model(format!("Error: the arguments of {} must be a JSON object.", self.spec.name)));
        };
        let checked = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
            checked = self.server.check(&self.tool, &self.hash) => checked,
        };
        match checked {
            Ok(()) => {}
            Err(Ok(withheld)) => return Err(ToolError::Model(self.withheld(withheld))),
            Err(Err(failure)) => return Err(self.error(failure)),
        }
        let answer = self.server.call(&self.tool, arguments, &cx.cancel).await;
        answer
            .map(|answer| result::output(&self.spec.name, answer, cx.abilities))
            .map_err(|failure| self.error(failure))
    }

    fn error(&self, failure: Failure) -> ToolError {
        let name = &self.server.name;
        match failure {
            Failure::Cancelled => ToolError::Cancelled,
            Failure::Refused { reason } => ToolError::Model(format!("Error: {reason}")),
            Failure::Gone { end: Ending::Untrusted } => ToolError::Model(format!(
                "Error: the server '{name}' was ended during the call, because the user does not trust it any more. \
                 Whether the call took effect is not known. Go on without its tools."
            )),
            Failure::Gone { .. } => ToolError::Model(format!(
                "Error: the server '{name}' {failure}. Whether the call took effect is not known. The next call starts \
                 the server again."
            )),
            failure => ToolError::Model(format!("Error: the server '{name}' {failure}.")),
        }
    }

    fn withheld(&self, why: Withheld) -> String {
        let (name, server) = (&self.spec.name, &self.server.name);
        match why {
            Withheld::Gone => format!("Error: {name} was not run: the server '{server}' does not have it any more."),
            Withheld::Changed => format!(
                "Error: {name} was not run: the server '{server}' changed its description, and it is off until the user \
                 has looked at it again. Tell them, and go on without it."
            ),
        }
    }
}

impl DynTool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn validate(&self, args: &Value) -> Result<Value, ArgumentError> {
        bosun_tools::checked_arguments(&self.spec, args)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.run(cx, args))
    }

    fn preview<'a>(&'a self, _cx: &'a ToolContext, _args: &'a Value) -> BoxFuture<'a, Preview> {
        Box::pin(async { Preview::Fields })
    }

    fn mutates(&self, _cx: &ToolContext, _args: &Value) -> Option<VirtualPath> {
        None
    }
}
