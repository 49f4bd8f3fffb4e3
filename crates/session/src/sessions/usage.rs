use bosun_protocol::{
    AgentUsage, CallAgent, CallPurpose, CallUsage, ModelRef, ModelUsage, SessionId, SessionUsage, UsageDay,
    UsageReport, UsageTotal,
};
use bosun_store::{CallSum, CallingAgent, StoredCall};

use super::Sessions;
use crate::SessionError;
use crate::calls::CallBook;

/// Longest look back, in days.
const LONGEST: u32 = 3_660;
/// Calls of a session that are listed one by one.
const LISTED: u32 = 500;
/// Calls of a session that are summed.
const SUMMED: u32 = 200_000;

/// What model calls used and cost.
impl Sessions {
    /// The last `days` days, today among them, by day and model.
    pub async fn usage(&self, days: u32) -> Result<UsageReport, SessionError> {
        self.inner.book.settle().await?;
        let now = self.inner.clock.now_ms();
        let first = CallBook::day_before(now, days.clamp(1, LONGEST) - 1);
        let sums = self.inner.database.calls_by_day(&first).await?;
        let mut report = UsageReport { today: CallBook::day(now), ..UsageReport::default() };
        for sum in sums {
            let total = total_of(&sum);
            add(&mut report.total, &total);
            if report.days.last().is_none_or(|day| day.day != sum.day) {
                report.days.push(UsageDay { day: sum.day.clone(), ..UsageDay::default() });
            }
            if let Some(day) = report.days.last_mut() {
                add(&mut day.total, &total);
                day.models.push(ModelUsage { model: ModelRef { provider: sum.provider, name: sum.model }, total });
            }
        }
        Ok(report)
    }

    /// What a session and its subagents used, with the calls themselves, newest first.
    pub async fn session_usage(&self, session: &SessionId) -> Result<SessionUsage, SessionError> {
        let root = self.root_session(&bosun_agent::SessionId::new(session.as_str())).await?;
        self.inner.book.settle().await?;
        let calls = self.inner.database.calls_of_session(&root.id, SUMMED).await?;
        let mut usage = SessionUsage::default();
        for call in &calls {
            let total = total_of_call(call);
            add(&mut usage.total, &total);
            let model = ModelRef { provider: call.provider.clone(), name: call.model.clone() };
            match usage.models.iter_mut().find(|known| known.model == model) {
                Some(known) => add(&mut known.total, &total),
                None => usage.models.push(ModelUsage { model, total }),
            }
            let Some(agent) = call.agent.as_ref().map(agent) else { continue };
            match usage.agents.iter_mut().find(|known| known.agent == agent) {
                Some(known) => add(&mut known.total, &total),
                None => usage.agents.push(AgentUsage { agent, total }),
            }
        }
        usage.agents.sort_by(|a, b| b.total.cost.total_cmp(&a.total.cost));
        usage.models.sort_by(|a, b| b.total.cost.total_cmp(&a.total.cost));
        usage.calls = calls.into_iter().take(LISTED as usize).map(view).collect();
        Ok(usage)
    }
}

fn total_of(sum: &CallSum) -> UsageTotal {
    UsageTotal {
        calls: sum.calls,
        input_tokens: sum.usage.input.unwrap_or(0),
        output_tokens: sum.usage.output.unwrap_or(0),
        cache_read_tokens: sum.usage.cache_read.unwrap_or(0),
        cost: sum.cost,
        unpriced: sum.unpriced,
    }
}

fn total_of_call(call: &StoredCall) -> UsageTotal {
    UsageTotal {
        calls: 1,
        input_tokens: call.usage.input.unwrap_or(0),
        output_tokens: call.usage.output.unwrap_or(0),
        cache_read_tokens: call.usage.cache_read.unwrap_or(0),
        cost: call.cost.unwrap_or(0.0),
        unpriced: u64::from(call.cost.is_none()),
    }
}

fn add(sum: &mut UsageTotal, more: &UsageTotal) {
    sum.calls += more.calls;
    sum.input_tokens += more.input_tokens;
    sum.output_tokens += more.output_tokens;
    sum.cache_read_tokens += more.cache_read_tokens;
    sum.cost += more.cost;
    sum.unpriced += more.unpriced;
}

fn agent(agent: &CallingAgent) -> CallAgent {
    CallAgent { session: SessionId::new(agent.session.as_str()), name: agent.name.clone() }
}

fn view(call: StoredCall) -> CallUsage {
    CallUsage {
        agent: call.agent.as_ref().map(agent),
        at: call.at,
        milliseconds: call.milliseconds,
        purpose: match call.purpose.as_str() {
            "summary" => CallPurpose::Summary,
            "title" => CallPurpose::Title,
            _ => CallPurpose::Answer,
        },
        input_tokens: call.usage.input,
        output_tokens: call.usage.output,
        cache_read_tokens: call.usage.cache_read,
        reasoning_tokens: call.usage.reasoning,
        cost: call.cost,
        model: ModelRef { provider: call.provider, name: call.model },
    }
}
