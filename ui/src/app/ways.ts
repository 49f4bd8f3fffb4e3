/** Which way out of each problem the window can go itself. Its sentence names the same one. */
import type { Problem } from '../ipc/bindings';

export type Kind = Problem['problem'];

export type Way =
  /** The folder of a project: another one, or where it is now. */
  | 'folder'
  /** What failed is done once more, where that does nothing twice. */
  | 'again'
  /** The settings of the provider that it is about. */
  | 'provider'
  /** Those of all models: providers, budgets, the way through the network. */
  | 'models'
  /** Another model for the session at hand. */
  | 'choose_model'
  | 'permissions'
  | 'sandbox'
  | 'servers'
  | 'subagents'
  | 'appearance'
  | 'data'
  | 'trust'
  | 'skills'
  | 'timeline'
  /** It is gone where the person is already, outside Bosun, or nowhere. Of a problem within it the way counts. */
  | 'none';

// prettier-ignore
export const WAYS = {
  folder: [
    'project_missing', 'project_is_file', 'project_unreadable', 'project_is_home', 'project_above_home',
    'project_holds_data', 'project_in_data', 'project_is_machine', 'project_unusable', 'project_gone', 'project_taken', 'project_still_there',
    'project_unknown',
  ],
  again: [
    'journal_unwritable', 'disk_full', 'database_locked', 'database_failed', 'database_file_locked',
    'content_disk_full', 'content_unusable', 'file_disk_full', 'file_unstable', 'place_silent', 'project_at_work',
    'project_open_elsewhere', 'session_elsewhere', 'spending_unknown', 'fewer_requests', 'overloaded',
    'error_without_words', 'broke_before_reply', 'only_part', 'no_answer', 'still_sending', 'sent_nothing',
    'sent_nothing_more', 'reply_cut', 'reply_broken', 'reply_unfinished', 'bad_format', 'certificate_date',
    'google_unreached', 'dialog_open',
  ],
  provider: [
    'key_missing', 'key_locked', 'key_nowhere', 'key_refused', 'keyring_locked', 'keyring_locked_or', 'key_characters',
    'nothing_at_address', 'nothing_without_version', 'refused_silently', 'address_wrong', 'address_without_version',
    'other_json', 'other_json_without_version', 'something_else', 'something_else_without_version', 'web_page',
    'web_page_without_version', 'not_secure', 'not_accepted', 'host_unknown', 'nothing_answers', 'redirected',
    'base_url_unnamed', 'aws_profile_sso', 'aws_profile_console', 'aws_profile_program', 'aws_profile_role',
    'aws_cli_failed', 'aws_login_ended', 'aws_profile_empty', 'aws_nothing', 'aws_unsigned', 'vertex_no_project',
  ],
  models: [
    'provider_unknown', 'provider_gone', 'provider_none', 'keyring_missing', 'keyring_is_locked', 'keyring_slow',
    'keyring_other', 'keyring_refused', 'keyring_unremoved', 'key_stays', 'certificate', 'proxy_wants_password',
    'proxy_refused', 'proxy_unreached', 'proxy_script', 'proxy_login_locked', 'network_unusable', 'session_budget',
    'day_budget', 'session_cost', 'session_cost_stops', 'day_cost', 'day_cost_stops',
  ],
  choose_model: ['no_model_chosen', 'no_model_named', 'pay_first', 'without_tools', 'no_summary', 'summary_too_long'],
  permissions: ['rule_gone', 'too_many_rules'],
  sandbox: ['sandbox_missing', 'sandbox_unusable', 'sandbox_elsewhere'],
  servers: ['server_header_missing', 'variable_missing', 'server_wants_sign_in', 'sign_in_not_kept'],
  subagents: ['subagent_gone', 'subagent_model', 'subagent_model_elsewhere'],
  appearance: ['may_be_program', 'editor_failed'],
  data: ['database_damaged', 'entry_unreadable', 'content_missing', 'content_damaged', 'content_lost'],
  trust: ['server_untrusted', 'not_brought', 'seen_another'],
  skills: ['skill_gone'],
  timeline: ['no_rewind', 'place_gone', 'undo_gone'],
  none: [
    'not_approved', 'not_kept',
    'said', 'internal', 'bad_request', 'no_data_folder', 'data_folder_missing', 'data_folder_forbidden',
    'data_folder_is_file', 'data_folder_read_only', 'data_folder_full', 'data_folder_unusable', 'database_newer',
    'database_foreign', 'database_of_other', 'database_read_only', 'database_unusable', 'not_in_database',
    'nothing_kept', 'nothing_attachable', 'not_recorded', 'not_read_yet', 'text_not_found', 'text_not_unique',
    'text_empty', 'nothing_to_change', 'no_shell', 'command_empty', 'command_nul', 'command_too_long', 'bad_timeout',
    'engine_unusable', 'host_bad_name', 'container_bad_name', 'container_comma', 'container_none',
    'container_takes_none', 'sample_too_many', 'sample_not_placed', 'path_leaves', 'path_of_home', 'path_of_windows',
    'path_of_device', 'path_with_nul', 'path_too_long', 'no_path', 'name_missing', 'file_not_found', 'folder_not_found',
    'not_a_folder', 'is_a_folder', 'name_taken', 'not_regular', 'outside_root', 'link_loop', 'link_to_protected',
    'forbidden', 'forbidden_by_rule', 'file_changed', 'file_too_large', 'file_over_limit', 'not_text', 'binary',
    'file_read_only', 'file_immutable', 'cannot_delete', 'root_protected', 'folder_gone', 'file_unsure', 'file_failed',
    'files_failed', 'gone', 'edited_meanwhile', 'kept_by_bosun', 'too_large_to_copy', 'editor_unusable',
    'no_program_for', 'no_file_manager', 'too_many_of_a_name', 'not_watched', 'not_changed', 'as_before',
    'left_as_it_is', 'cannot_put_back', 'changed_since', 'changed_between', 'earlier_open', 'bytes_not_kept', 'others_put_back',
    'nothing_taken_back', 'nothing_said', 'undo_not_last', 'no_image', 'changed_meanwhile', 'nothing_there',
    'no_such_row', 'no_such_request', 'session_gone', 'too_many_sessions', 'turn_running', 'turn_finished',
    'nothing_to_continue', 'empty_message', 'not_queued', 'empty_title', 'fork_unreadable', 'subagent_idle',
    'plan_of_subagent', 'plan_line_gone', 'plan_line_empty', 'plan_full', 'summary_empty', 'nothing_summed_up',
    'summary_of_subagent', 'summary_under_way', 'nothing_to_compact', 'compact_while_running', 'summary_failed',
    'summary_not_saved', 'stopped', 'text_too_long', 'name_too_long', 'pattern_too_long', 'page_not_told',
    'bytes_incomplete', 'attachment_unknown', 'attachment_lost', 'too_many_along', 'too_much_along', 'send_in_parts',
    'beyond_models', 'attachment_empty', 'image_too_large', 'document_too_large', 'attached_text_too_large',
    'picture_bursts', 'too_many_pixels', 'not_attachable', 'mention_gone', 'not_pending', 'ask_changed', 'ask_altered',
    'decision_not_allowed', 'bad_arguments', 'empty_response', 'answered_twice', 'model_name', 'too_many_decisions',
    'too_many_new_rules', 'not_waiting', 'rule_not_approved', 'rule_pattern', 'version_gone', 'version_unreadable',
    'memory_without_project', 'skill_folder', 'skill_name', 'skill_taken', 'skill_purpose', 'no_skill',
    'skill_file_needed', 'no_skill_in_it', 'skill_file_unusable', 'skill_too_large', 'skill_name_letters',
    'skill_name_long', 'skill_name_other', 'description_cut', 'compatibility_cut', 'brought_too_large',
    'front_matter_missing', 'front_matter_open', 'front_matter_long', 'front_matter_yaml', 'front_matter_by_line',
    'field_missing', 'field_not_text', 'field_not_names', 'field_not_asks', 'field_not_folders', 'field_not_schema',
    'field_not_number', 'field_not_model', 'field_not_effort', 'field_not_rules', 'rule_path_not_from_root',
    'rule_path_up', 'rule_path_of_home', 'rule_path_braces', 'field_unknown', 'subagent_name', 'subagent_bad_name',
    'no_subagent', 'subagent_two_names', 'subagent_stays', 'subagent_twice', 'tool_unknown', 'no_decision',
    'link_too_long', 'link_with_blanks', 'link_unreadable', 'link_without_host', 'link_with_user', 'link_scheme',
    'archive_too_large', 'route_at_root', 'place_at_root', 'route_twice', 'declared_route', 'route_no_namespace',
    'route_no_folder', 'route_part_of_path', 'route_no_host', 'route_no_container', 'route_misplaced',
    'routes_of_project', 'limits_of_project', 'declaration_unused', 'no_namespace', 'bad_search', 'tool_twice',
    'state_field_twice', 'additions_too_long', 'additions_unreadable', 'server_name', 'server_twice', 'server_no_reach',
    'server_two_reaches', 'server_misplaced', 'server_url', 'server_value', 'server_seconds', 'server_name_letters',
    'server_name_long', 'no_program', 'nul_in_argument', 'no_variable', 'no_header', 'no_address', 'secret_in_address',
    'address_not_safe', 'address_scheme', 'sign_in_unknown', 'sign_in_no_address', 'sign_in_unsupported',
    'sign_in_unsafe', 'sign_in_no_port', 'sign_in_refused', 'sign_in_too_late', 'sign_in_not_forgotten',
    'sign_in_given_up', 'server_not_started', 'server_ended_at_start', 'server_silent_at_start', 'server_silent',
    'server_refused', 'server_withdrawn', 'server_session_ended', 'server_ended', 'server_ended_with',
    'server_ended_by', 'server_last_said', 'server_pipes', 'server_message_too_large', 'server_too_much',
    'server_unreachable', 'server_tool_twice', 'server_tool_unusable', 'server_tools', 'server_tool_name',
    'server_tool_long', 'server_tool_argument', 'server_tool_deep', 'server_tool_no_object', 'hook_name', 'hook_twice',
    'hook_no_command', 'hook_value', 'hook_timeout', 'hook_tools', 'hook_failure', 'tool_changed_again',
    'nothing_to_write', 'import_outside', 'import_link', 'import_not_regular', 'import_file_too_large',
    'import_too_much', 'import_twice', 'import_no_archive', 'import_unusable', 'provider_label', 'base_url_too_long',
    'tour_built_in', 'family_fixed', 'no_key', 'key_left', 'not_local', 'too_many_models', 'model_unnamed',
    'model_without_tokens', 'model_price', 'budget_number', 'wait_number', 'settings_unreadable', 'header_name',
    'header_value', 'header_too_long', 'headers_full', 'header_reserved', 'base_url_scheme', 'base_url_unreadable',
    'base_url_other', 'base_url_hostless', 'base_url_secret', 'base_url_query', 'proxy_address', 'proxy_scheme',
    'proxy_secret', 'proxy_login_wrong', 'proxy_login_nowhere', 'proxy_unusable', 'certificates_unreadable',
    'certificates_none', 'google_file_unreadable', 'google_nothing', 'google_file_foreign', 'google_file_kind',
    'google_file_unusable', 'google_no_token', 'google_refused', 'request_unwritable', 'limit_of_steps',
    'limit_of_tokens', 'limit_of_dollars', 'limit_of_seconds', 'same_failures', 'answer_not_handed_in', 'hook_refused',
    'hook_refused_for', 'asks_again', 'budget_waits', 'fell_back', 'thinking_unseen', 'hook_broke', 'key_in_message',
    'key_in_result', 'skill_wrong', 'subagent_wrong', 'subagent_lacks', 'untrusted', 'brought_unusable', 'memory_cut',
    'agent_lacks', 'asking_unknown', 'subagent_asking_unknown', 'hook_unmatched', 'second_missing', 'small_missing',
    'cost_not_counted', 'budget_not_counted', 'not_summed_up', 'not_summed_up_empty', 'not_summed_up_longer',
    'summed_up_again',
  ],
} as const satisfies Record<Way, readonly Kind[]>;

/** A new kind of problem has to be put into the table: this does not compile as long as one is missing. */
type Missing = Exclude<Kind, (typeof WAYS)[Way][number]>;
export const EVERY_KIND: [Missing] extends [never] ? true : Missing = true;

const WAY_OF: ReadonlyMap<Kind, Way> = new Map(
  Object.entries(WAYS).flatMap(([way, kinds]) => kinds.map((kind): [Kind, Way] => [kind, way as Way])),
);

/** The way out of a problem, and the problem within it whose way that is. */
export function wayOf(problem: Problem): { way: Way; of: Problem } {
  const way = WAY_OF.get(problem.problem) ?? 'none';
  const within = 'why' in problem && !Array.isArray(problem.why) ? problem.why : null;
  return way === 'none' && within ? wayOf(within) : { way, of: problem };
}
