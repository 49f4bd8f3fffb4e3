//! Servers and hooks as forms show them.

use bosun_harness::mcp::ServerConfig;
use bosun_harness::{HookConfig, HookPoint, HookTrial, HookVerdict, OnFailure};
use bosun_protocol as wire;
use bosun_protocol::{HeaderForm, HookFailure, HookForm, Problem, ServerForm, ServerReach, Variable};

pub(crate) fn server_form(name: &str, config: &ServerConfig) -> ServerForm {
    let reach = match &config.url {
        Some(url) => {
            let names = config.headers.keys().chain(&config.secret_headers);
            let headers = names.map(|name| HeaderForm { name: name.clone(), value: None }).collect();
            ServerReach::Address { url: url.clone(), headers }
        }
        None => ServerReach::Program {
            command: config.command.clone().unwrap_or_default(),
            args: config.args.clone(),
            env: config.env.iter().map(|(name, value)| Variable { name: name.clone(), value: value.clone() }).collect(),
        },
    };
    ServerForm { name: name.to_owned(), enabled: config.enabled, reach }
}

/// `old` with what the form says. Headers are all secret now: what they are is for whoever keeps them.
pub(crate) fn server_config(old: ServerConfig, form: &ServerForm) -> ServerConfig {
    let kept = ServerConfig { enabled: form.enabled, ..old };
    let bare = ServerConfig {
        command: None,
        args: Vec::new(),
        env: std::collections::BTreeMap::new(),
        url: None,
        headers: std::collections::BTreeMap::new(),
        secret_headers: Vec::new(),
        ..kept
    };
    match &form.reach {
        ServerReach::Program { command, args, env } => ServerConfig {
            command: Some(command.trim().to_owned()),
            args: args.clone(),
            env: env.iter().map(|one| (one.name.trim().to_owned(), one.value.clone())).collect(),
            ..bare
        },
        ServerReach::Address { url, headers } => ServerConfig {
            url: Some(url.trim().to_owned()),
            secret_headers: headers.iter().map(|header| header.name.trim().to_owned()).collect(),
            // Only programs have an environment.
            pass_env: Vec::new(),
            ..bare
        },
    }
}

pub(crate) fn hook_form(config: &HookConfig) -> HookForm {
    HookForm {
        name: config.name.clone(),
        enabled: config.enabled,
        point: hook_point(config.point),
        tools: config.tools.clone(),
        command: config.command.clone(),
        args: config.args.clone(),
        timeout: u32::try_from(config.timeout).unwrap_or(u32::MAX),
        on_failure: config.on_failure.map(hook_failure),
    }
}

/// `old` with what the form says.
pub(crate) fn hook_config(old: Option<HookConfig>, form: &HookForm) -> HookConfig {
    HookConfig {
        name: form.name.trim().to_owned(),
        point: core_point(form.point),
        command: form.command.trim().to_owned(),
        args: form.args.clone(),
        tools: form.tools.clone(),
        timeout: form.timeout.into(),
        env: old.as_ref().map(|old| old.env.clone()).unwrap_or_default(),
        pass_env: old.as_ref().map(|old| old.pass_env.clone()).unwrap_or_default(),
        on_failure: form.on_failure.map(core_failure),
        enabled: form.enabled,
    }
}

pub(crate) fn hook_trial(config: &HookConfig, trial: HookTrial) -> wire::HookTrial {
    let verdict = match trial.verdict {
        HookVerdict::GoesOn => wire::HookVerdict::GoesOn,
        HookVerdict::Adds { text } => wire::HookVerdict::Adds { text },
        HookVerdict::Asks { reason } => wire::HookVerdict::Asks { reason },
        HookVerdict::Denies { reason } => wire::HookVerdict::Denies { reason },
        HookVerdict::Failed { how, then } => {
            let (hook, point) = (config.name.clone(), config.point.word().to_owned());
            let why = Problem::HookBroke { hook, point, detail: how };
            wire::HookVerdict::Failed { why, then: hook_failure(then) }
        }
    };
    wire::HookTrial {
        event: trial.event,
        exit_code: trial.exit.and_then(|exit| exit.code),
        signal: trial.exit.and_then(|exit| exit.signal),
        stdout: trial.stdout,
        stderr: trial.stderr,
        truncated: trial.truncated,
        verdict,
    }
}

fn hook_failure(failure: OnFailure) -> HookFailure {
    match failure {
        OnFailure::GoOn => HookFailure::GoOn,
        OnFailure::Ask => HookFailure::Ask,
        OnFailure::Deny => HookFailure::Deny,
    }
}

fn core_failure(failure: HookFailure) -> OnFailure {
    match failure {
        HookFailure::GoOn => OnFailure::GoOn,
        HookFailure::Ask => OnFailure::Ask,
        HookFailure::Deny => OnFailure::Deny,
    }
}

fn hook_point(point: HookPoint) -> wire::HookPoint {
    match point {
        HookPoint::TurnStart => wire::HookPoint::TurnStart,
        HookPoint::BeforeModel => wire::HookPoint::BeforeModel,
        HookPoint::AfterModel => wire::HookPoint::AfterModel,
        HookPoint::BeforeTool => wire::HookPoint::BeforeTool,
        HookPoint::AfterTool => wire::HookPoint::AfterTool,
        HookPoint::SubagentStart => wire::HookPoint::SubagentStart,
        HookPoint::SubagentEnd => wire::HookPoint::SubagentEnd,
        HookPoint::Compaction => wire::HookPoint::Compaction,
        HookPoint::TurnEnd => wire::HookPoint::TurnEnd,
    }
}

fn core_point(point: wire::HookPoint) -> HookPoint {
    match point {
        wire::HookPoint::TurnStart => HookPoint::TurnStart,
        wire::HookPoint::BeforeModel => HookPoint::BeforeModel,
        wire::HookPoint::AfterModel => HookPoint::AfterModel,
        wire::HookPoint::BeforeTool => HookPoint::BeforeTool,
        wire::HookPoint::AfterTool => HookPoint::AfterTool,
        wire::HookPoint::SubagentStart => HookPoint::SubagentStart,
        wire::HookPoint::SubagentEnd => HookPoint::SubagentEnd,
        wire::HookPoint::Compaction => HookPoint::Compaction,
        wire::HookPoint::TurnEnd => HookPoint::TurnEnd,
    }
}
