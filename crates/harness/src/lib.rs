//! What makes a *deep* agent: the built-in middleware, one file each, and the one factory that stacks them.
//!
//! **Owns** the base prompt, the documented order of the stack, subagent definitions, and [`create_deep_agent`].
//! **Must not** do IO of its own, run the loop (that is `agent`), or know a session's storage or a UI.
//!
//! Start reading at [`create_deep_agent`]; the stack is in `stack`, outermost first: `ToolNames` (where a name stands for
//! no tool here), `Attachments` (where bytes are kept), `TodoList`, `Memory`, `Skills`, `OnDemand` (where there are many
//! tools), `Filesystem`, `SubAgents`, `Summarization`, `FinalAnswer` (where the answer has a shape), `PromptCaching`,
//! `PatchToolCalls`, the user's own, `Guards`, `HumanInTheLoop`, `ModelRetry`.

pub use bosun_mcp as mcp;

mod artifacts;
mod attachments;
mod counted;
mod create;
mod declared;
mod eviction;
mod extras;
mod filesystem;
mod final_answer;
mod fitting;
mod front_matter;
mod guards;
mod hooks;
mod human_in_the_loop;
mod looked_at;
mod media;
mod members;
mod memory;
mod model_retry;
mod offered;
mod on_demand;
mod patch_tool_calls;
mod per_message;
mod permissions;
mod plain;
mod prompt;
mod prompt_caching;
mod rewrites;
mod skills;
mod stack;
mod sub_agents;
mod summarization;
mod todo_list;
mod tokens;
mod told;
mod tool_names;
mod unpriced;

pub use artifacts::Artifacts;
pub use attachments::Attachments;
pub use create::{DeepAgentConfig, DeepAgentError, create_deep_agent};
pub use declared::{
    DeclaredAgent, DeclaredAgentError, DeclaredApprovals, DeclaredBackend, DeclaredCommands, DeclaredDefault,
    DeclaredField, DeclaredFilesystem, DeclaredGate, DeclaredGuards, DeclaredKind, DeclaredLimits, DeclaredRoute,
    DeclaredRule, DeclaredScope, DeclaredSkills, DeclaredSubagent, HowItAsks, RouteFault,
};
pub use extras::{Extras, ExtrasError, OpenExtras, ProjectExtras, WrittenExtras};
pub use filesystem::{Filesystem, FilesystemOptions, MountNote, RootPlace};
pub use final_answer::FinalAnswer;
pub use front_matter::FrontMatterError;
pub use guards::{GuardOptions, Guards};
pub use hooks::{HookConfig, HookError, HookPoint, HookTrial, HookVerdict, Hooks, OnFailure};
pub use human_in_the_loop::{Gate, GateRequest, HumanInTheLoop, HumanInTheLoopOptions, InterruptOn};
pub use members::Members;
pub use memory::{Memory, MemoryOptions, MemorySearch, SearchedShelf};
pub use model_retry::{ModelRetry, RetryOptions};
pub use on_demand::OnDemand;
pub use patch_tool_calls::PatchToolCalls;
pub use permissions::{PathMode, PathOperation, PathPattern, PathPatternError, PathRule, PathRules};
pub use prompt_caching::PromptCaching;
pub use skills::{
    BuiltinSkill, PinnedSkill, SKILLS_FIELD, Skill, SkillError, SkillSet, SkillSource, SkillWarning, Skills,
    SkillsOptions, builtin_skill_files, builtin_skills, find_skills, read_skill,
};
pub use sub_agents::{
    FieldKind, GENERAL_PURPOSE, LoadedSubagents, ReadySubagent, SubAgents, SubagentFileError, SubagentSpec,
    SubagentWarning, load_subagents, read_subagent, write_subagent,
};
pub use summarization::{
    ArgumentOptions, Compacted, Compaction, CompactionError, FailedSummary, SUMMARIZATION_FIELD, Summarization,
    SummarizationOptions, Summary, SummaryCause, Threshold, Trigger, UndoneSummary, edit_summary, undo_summary,
};
pub use todo_list::{EvidenceBook, EvidenceCall, TodoEvidence, TodoList};
pub use tokens::{TokenCounter, Tokenizer};
pub use tool_names::{SUBAGENT_TOOLS, built_in_tools, can_be_of_server, is_own as is_own_tool};
