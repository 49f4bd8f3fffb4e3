import type { Messages } from '../en';

export const tools: Messages['tools'] = {
  ls: { plan: '列出 {path}', doing: '正在列出 {path}', done: '列出了 {path}' },
  read_file: { plan: '读取 {path}', doing: '正在读取 {path}', done: '读取了 {path}' },
  write_file: { plan: '写入 {path}', doing: '正在写入 {path}', done: '写入了 {path}' },
  edit_file: { plan: '编辑 {path}', doing: '正在编辑 {path}', done: '编辑了 {path}' },
  delete: { plan: '删除 {path}', doing: '正在删除 {path}', done: '删除了 {path}' },
  glob: { plan: '查找文件 {pattern}', doing: '正在查找文件 {pattern}', done: '查找了文件 {pattern}' },
  glob_in: {
    plan: '在 {path} 中查找文件 {pattern}',
    doing: '正在 {path} 中查找文件 {pattern}',
    done: '在 {path} 中查找了文件 {pattern}',
  },
  grep: { plan: '搜索 {pattern}', doing: '正在搜索 {pattern}', done: '搜索了 {pattern}' },
  grep_in: {
    plan: '在 {path} 中搜索 {pattern}',
    doing: '正在 {path} 中搜索 {pattern}',
    done: '在 {path} 中搜索了 {pattern}',
  },
  execute: { plan: '运行 {command}', doing: '正在运行 {command}', done: '运行了 {command}' },
  write_todos: { plan: '更新计划', doing: '正在更新计划', done: '更新了计划' },
  task: { plan: '派出 {agent}：{task}', doing: '{agent} 正在工作：{task}', done: '派出了 {agent}：{task}' },
  start_async_task: {
    plan: '派 {agent} 在后台工作：{task}',
    doing: '正在派 {agent} 到后台工作：{task}',
    done: '派 {agent} 到后台工作：{task}',
  },
  check_async_task: { plan: '查看子智能体的工作', doing: '正在查看子智能体的工作', done: '查看了子智能体的工作' },
  update_async_task: {
    plan: '告诉子智能体：{task}',
    doing: '正在告诉子智能体：{task}',
    done: '告诉了子智能体：{task}',
  },
  cancel_async_task: { plan: '停止子智能体', doing: '正在停止子智能体', done: '停止了子智能体' },
  list_async_tasks: { plan: '列出子智能体', doing: '正在列出子智能体', done: '列出了子智能体' },
  task_waiting: {
    plan: '派出 {agent}：{task}',
    doing: '{agent} 等你决定：{task}',
    done: '派出了 {agent}：{task}',
  },
  other: { plan: '调用 {tool}', doing: '正在调用 {tool}', done: '调用了 {tool}' },
};

export const toolStates: Messages['toolStates'] = {
  proposed: '准备中',
  waiting: '等待中',
  running: '进行中',
  failed: '失败',
  rejected: '已拒绝',
  answered: '由你答复',
  cancelled: '已取消',
  stopped: '已停止',
  notRun: '未执行',
  unknown: '结果未知',
};

export const figures: Messages['figures'] = {
  lines: (count) => `${count} 行`,
  matches: (count) => `${count} 处匹配`,
  files: (count) => `${count} 个文件`,
  entries: (count) => `${count} 项`,
  exit: (code) => `退出码 ${code}`,
  todos: (done, total) => `已完成 ${done} / ${total}`,
  media: { image: '图片', document: 'PDF', audio: '音频', video: '视频' },
  timed_out: '超时',
  signal: (signal) => `被信号 ${signal} 终止`,
  broke_off: '连接中断，结果未知',
  truncated: '已截断',
  link_broken: '硬链接已断开',
};

export const rows: Messages['rows'] = {
  folded: (count) => `${count} 次调用`,
  edited: '经你修改',
  foldedFailures: (count) => `${count} 个失败`,
  unfold: '展开步骤',
  fold: '收起步骤',
  open: '显示详情',
  shut: '隐藏详情',
  noOutput: '没有输出。',
  liveOutput: '目前的输出',
  truncated: '仅显示开头和结尾。',
  whole: '在“文件”中打开输出',
  arguments: '参数',
  result: '结果',
  unknownOutcome: '运行期间 Bosun 被关闭，结果未知，也不会重新运行。继续之前请先检查。',
  cancelled: '结束之前已被停止。',
  decision: {
    approve: '你批准了。',
    edit: '你修改后让它运行。',
    respond: '你代替工具作了答复。',
    reject: '你拒绝了。',
    rule: (rule) => `由规则“${rule}”决定。`,
  },
  ranWith: '实际参数',
  reason: '理由',
  answer: '你的答复',
  openAgent: '打开',
  subagentAsked: '任务',
  subagentEmpty: '它还没有做任何事。',
};

export const diff: Messages['diff'] = {
  created: '新文件',
  binary: '不是文本，无法逐行显示。',
  truncated: '改动过长，无法在此完整显示。',
  unchanged: '内容没有变化。',
  noNewline: '文件末尾没有换行',
  skipped: (count) => `${count} 行未改动`,
  show: (count, of) => (count < of ? `显示 ${of} 行未改动内容中的 ${count} 行` : `显示 ${of} 行未改动的内容`),
  another: '文件之后又有改动：无法显示这些行。',
  label: (path) => `${path} 的改动`,
};
