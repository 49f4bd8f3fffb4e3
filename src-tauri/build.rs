//! Builds Tauri's context: our commands become permissions, and only what `capabilities/` grants may be called.

/// Every command of `src/commands`; a name that is missing here cannot be called. `tests/bindings.rs` compares the lists.
const COMMANDS: &[&str] = &[
    "start",
    "ui_ready",
    "list_projects",
    "subscribe_projects",
    "pick_project",
    "open_project",
    "forget_project",
    "list_sessions",
    "subscribe_sessions",
    "create_session",
    "subscribe_session",
    "unsubscribe_session",
    "load_items",
    "send_message",
    "keep_attachment",
    "load_attachment",
    "model_sight",
    "find_mentions",
    "change_plan",
    "stop_subagent",
    "unqueue_message",
    "stop_turn",
    "continue_turn",
    "decide",
    "set_session_model",
    "file_diff",
    "edit_queued",
    "move_queued",
    "send_queued_now",
    "steer_turn",
    "steer_queued",
    "rename_session",
    "pin_session",
    "archive_session",
    "delete_session",
    "restore_session",
    "list_deleted",
    "search_sessions",
    "undo_file",
    "undo_changes",
    "timeline",
    "snapshot_at",
    "file_at",
    "fork_session",
    "preview_rewind",
    "rewind",
    "undo_rewind",
    "export_session",
    "save_settings",
    "list_providers",
    "save_provider",
    "remove_provider",
    "test_provider",
    "list_models",
    "find_local_servers",
    "use_local_server",
    "model_settings",
    "save_model_settings",
    "set_session_effort",
    "usage_report",
    "session_usage",
    "start_tour",
    "open_link",
];

fn main() {
    println!("cargo::rerun-if-changed=src-tauri/capabilities");
    let attributes = tauri_build::Attributes::new()
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS))
        .capabilities_path_pattern("./src-tauri/capabilities/**/*");
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo::error={error:#}");
    }
}
