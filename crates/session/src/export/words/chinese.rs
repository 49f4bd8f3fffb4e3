use bosun_protocol::{Decision, DecisionSource, Figure, MediaKind, NoticeCode, SessionStatus};

use super::said::chinese;
use super::{DiffWords, Words};

pub static CHINESE: Words = Words {
    tag: "zh-CN",
    untitled: "未命名的会话",
    file: "会话",
    session: "会话：",
    project: "项目：",
    model: "模型：",
    status_is: "状态：",
    begun: "开始于：",
    unknown_time: "时间未知",
    tokens: |received, sent| format!("词元：输入 {received}，输出 {sent}"),
    person: "你",
    agent: "智能体",
    subagent: |name, session| format!("子智能体 {name}（{session}）"),
    thinking: "思考过程",
    file_of: |name, mime, bytes| format!("{name}（{mime}，{bytes} 字节）"),
    attached: "附件：",
    goes_on: "（输出未完；中间部分在此省略）",
    plan: "计划",
    changed_files: "改动的文件",
    waiting: "等待批准",
    comma: "，",
    rejected: "已拒绝",
    answered: "由你答复",
    stopped: "已停止",
    cancelled: "已取消",
    unknown: "结果未知",
    figure,
    decided,
    diff: DiffWords {
        new_file: "（新文件）",
        deleted: "（已删除）",
        binary: "（不是文本，无法逐行显示）",
        no_newline: "\\ 文件末尾没有换行符",
        goes_on: |added, removed| format!("（差异未完：共 +{added} -{removed} 行，此处未全部显示）"),
    },
    status,
    notice,
    problem: chinese,
    of_model: |sentence, model| format!("{}（{model}）", sentence.trim_end_matches('。')),
    with_detail: |sentence, detail| format!("{}：{detail}", sentence.trim_end_matches('。')),
};

fn figure(figure: &Figure) -> String {
    match figure {
        Figure::Lines(n) => format!("{n} 行"),
        Figure::Matches(n) => format!("{n} 处匹配"),
        Figure::Files(n) => format!("{n} 个文件"),
        Figure::Entries(n) => format!("{n} 项"),
        Figure::Added(n) => format!("+{n}"),
        Figure::Removed(n) => format!("-{n}"),
        Figure::ExitCode(code) => format!("退出码 {code}"),
        Figure::Todos { done, total } => format!("已完成 {done} / {total}"),
        Figure::Media { kind, size } => format!("{}，{size} 字节", media(*kind)),
        Figure::TimedOut => "超时".to_owned(),
        Figure::Signal(signal) => format!("被信号 {signal} 终止"),
        Figure::BrokeOff => "连接中断，结果未知".to_owned(),
        Figure::Truncated => "已截断".to_owned(),
        Figure::LinkBroken => "硬链接已断开".to_owned(),
    }
}

fn media(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "图片",
        MediaKind::Document => "PDF",
        MediaKind::Audio => "音频",
        MediaKind::Video => "视频",
    }
}

fn decided(decision: &Decision, by: &DecisionSource) -> String {
    let by = match by {
        DecisionSource::Person => "由你".to_owned(),
        DecisionSource::Rule { rule } => format!("由规则 {rule} "),
    };
    match decision {
        Decision::Approve => format!("{by}批准。"),
        Decision::Edit { .. } => format!("{by}批准，并改用其他参数："),
        Decision::Respond { text } => format!("{by}答复：{text}"),
        Decision::Reject { reason: Some(reason) } => format!("{by}拒绝：{reason}"),
        Decision::Reject { reason: None } => format!("{by}拒绝。"),
    }
}

fn status(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "已完成",
        SessionStatus::Running => "进行中",
        SessionStatus::Waiting => "等你决定",
        SessionStatus::Failed => "失败",
        SessionStatus::Stopped => "已停止",
        SessionStatus::Interrupted => "已中断",
    }
}

fn notice(code: NoticeCode) -> &'static str {
    match code {
        NoticeCode::ModelFailed => "模型没有应答。",
        NoticeCode::KeyRefused => "服务商不接受这个密钥。",
        NoticeCode::StreamCut => "回复中途断开，其中的内容均未执行。",
        NoticeCode::Stopped => "你停止了这个回合。",
        NoticeCode::StepLimit => "本回合已达到步数上限。",
        NoticeCode::Interrupted => "Bosun 在本回合进行时被关闭。",
        NoticeCode::Failed => "本回合因 Bosun 内部错误而结束。",
        NoticeCode::NotRecorded => "无法记录本回合，因此已将它停止。",
        NoticeCode::LimitReached => "本回合已达到一项上限。",
        NoticeCode::HookRefused => "你的一个钩子结束了本回合。",
        NoticeCode::BudgetSpent => "预算已用完，本回合已停止。",
        NoticeCode::EmptyReply => "模型返回了空回复。",
        NoticeCode::OutputLimit => "回复达到模型的输出上限，已被截断。",
        NoticeCode::ModelRefused => "模型拒绝回答。",
        NoticeCode::ReplyEnded => "服务商提前结束了这条回复。",
        NoticeCode::AsksAgain => "即将再次请求模型。",
        NoticeCode::BudgetWaits => "正在等待计入同一预算的另一次调用。",
        NoticeCode::ModelFellBack => "本回合余下部分由另一个模型回答。",
        NoticeCode::ThinkingUnseen => "无法显示思考过程。",
        NoticeCode::BudgetWarning => "费用已达到你设定的金额。",
        NoticeCode::HookFailed => "钩子执行失败。",
        NoticeCode::KeySeen => "这里可能有密钥。",
        NoticeCode::DefinitionWrong => "技能或子智能体的定义有误。",
        NoticeCode::NotUsed => "这里未使用。",
        NoticeCode::PriceUnknown => "部分费用未知。",
        NoticeCode::HelperMissing => "缺少一个辅助模型。",
        NoticeCode::SummaryFailed => "未能生成摘要。",
        NoticeCode::SummaryRemade => "已重新生成摘要。",
        NoticeCode::FilesChanged => "智能体读取之后有文件被改动，已告知智能体。",
        NoticeCode::Summarized => "从这里起，发送的是对话开头部分的摘要（之前与之后的词元数）。",
    }
}
