//! What the page may call: one file per noun, one line of work per command. The rules are in the rooms behind.
#![allow(clippy::let_underscore_must_use, reason = "Tauri's macro looks at the type of an answer that way")]

pub(crate) mod additions;
pub(crate) mod agents;
pub(crate) mod attachments;
pub(crate) mod caret;
pub(crate) mod changes;
pub(crate) mod closing;
pub(crate) mod diagnostics;
pub(crate) mod faults;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod links;
pub(crate) mod lists;
pub(crate) mod memories;
pub(crate) mod models;
pub(crate) mod notifications;
pub(crate) mod permissions;
pub(crate) mod plan;
pub(crate) mod projects;
pub(crate) mod providers;
pub(crate) mod queue;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod skills;
pub(crate) mod start;
pub(crate) mod subagents;
pub(crate) mod summary;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod usage;

use std::sync::Arc;

use bosun_protocol::CommandError;
use tauri::ipc::Invoke;
use tauri::{Runtime, State, generate_handler};
use tauri_specta::{Builder, ErrorHandlingMode, collect_commands};

use crate::Shell;
use crate::error::Failure;

/// The shell, as commands get it.
pub(crate) type Managed<'a> = State<'a, Arc<Shell>>;

/// What every command gives back.
pub(crate) type Answer<T> = Result<T, Failure>;

/// Every command, for the macro that is named.
macro_rules! every_command {
    ($list:ident) => {
        $list![
            start::start,
            start::ui_ready,
            caret::rest_caret,
            faults::report_fault,
            projects::subscribe_projects,
            projects::pick_project,
            projects::move_project,
            projects::forget_project,
            sessions::subscribe_sessions,
            sessions::create_session,
            sessions::subscribe_session,
            sessions::unsubscribe_session,
            sessions::load_items,
            sessions::send_message,
            attachments::keep_attachment,
            attachments::load_attachment,
            attachments::model_sight,
            attachments::find_mentions,
            attachments::holds_key,
            plan::change_plan,
            agents::stop_subagent,
            queue::unqueue_message,
            sessions::stop_turn,
            sessions::continue_turn,
            sessions::decide,
            sessions::decided_reach,
            sessions::set_session_model,
            queue::edit_queued,
            queue::move_queued,
            queue::send_queued_now,
            queue::steer_turn,
            queue::steer_queued,
            lists::rename_session,
            lists::pin_session,
            lists::archive_session,
            lists::delete_session,
            lists::restore_session,
            lists::list_deleted,
            lists::search_sessions,
            changes::changed_files,
            changes::file_review,
            changes::undo_hunk,
            changes::keep_hunk,
            changes::keep_changes,
            changes::reopen_change,
            changes::redo_undone,
            changes::restore_version,
            changes::changed_image,
            files::list_folder,
            files::preview_file,
            files::find_files,
            files::look_anew,
            files::file_text,
            files::save_file,
            files::open_file,
            files::reveal_file,
            files::watch_folders,
            history::undo_file,
            history::undo_changes,
            history::timeline,
            history::snapshot_at,
            history::file_at,
            history::fork_session,
            history::fork_before,
            history::place_before,
            history::preview_rewind,
            history::preview_rewind_file,
            history::rewind,
            history::undo_rewind,
            summary::session_summary,
            summary::compact_session,
            summary::edit_summary,
            summary::undo_summary,
            lists::preview_export,
            lists::export_session,
            settings::save_settings,
            providers::list_providers,
            providers::subscribe_providers,
            providers::save_provider,
            providers::remove_provider,
            providers::set_provider_header,
            providers::test_provider,
            providers::list_models,
            providers::catalogue_source,
            providers::find_local_servers,
            providers::use_local_server,
            models::model_settings,
            models::save_model_settings,
            models::system_proxy,
            models::proxy_login,
            models::set_proxy_login,
            models::thinking_levels,
            models::set_session_effort,
            usage::usage_report,
            usage::session_usage,
            tour::start_tour,
            trust::project_trust,
            trust::trust_text,
            trust::decide_trust,
            memories::list_memories,
            memories::load_memory,
            memories::save_memory,
            memories::delete_memory,
            memories::memory_version,
            memories::restore_memory,
            memories::memory_source,
            memories::export_memories,
            memories::import_memories,
            skills::list_skills,
            skills::load_skill,
            skills::load_skill_file,
            skills::create_skill,
            skills::save_skill_file,
            skills::delete_skill_file,
            skills::skill_version,
            skills::restore_skill_file,
            skills::delete_skill,
            skills::restore_skill,
            skills::switch_skill,
            skills::pin_skill,
            skills::export_skill,
            skills::import_skills,
            subagents::list_subagents,
            subagents::save_subagent,
            subagents::delete_subagent,
            subagents::restore_subagent,
            subagents::subagent_version,
            subagents::switch_subagent,
            links::open_link,
            permissions::list_rules,
            permissions::remove_rule,
            permissions::restore_rule,
            permissions::rule_offer,
            permissions::rehearse_rule,
            permissions::approve_always,
            permissions::session_mode,
            permissions::set_session_mode,
            permissions::project_modes,
            permissions::set_project_mode,
            permissions::sandboxed_projects,
            permissions::set_command_place,
            permissions::sandbox_problem,
            additions::additions,
            additions::check_additions,
            additions::save_additions,
            additions::addition_forms,
            additions::change_additions,
            additions::check_server,
            additions::try_hook,
            additions::session_servers,
            additions::accept_changed_tool,
            additions::try_server_again,
            additions::begin_sign_in,
            additions::finish_sign_in,
            additions::cancel_sign_in,
            additions::sign_out,
            diagnostics::storage,
            diagnostics::open_data_folder,
            diagnostics::diagnostics,
            diagnostics::save_diagnostics,
            notifications::subscribe_goals,
            closing::close_question_shown,
            closing::answer_close_question,
        ]
    };
}

/// What answers the page. It knows nothing of types, so that their descriptions are no part of the program.
pub fn handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    every_command!(generate_handler)
}

/// All commands, with the types that cross. The TypeScript side is generated from this.
pub fn bindings<R: Runtime>() -> Builder<R> {
    Builder::new()
        .commands(every_command!(collect_commands))
        .typ::<CommandError>()
        .error_handling(ErrorHandlingMode::Throw)
        .disable_serde_phases()
}
