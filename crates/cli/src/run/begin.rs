use bosun_backend::project_root;
use bosun_protocol::{ErrorCode, ModelRef, SessionId, SessionStatus, Snapshot};
use bosun_session::{ModelSource, Sessions, Subscription, default_effort, default_model};
use bosun_store::Database;

use super::{RunArgs, attached, remembered};
use crate::failure::Failure;
use crate::models::{Address, Models, Named};

/// A session whose turn is under way.
pub(super) struct Begun {
    pub session: SessionId,
    /// From before the turn began or went on.
    pub subscription: Subscription,
}

/// A new session with the task as its first message.
pub(super) async fn begin(
    sessions: &Sessions,
    models: &Models,
    database: Option<&Database>,
    args: &RunArgs,
    model: Option<ModelRef>,
) -> Result<Begun, Failure> {
    let project = args.folder();
    let task = args.task.clone().ok_or(Failure::NoTask)?;
    let (settings, known) = models.settings_at(project).await?;
    let model = model.or_else(|| sessions.declared_model()).or_else(|| default_model(&settings, known.as_ref()));
    let model = model.ok_or(Failure::NoModel)?;
    let effort = known.and_then(|project| default_effort(&settings, &project, &model));
    models.ask_at(address_of(&model, args.base_url.as_deref()));
    // Before anything is made: a session that cannot begin would only stand in the list.
    models.connect(&model).await?;
    let attached = attached::keep(sessions, &args.attach).await?;
    let project = sessions.open_project(project).await?;
    let session = sessions.create(&project.id, Some(model.clone())).await?.id;
    remember_sandbox(database, &session, args).await?;
    if effort.is_some() {
        sessions.set_effort(&session, effort).await?;
    }
    args.choices.put_into(sessions, &session, Some(&model)).await?;
    let subscription = sessions.subscribe(&session).await?;
    attached::send(sessions, &session, task, attached).await?;
    Ok(Begun { session, subscription })
}

/// A session that is there already: what is open in it goes on, and a task comes after it.
pub(super) async fn resume(
    sessions: &Sessions,
    models: &Models,
    database: Option<&Database>,
    id: &str,
    args: &RunArgs,
    model: Option<ModelRef>,
) -> Result<Begun, Failure> {
    let session = SessionId::new(id);
    let subscription = subscribe(sessions, &session).await?;
    let snapshot = &subscription.snapshot;
    check_project(snapshot, database, args).await?;
    remember_sandbox(database, &session, args).await?;
    let used = model.clone().or_else(|| snapshot.session.model.clone());
    choose_model(sessions, models, snapshot, model, args.base_url.as_deref()).await?;
    args.choices.put_into(sessions, &session, used.as_ref()).await?;
    let open = matches!(snapshot.session.status, SessionStatus::Waiting | SessionStatus::Interrupted)
        || sessions.left_beside(&session).await? > 0;
    let can_go_on = open || matches!(snapshot.session.status, SessionStatus::Failed | SessionStatus::Stopped);
    match &args.task {
        Some(task) => {
            // While a turn is open this waits in the queue.
            let attached = attached::keep(sessions, &args.attach).await?;
            attached::send(sessions, &session, task.clone(), attached).await?;
            if open {
                sessions.continue_turn(&session).await?;
            }
        }
        None if can_go_on || !snapshot.queue.is_empty() => sessions.continue_turn(&session).await?,
        None => return Err(Failure::NothingOpen { id: id.to_owned() }),
    }
    Ok(Begun { session, subscription })
}

fn address_of(model: &ModelRef, base_url: Option<&str>) -> Option<Address> {
    base_url.map(|url| Address { provider: model.provider.to_string(), url: url.to_owned(), named: Named::Now })
}

/// Before anything runs in it.
async fn remember_sandbox(database: Option<&Database>, session: &SessionId, args: &RunArgs) -> Result<(), Failure> {
    match database.filter(|_| args.sandbox) {
        Some(database) => Ok(remembered::keep(database, remembered::SANDBOX, session.as_str(), "on").await?),
        None => Ok(()),
    }
}

/// The session called `id`, as it is.
pub(crate) async fn subscribe(sessions: &Sessions, id: &SessionId) -> Result<Subscription, Failure> {
    let subscription = sessions.subscribe(id).await.map_err(|error| match error.code {
        ErrorCode::NotFound => Failure::NoSession { id: id.to_string() },
        _ => error.into(),
    })?;
    match &subscription.snapshot.session.parent {
        Some(parent) => Err(Failure::Subagent { id: id.to_string(), parent: parent.to_string() }),
        None => Ok(subscription),
    }
}

async fn check_project(snapshot: &Snapshot, database: Option<&Database>, args: &RunArgs) -> Result<(), Failure> {
    let Some(database) = database else { return Ok(()) };
    let Some(project) = database.project(snapshot.session.project.as_str()).await? else { return Ok(()) };
    let data = Some(database.folder());
    let root = project_root(project.path.as_ref(), data)?.path;
    match &args.project {
        Some(given) if project_root(given, data)?.path != root => {
            Err(Failure::OtherProject { id: snapshot.session.id.to_string(), path: root })
        }
        _ => Ok(()),
    }
}

pub(super) async fn choose_model(
    sessions: &Sessions,
    models: &Models,
    snapshot: &Snapshot,
    given: Option<ModelRef>,
    base_url: Option<&str>,
) -> Result<(), Failure> {
    let model = match (given, &snapshot.session.model) {
        (Some(model), _) => model,
        (None, Some(model)) => model.clone(),
        (None, None) => {
            let settings = models.settings().await?;
            let usual = || default_model(&settings, Some(&snapshot.session.project));
            sessions.declared_model().or_else(usual).ok_or(Failure::NoModel)?
        }
    };
    models.ask_at(address_of(&model, base_url));
    models.connect(&model).await?;
    if snapshot.session.model.as_ref() != Some(&model) {
        sessions.set_model(&snapshot.session.id, model).await?;
    }
    Ok(())
}
