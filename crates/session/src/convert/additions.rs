//! Servers and hooks as forms show them.

use std::collections::BTreeMap;

use bosun_harness::mcp::ServerConfig;
use bosun_harness::{HookConfig, HookPoint, HookTrial, HookVerdict, OnFailure};
use bosun_protocol as wire;
use bosun_protocol::{HookFailure, HookForm, Problem, SecretField, ServerForm, ServerReach};

pub(crate) fn server_form(name: &str, config: &ServerConfig) -> ServerForm {
    let reach = match &config.url {
        Some(url) => {
            let headers = fields(&config.headers, &config.secret_headers);
            ServerReach::Address { url: url.clone(), headers }
        }
        None => ServerReach::Program {
            command: config.command.clone().unwrap_or_default(),
            args: config.args.clone(),
            env: fields(&config.env, &config.secret_env),
        },
    };
    ServerForm { name: name.to_owned(), enabled: config.enabled, reach }
}

fn fields(open: &BTreeMap<String, String>, secret: &[String]) -> Vec<SecretField> {
    let open = open.iter().map(|(name, value)| {
        let is_empty = value.trim().is_empty();
        SecretField { name: name.clone(), value: is_empty.then(|| value.clone()), in_database: !is_empty }
    });
    let secret = secret.iter().map(|name| SecretField { name: name.clone(), value: None, in_database: false });
    open.chain(secret).collect()
}

/// `old` with what the form says. Headers and variables are all secret here: what they are is for whoever keeps them.
pub(crate) fn server_config(old: ServerConfig, form: &ServerForm) -> ServerConfig {
    let kept = ServerConfig { enabled: form.enabled, ..old };
    let bare = ServerConfig {
        command: None,
        args: Vec::new(),
        env: BTreeMap::new(),
        secret_env: Vec::new(),
        url: None,
        headers: BTreeMap::new(),
        secret_headers: Vec::new(),
        ..kept
    };
    match &form.reach {
        ServerReach::Program { command, args, env } => ServerConfig {
            command: Some(command.trim().to_owned()),
            args: args.clone(),
            secret_env: names(env),
            ..bare
        },
        ServerReach::Address { url, headers } => ServerConfig {
            url: Some(url.trim().to_owned()),
            secret_headers: names(headers),
            // Only programs have an environment.
            pass_env: Vec::new(),
            ..bare
        },
    }
}

fn names(fields: &[SecretField]) -> Vec<String> {
    fields.iter().map(|field| field.name.trim().to_owned()).collect()
}

pub(crate) fn hook_form(config: &HookConfig) -> HookForm {
    HookForm {
        name: config.name.clone(),
        enabled: config.enabled,
        point: hook_point(config.point),
        tools: config.tools.clone(),
        command: config.command.clone(),
        args: config.args.clone(),
        env: fields(&config.env, &config.secret_env),
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
        env: BTreeMap::new(),
        secret_env: names(&form.env),
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
