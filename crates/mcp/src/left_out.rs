use serde::{Deserialize, Serialize};

/// A tool of a server that no model could use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "left_out", rename_all = "snake_case")]
pub enum LeftOut {
    #[error("{tool}: two tools have this name")]
    Twice { tool: String },
    #[error("{tool}: {fault}")]
    Unusable { tool: String, fault: ToolFault },
    #[error("{more} more: a server may have at most {most} tools")]
    TooMany { more: usize, most: usize },
}

/// What is wrong with a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum ToolFault {
    #[error("its name is {bytes} bytes long, more than models accept")]
    Name { bytes: usize },
    #[error("its arguments take {bytes} bytes to describe, over the limit of {most}")]
    TooLarge { bytes: usize, most: usize },
    #[error("its argument '{name}' has a name that models cannot use")]
    Argument { name: String },
    #[error("the description of its arguments is nested or repeated beyond {most} parts")]
    TooDeep { most: usize },
    #[error("its arguments are not an object but {found}")]
    NoObject { found: String },
}
