use std::collections::HashMap;
use std::sync::Arc;

use bosun_backend::quoted;
use bosun_model::ToolSpec;

use crate::{DynTool, Execute, StateField, Tool};

/// The tools of one agent, in the order they are offered to the model.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Arc<dyn DynTool>>,
    by_name: HashMap<String, usize>,
    specs: Arc<[ToolSpec]>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("two tools are called '{name}'; rename or remove one of them")]
    Duplicate { name: String },
    #[error("the state field '{name}' is declared twice in different ways; rename or remove one of them")]
    Field { name: String },
}

impl ToolRegistry {
    /// # Errors
    /// [`RegistryError::Duplicate`] when two tools share a name.
    pub fn new(tools: Vec<Arc<dyn DynTool>>) -> Result<Self, RegistryError> {
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            if by_name.insert(tool.spec().name.clone(), index).is_some() {
                return Err(RegistryError::Duplicate { name: tool.spec().name.clone() });
            }
        }
        let specs = tools.iter().map(|tool| tool.spec().clone()).collect();
        Ok(Self { tools, by_name, specs })
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        self.tools.get(*self.by_name.get(name)?)
    }

    /// What the model is offered; shared, so that a request costs no copy.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// The fields of the state that the tools declare.
    pub fn fields(&self) -> impl Iterator<Item = StateField> {
        self.tools.iter().flat_map(|tool| tool.fields())
    }

    /// The sentence for a model that calls a tool that it has not.
    pub fn unknown(&self, name: &str) -> String {
        let known: Vec<&str> = self.names().collect();
        let known = known.join(", ");
        // Models know this one from elsewhere; where there is no shell it is not offered.
        if name == Execute::NAME {
            return format!(
                "Error: Execution not available: no commands can be run here; do it with one of [{known}]."
            );
        }
        format!("Error: {} is not a valid tool, try one of [{known}].", quoted(name))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.spec().name.as_str())
    }
}
