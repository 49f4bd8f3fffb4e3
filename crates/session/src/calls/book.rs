use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bosun_agent::{Clock, Halt, NoteAbout, SessionId};
use bosun_model::ModelInfo;
use bosun_protocol::{Budget, Budgets, ModelRef, ModelSettings};
use bosun_store::{Database, DatabaseError, StoredCall};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use tokio_util::task::TaskTracker;

use super::Subject;
use super::cached::LastCached;
use super::under_way::{CallsUnderWay, UnderWay};
use crate::SessionError;
use crate::stream::locked;

/// For how many milliseconds budgets count without being read again.
const FRESH: i64 = 1_000;
/// Sessions of which is kept that their person was warned.
const REMEMBERED: usize = 500;
/// The setting that keeps it.
const WARNED: &str = "budget_warned";

/// What all sessions' model calls cost, and what they may.
pub(crate) struct CallBook {
    database: Arc<Database>,
    clock: Arc<dyn Clock>,
    tasks: TaskTracker,
    /// Stands in for the fallback of the settings as long as this process runs.
    fallback: Mutex<Option<ModelRef>>,
    /// Whether sessions get their name from a model, where there is one for that.
    names: AtomicBool,
    /// The budgets and when they were read, by the clock.
    budgets: Mutex<Option<(i64, Budgets)>>,
    under_way: Arc<CallsUnderWay>,
    cached: LastCached,
}

/// Whether another call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    /// Yes, and the person should know this.
    Warn(NoteAbout),
    /// No, for this reason.
    Stop(Halt),
}

/// What the person was warned of already.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Warned {
    sessions: BTreeSet<String>,
    day: String,
    /// Those that were told of a model that does not count.
    uncounted: BTreeSet<String>,
}

impl CallBook {
    pub(crate) fn new(database: Arc<Database>, clock: Arc<dyn Clock>, tasks: TaskTracker) -> Self {
        Self {
            database,
            clock,
            tasks,
            fallback: Mutex::default(),
            names: AtomicBool::new(true),
            budgets: Mutex::default(),
            under_way: Arc::default(),
            cached: LastCached::default(),
        }
    }

    /// What the user set, as it is now.
    pub(crate) async fn settings(&self) -> Result<ModelSettings, SessionError> {
        super::stored(&self.database).await
    }

    /// Takes in that the user set something: a limit that was raised counts from the next call on.
    pub(crate) fn settings_changed(&self) {
        *locked(&self.budgets) = None;
        self.under_way.ended.notify_waiters();
    }

    /// The budgets, at most [`FRESH`] old: another process may have set them.
    async fn budgets(&self) -> Result<Budgets, SessionError> {
        let now = self.clock.now_ms();
        if let Some((read, budgets)) = &*locked(&self.budgets)
            && (0..FRESH).contains(&(now - read))
        {
            return Ok(budgets.clone());
        }
        let budgets = self.settings().await?.budgets;
        *locked(&self.budgets) = Some((now, budgets.clone()));
        Ok(budgets)
    }

    pub(crate) fn fallback(&self) -> Option<ModelRef> {
        locked(&self.fallback).clone()
    }

    pub(crate) fn names_sessions(&self) -> bool {
        self.names.load(Ordering::Relaxed)
    }

