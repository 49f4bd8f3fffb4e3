//! What crosses the IPC between the core and whoever shows it: the desktop's UI, and `bosun run --json`.
//!
//! **Owns** ids, [`Item`], [`SessionEvent`], [`Snapshot`], parameters, the error codes the UI branches on, and what Bosun says about
//! what went wrong ([`Problem`]).
//! **Must not** hold logic or depend on any other crate of Bosun. TypeScript is generated from these types.
//!
//! The stream's law: [`Snapshot`] at `seq` *k*, then every [`Envelope`] after *k*, equals the snapshot at the end; an
//! envelope at or below the known `seq` changes nothing. Start reading at [`SessionEvent`].

mod additions;
mod agent;
mod approval;
mod attachment;
mod change;
mod diff;
mod error;
mod event;
mod file;
mod goal;
mod history;
mod ids;
mod item;
mod knowledge;
mod local;
mod memory;
mod model;
mod plan;
mod preferences;
mod problem;
mod project;
mod rule;
mod search;
mod session;
mod settings;
mod skill;
mod storage;
mod subagent;
mod summary;
mod todo;
mod trust;
mod usage;

pub use additions::{
    AdditionChange, AdditionForms, AdditionKind, Additions, ChangedServerTool, HookFailure, HookForm, HookPoint,
    HookTrial, HookVerdict, SecretField, ServerForm, ServerHealth, ServerReach, ServerView, SignInPage,
};
pub use agent::{AgentNode, AgentStatus};
pub use approval::{
    Approval, AskReason, AskedAgain, Decide, Decision, DecisionKind, DecisionRecord, DecisionSource, Preview, Reach,
    ReachPlace, Undo,
};
pub use attachment::{
    Attachment, AttachmentContent, AttachmentKind, FindMentions, Mention, MentionHit, MentionKind, ModelSight,
    NewAttachment,
};
pub use change::{
    ChangeKind, ChangeScope, ChangedFile, ChangedFiles, ChangedRights, FileChange, FileReview, FileSide, PutAside,
    ReviewState, UncomparedReason, UndoneFiles, UnkeptFile,
};
pub use diff::{DiffHunk, DiffLine, DiffLineKind, DiffSegment, FileDiff};
pub use error::{CommandError, ErrorCode};
pub use event::{Delta, Envelope, Opening, SessionEvent, Snapshot, TurnOutcome};
pub use file::{FileEntry, FilePreview, FolderView, FoundFiles, MountKind, MountView, PreviewBody, TextPlace, TextRow};
pub use goal::{CloseChoice, Goal};
pub use history::{
    Checkpoint, CheckpointKind, FileAt, ForkedBefore, LedgerEntry, RestoredFile, RewindPreview, RewindWhat, StepCall,
    TimelineList, TimelinePage, TimelineQuery,
};
pub use ids::{CallId, ItemId, ProjectId, RowId, SessionId};
pub use item::{Figure, Item, ItemBody, MediaKind, Notice, NoticeCode, ToolItem, ToolKind, ToolState};
pub use knowledge::{FileVersion, Imported, WrittenBy};
pub use local::{LocalModel, LocalServerView};
pub use memory::{
    DeletedMemory, FindMemories, MemoryEntry, MemoryFile, MemoryList, MemoryRef, MemoryScope, MemoryShelf, SaveMemory,
};
pub use model::{
    CatalogueView, KeySource, ModelChoice, ModelRef, ProviderFamily, ProviderView, SaveProvider, TestCall, UsageSummary,
};
pub use plan::PlanChange;
pub use preferences::{
    Budget, Budgets, Effort, KnownModel, ModelEffort, ModelSettings, NetworkSettings, PriceView, SystemProxy,
    ThinkingLevels, ToldLevel,
};
pub use problem::{Problem, Problems};
pub use project::{ProjectProblem, ProjectView};
pub use rule::{
    ApprovalMode, CommandPlace, PatternProblem, ProjectMode, Rehearsal, Rule, RuleDraft, RuleGuard, RuleKind,
    RuleOffer, RuleScope, SandboxedProjects, SessionMode,
};
pub use search::{SearchHit, SearchSessions, SnippetPart};
pub use session::{ExportFormat, ExportPreview, QueuedMessage, SendMessage, SessionStatus, SessionSummary, TourStart};
pub use settings::{Language, ProjectModel, Settings, StartInfo, Theme};
pub use skill::{
    DeletedSkill, SaveSkillFile, SkillDetails, SkillEntry, SkillFile, SkillFileEntry, SkillHidden, SkillList,
    SkillOrigin, SkillRef,
};
pub use storage::{Storage, StorageKind, StoragePart};
pub use subagent::{
    DeletedSubagent, PathRuleMode, PathRuleOperation, SaveSubagent, SubagentContent, SubagentEntry, SubagentForm,
    SubagentHidden, SubagentList, SubagentOrigin, SubagentPathRule, SubagentRef,
};
pub use summary::{ConversationSummary, SummaryCause};
pub use todo::{Todo, TodoEvidence, TodoStatus};
pub use trust::{
    DecideTrust, ProjectTrust, SeenFile, TrustFile, TrustItem, TrustKind, TrustState, TrustText, TrustVerdict,
};
pub use usage::{
    AgentUsage, CallAgent, CallPurpose, CallUsage, ModelUsage, SessionUsage, UsageDay, UsageReport, UsageTotal,
};
