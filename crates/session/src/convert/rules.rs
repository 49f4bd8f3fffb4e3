use bosun_agent::{ApprovalMode, PatternProblem, RuleGuard, RuleKind, RuleScope};
use bosun_protocol as wire;

use crate::permissions::StoredRule;

pub(crate) fn mode(mode: ApprovalMode) -> wire::ApprovalMode {
    match mode {
        ApprovalMode::PlanOnly => wire::ApprovalMode::PlanOnly,
        ApprovalMode::Ask => wire::ApprovalMode::Ask,
        ApprovalMode::Edits => wire::ApprovalMode::Edits,
        ApprovalMode::Sandbox => wire::ApprovalMode::Sandbox,
    }
}

pub(crate) fn core_mode(mode: wire::ApprovalMode) -> ApprovalMode {
    match mode {
        wire::ApprovalMode::PlanOnly => ApprovalMode::PlanOnly,
        wire::ApprovalMode::Ask => ApprovalMode::Ask,
        wire::ApprovalMode::Edits => ApprovalMode::Edits,
        wire::ApprovalMode::Sandbox => ApprovalMode::Sandbox,
    }
}

pub(crate) fn scope(scope: wire::RuleScope) -> RuleScope {
    match scope {
        wire::RuleScope::Session => RuleScope::Session,
        wire::RuleScope::Project => RuleScope::Project,
        wire::RuleScope::Always => RuleScope::Always,
    }
}

pub(crate) fn rule_kind(kind: RuleKind) -> wire::RuleKind {
    match kind {
        RuleKind::Command => wire::RuleKind::Command,
        RuleKind::Files => wire::RuleKind::Files,
        RuleKind::Tool => wire::RuleKind::Tool,
    }
}

pub(crate) fn rule(rule: &StoredRule) -> wire::Rule {
    wire::Rule {
        id: rule.id.clone(),
        scope: match rule.scope {
            RuleScope::Session => wire::RuleScope::Session,
            RuleScope::Project => wire::RuleScope::Project,
            RuleScope::Always => wire::RuleScope::Always,
        },
        session: rule.session.clone().map(wire::SessionId::new),
        project: rule.project.clone().map(wire::ProjectId::new),
        kind: rule_kind(rule.pattern.kind()),
        pattern: rule.pattern.text(),
        created_at: rule.created_at,
    }
}

pub(crate) fn guard(guard: RuleGuard) -> wire::RuleGuard {
    match guard {
        RuleGuard::Protected { name } => wire::RuleGuard::Protected { name },
        RuleGuard::Deletes => wire::RuleGuard::Deletes,
        RuleGuard::Hidden => wire::RuleGuard::Hidden,
        RuleGuard::Shell => wire::RuleGuard::Shell,
        RuleGuard::Outside => wire::RuleGuard::Outside,
        RuleGuard::Destructive { command } => wire::RuleGuard::Destructive { command },
        RuleGuard::RunsOther { program } => wire::RuleGuard::RunsOther { program },
        RuleGuard::Option { option } => wire::RuleGuard::Option { option },
        RuleGuard::SeveralCommands => wire::RuleGuard::SeveralCommands,
        RuleGuard::TooLong => wire::RuleGuard::TooLong,
        RuleGuard::Configured => wire::RuleGuard::Configured,
        RuleGuard::ScriptChanged => wire::RuleGuard::ScriptChanged,
    }
}

pub(crate) fn problem(problem: PatternProblem) -> wire::PatternProblem {
    match problem {
        PatternProblem::Empty => wire::PatternProblem::Empty,
        PatternProblem::Everything => wire::PatternProblem::Everything,
        PatternProblem::OneCommand => wire::PatternProblem::OneCommand,
        PatternProblem::Vague { program } => wire::PatternProblem::Vague { program },
        PatternProblem::NotAPath => wire::PatternProblem::NotAPath,
        PatternProblem::Guarded { guard: inner } => wire::PatternProblem::Guarded { guard: guard(inner) },
        PatternProblem::NotThis => wire::PatternProblem::NotThis,
    }
}