    pub(crate) fn name_no_sessions(&self) {
        self.names.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_fallback(&self, model: ModelRef) {
        *locked(&self.fallback) = Some(model);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The day of `at`, by the clock of this machine.
    pub(crate) fn day(at: i64) -> String {
        let time = Timestamp::from_millisecond(at).unwrap_or_default();
        time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
    }

    /// The day that is `days` before that of `at`. A day is not always 24 hours.
    pub(crate) fn day_before(at: i64, days: u32) -> String {
        day_before(at, days, TimeZone::system())
    }

    pub(crate) fn today(&self) -> String {
        Self::day(self.clock.now_ms())
    }

    /// Counts a call.
    pub(crate) fn note(&self, call: StoredCall) {
        self.cached.note(&call);
        self.database.note_call(call);
    }

    /// How many tokens the last call of `model` by the agent of the session `agent` read from the provider's cache.
    pub(crate) fn last_cached(&self, agent: &str, model: &ModelInfo) -> u64 {
        self.cached.of(agent, model)
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// When it returns, all that was counted is stored.
    pub(crate) async fn settle(&self) -> Result<(), DatabaseError> {
        self.database.calls_stored().await
    }

    /// Whether `subject` may call a model, by the budgets.
    pub(crate) async fn verdict(&self, subject: &Subject) -> Result<Verdict, SessionError> {
        let today = self.today();
        match self.spending(subject, &today).await? {
            Some(spending) => self.judged(subject, spending, today).await,
            None => Ok(Verdict::Go),
        }
    }

    /// As [`Self::verdict`], for a call that costs `least` dollars or more, which is asked where something stops. It counts
    /// as long as what comes back with the verdict is kept, which has to be until the call was counted.
    ///
    /// Where the calls under way may use up a budget together, the next `waits` until one of them has ended and its cost
    /// is known: so no budget is passed over by all that begin at once, and none stops for what a call was only thought to
    /// cost. It waits no longer than they take, since alone it is let in or stopped by what was spent.
    pub(crate) async fn admit(
        &self,
        subject: &Subject,
        least: impl FnOnce() -> f64,
        waits: impl FnOnce(),
    ) -> Result<(Verdict, Option<UnderWay>), SessionError> {
        if is_endless(&self.budgets().await?) {
            return Ok((self.verdict(subject).await?, None));
        }
        let least = least();
        let mut waits = Some(waits);
        loop {
            let mut ended = pin!(self.under_way.ended.notified());
            ended.as_mut().enable();
            let entrance = self.under_way.entrance.lock().await;
            // Before what is stored: a call that ends in between counts twice and not never, and wakes who waits.
            let (of_session, of_all) = self.under_way.sums(&subject.session);
            let today = self.today();
            let Some(spending) = self.spending(subject, &today).await? else { return Ok((Verdict::Go, None)) };
            if spending.halt().is_some() || spending.with(of_session, of_all).halt().is_none() {
                let held = self.under_way.begun(&subject.session, least);
                drop(entrance);
                return Ok((self.judged(subject, spending, today).await?, Some(held)));
            }
            drop(entrance);
            if let Some(waits) = waits.take() {
                waits();
            }
            ended.await;
        }
    }

    /// What is to be said of a call by what was spent before it.
    async fn judged(&self, subject: &Subject, spending: Spending, today: String) -> Result<Verdict, SessionError> {
        if let Some(halt) = spending.halt() {
            return Ok(Verdict::Stop(halt));
        }
        let Spending { session, day } = spending;
        let of_session = subject.session.clone();
        if let Some((limit, spent, stop)) = session.warn()
            && self.is_news(move |warned| add(&mut warned.sessions, &of_session)).await?
        {
            return Ok(Verdict::Warn(match stop {
                None => NoteAbout::SessionCost { spent, limit },
                Some(stop) => NoteAbout::SessionCostStops { spent, limit, stop },
            }));
        }
        if let Some((limit, spent, stop)) = day.warn()
            && self.is_news(move |warned| std::mem::replace(&mut warned.day, today.clone()) != today).await?
        {
            return Ok(Verdict::Warn(match stop {
                None => NoteAbout::DayCost { spent, limit },
                Some(stop) => NoteAbout::DayCostStops { spent, limit, stop },
            }));
        }
        Ok(Verdict::Go)
    }

    /// The budget of `subject` that is used up; nobody is warned of one that nearly is.
    pub(crate) async fn halt(&self, subject: &Subject) -> Result<Option<Halt>, SessionError> {
        Ok(self.spending(subject, &self.today()).await?.and_then(|spending| spending.halt()))
    }

    /// What was spent; `None` where no budget is set.
    async fn spending(&self, subject: &Subject, today: &str) -> Result<Option<Spending>, SessionError> {
        let budgets = self.budgets().await?;
        if is_free(budgets.session) && is_free(budgets.day) {
            return Ok(None);
        }
        self.settle().await?;
        let session = Spent { budget: budgets.session, cost: self.database.cost_of_session(&subject.session).await? };
        let day = Spent { budget: budgets.day, cost: self.database.cost_of_day(today).await? };
        Ok(Some(Spending { session, day }))
    }

    /// Whether there is a budget and nobody in the session of `subject` was told of a model that does not count towards
    /// it; from now on someone was.
    pub(crate) async fn is_uncounted_news(&self, subject: &Subject) -> Result<bool, SessionError> {
        let budgets = self.budgets().await?;
        if is_free(budgets.session) && is_free(budgets.day) {
            return Ok(false);
        }
        let session = subject.session.clone();
        self.is_news(move |warned| add(&mut warned.uncounted, &session)).await
    }

    /// Whether `take_in` says that nobody was warned of this before; from now on someone was.
    async fn is_news(&self, take_in: impl FnOnce(&mut Warned) -> bool + Send + 'static) -> Result<bool, SessionError> {
        let change = move |warned: &mut Warned| if take_in(warned) { Ok(()) } else { Err(()) };
        Ok(self.database.change_setting(WARNED, change).await?.is_ok())
    }
}

fn day_before(at: i64, days: u32, zone: TimeZone) -> String {
    let date = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(zone).date();
    date.saturating_sub(Span::new().days(days)).strftime("%Y-%m-%d").to_string()
}

/// Whether `session` is new among those that are kept.
fn add(sessions: &mut BTreeSet<String>, session: &SessionId) -> bool {
    let is_new = sessions.insert(session.to_string());
    while sessions.len() > REMEMBERED {
        sessions.pop_first();
    }
    is_new
}

/// Whether nothing stops.
fn is_endless(budgets: &Budgets) -> bool {
    budgets.session.stop.is_none() && budgets.day.stop.is_none()
}

fn is_free(budget: Budget) -> bool {
    budget.warn.is_none() && budget.stop.is_none()
}

fn dollars(sum: f64) -> String {
    format!("{sum:.2}")
}

struct Spending {
    session: Spent,
    day: Spent,
}

impl Spending {
    /// With what calls under way cost at least: those of the session, and all of them.
    fn with(&self, of_session: f64, of_all: f64) -> Self {
        let and = |spent: &Spent, more: f64| Spent { budget: spent.budget, cost: spent.cost + more };
        Self { session: and(&self.session, of_session), day: and(&self.day, of_all) }
    }

    fn halt(&self) -> Option<Halt> {
        let of_session = self.session.stop().map(|(limit, spent)| Halt::SessionBudget { limit, spent });
        of_session.or_else(|| self.day.stop().map(|(limit, spent)| Halt::DayBudget { limit, spent }))
    }
}

struct Spent {
    budget: Budget,
    cost: f64,
}

impl Spent {
    /// The limit that was reached and what was spent.
    fn stop(&self) -> Option<(String, String)> {
        let limit = self.budget.stop.filter(|limit| self.cost >= *limit)?;
        Some((dollars(limit), dollars(self.cost)))
    }

    /// What the person asked to be told of, what was spent, and the limit where there is one.
    fn warn(&self) -> Option<(String, String, Option<String>)> {
        let limit = self.budget.warn.filter(|limit| self.cost >= *limit)?;
        Some((dollars(limit), dollars(self.cost), self.budget.stop.map(dollars)))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// On 29 March 2026 the clocks went from two to three, on 25 October from three to two.
    #[test]
    fn a_look_back_counts_days_and_not_hours() {
        let zone = || TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let at = |time: &str| time.parse::<Timestamp>().unwrap().as_millisecond();
        for (now, days, day) in [
            ("2026-03-29T22:30:00Z", 0, "2026-03-30"),
            ("2026-03-29T22:30:00Z", 1, "2026-03-29"),
            ("2026-03-29T22:30:00Z", 2, "2026-03-28"),
            ("2026-10-25T22:30:00Z", 1, "2026-10-24"),
            ("2026-03-01T12:00:00Z", 1, "2026-02-28"),
        ] {
            assert_eq!(day_before(at(now), days, zone()), day, "{days} days before {now}");
        }
    }
}
