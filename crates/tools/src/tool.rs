use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use bosun_backend::VirtualPath;
use bosun_model::ToolSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ArgumentError, BoxFuture, Preview, StateField, ToolContext, ToolError, ToolOutput, arguments, schema};

/// What a tool does to the world; rows, icons and default permissions go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Execute,
    Delegate,
    Plan,
    Other,
}

/// A tool as its author writes it. The doc comments of `Input` are what the model reads about the arguments.
pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    /// Whether unknown arguments are an error instead of being ignored.
    const STRICT: bool = false;
    type Input: DeserializeOwned + JsonSchema + Send + Sync;

    fn kind(&self) -> ToolKind;

    /// What the model is told the tool is for and how to use it well.
    fn description(&self) -> Cow<'_, str>;

    fn call(&self, cx: &ToolContext, input: Self::Input) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;

    /// What a person has to see before deciding, against the world as it is now. Changes nothing.
    fn preview(&self, _cx: &ToolContext, _input: &Self::Input) -> impl Future<Output = Preview> + Send {
        async { Preview::Fields }
    }

    /// The file this call would change. Calls of one step on one path run one after the other, in call order.
    fn mutates(&self, _cx: &ToolContext, _input: &Self::Input) -> Option<VirtualPath> {
        None
    }

    /// The file this call would read. It keeps its place among the calls of its step that would change that file.
    fn reads(&self, _cx: &ToolContext, _input: &Self::Input) -> Option<VirtualPath> {
        None
    }

    /// The fields of the state that its updates write.
    fn fields(&self) -> Vec<StateField> {
        Vec::new()
    }
}

/// A tool as the loop sees it; made by [`erase`] or implemented directly (MCP).
pub trait DynTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    fn kind(&self) -> ToolKind;

    /// Checks `args` and gives them back as they would be run (numeric strings coerced).
    fn validate(&self, args: &Value) -> Result<Value, ArgumentError>;

    fn call<'a>(&'a self, cx: &'a ToolContext, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    fn preview<'a>(&'a self, cx: &'a ToolContext, args: &'a Value) -> BoxFuture<'a, Preview>;

    fn mutates(&self, cx: &ToolContext, args: &Value) -> Option<VirtualPath>;

    fn reads(&self, _cx: &ToolContext, _args: &Value) -> Option<VirtualPath> {
        None
    }

    /// The fields of the state that its updates write.
    fn fields(&self) -> Vec<StateField> {
        Vec::new()
    }
}

/// Turns a typed tool into one the loop can dispatch.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn DynTool> {
    let spec = ToolSpec {
        name: T::NAME.to_owned(),
        description: tool.description().into_owned(),
        schema: schema::schema_of::<T::Input>(T::STRICT),
    };
    Arc::new(Erased { tool, spec })
}

struct Erased<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> Erased<T> {
    fn parse(&self, args: &Value) -> Result<T::Input, ArgumentError> {
        arguments::parse(&self.spec, args)
    }
}

impl<T: Tool> DynTool for Erased<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        self.tool.kind()
    }

    fn validate(&self, args: &Value) -> Result<Value, ArgumentError> {
        arguments::validated::<T::Input>(&self.spec, args)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let input = self.parse(&args).map_err(|error| ToolError::Model(error.to_string()))?;
            self.tool.call(cx, input).await
        })
    }

    fn preview<'a>(&'a self, cx: &'a ToolContext, args: &'a Value) -> BoxFuture<'a, Preview> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(input) => self.tool.preview(cx, &input).await,
                Err(error) => Preview::Problem { message: error.to_string(), fault: None },
            }
        })
    }

    fn mutates(&self, cx: &ToolContext, args: &Value) -> Option<VirtualPath> {
        self.tool.mutates(cx, &self.parse(args).ok()?)
    }

    fn reads(&self, cx: &ToolContext, args: &Value) -> Option<VirtualPath> {
        self.tool.reads(cx, &self.parse(args).ok()?)
    }

    fn fields(&self) -> Vec<StateField> {
        self.tool.fields()
    }
}
