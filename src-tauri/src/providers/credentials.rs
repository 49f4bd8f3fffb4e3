use std::sync::Arc;

use bosun_model::BoxFuture;
use bosun_providers::{CredentialAnswer, CredentialProgram, RunCredentialProgram};
use bosun_session::run_own_program;

/// Runs the programs that give out a cloud's credentials.
pub(super) fn programs() -> Arc<RunCredentialProgram> {
    Arc::new(|asked: CredentialProgram| -> BoxFuture<'static, CredentialAnswer> { Box::pin(answer(asked)) })
}

async fn answer(asked: CredentialProgram) -> CredentialAnswer {
    let CredentialProgram { program, args, timeout } = asked;
    match run_own_program(program, args, timeout).await {
        Err(error) => CredentialAnswer::NotStarted(error.to_string()),
        Ok(answer) => {
            let stderr = match answer.exit {
                Some(_) => String::from_utf8_lossy(&answer.stderr).into_owned(),
                None => "it did not end in time".to_owned(),
            };
            let succeeded = answer.exit.is_some_and(|exit| exit.code == Some(0));
            CredentialAnswer::Ended { succeeded, stdout: answer.stdout, stderr }
        }
    }
}
