import type { Messages } from '../en';
import { Formats } from '../formats';

const f = new Formats('zh-CN');

export const panes: Messages['panes'] = { plan: '计划', agents: '智能体', changes: '更改', timeline: '时间线' };

export const plan: Messages['plan'] = {
  done: (done, total) => `已完成 ${done} / ${total}`,
  progress: '计划进度',
  pending: '待办',
  inProgress: '进行中',
  completed: '已完成',
  calls: (count) => `${count} 次调用`,
  moreFiles: (count) => `另有 ${count} 个文件`,
  waiting: '等你决定',
  board: '以看板打开',
  boardTitle: '计划',
  lastCalls: '最近的调用',
  files: '改动的文件',
  showOnly: '只显示为它所做的工作',
  showAll: '显示整个对话',
  filtered: (todo) => `仅显示为“${todo}”所做的工作`,
  gathering: (rows) => `正在查找更早的 ${f.number(rows)} 行…`,
  notGathered: (rows) => `还有更早的 ${f.number(rows)} 行未查找`,
  edit: {
    add: '添加到计划',
    new: '添加待办…',
    reword: '修改文字',
    up: '在计划中前移',
    down: '在计划中后移',
    drop: '从计划中移除',
    dropped: (todo) => `已从计划中移除“${todo}”`,
    menu: (todo) => `“${todo}”的更多操作`,
    words: '待办的文字',
    told: '智能体会在下一步得知你的更改。',
  },
  emptyTitle: '还没有计划',
  emptyText: '遇到需要多个步骤的工作，智能体会在这里列出清单，边做边勾掉。',
};

export const agents: Messages['agents'] = {
  tree: '本会话的智能体',
  status: {
    queued: '排队中',
    running: '进行中',
    waiting: '等你决定',
    done: '已完成',
    failed: '失败',
    cancelled: '已取消',
  },
  emptyTitle: '只有主智能体',
  emptyText: '派出子智能体后，这里会显示它们在做什么、用了多久、花费多少。',
  transcript: (name) => `${name} 的工作记录`,
  stop: (name) => `停止 ${name}`,
  open: '放大查看',
  whole: '它的全部工作',
  beside: '后台',
  stopped: '上级智能体会得知你停止了它，并继续工作。',
  loading: '正在载入…',
  sentTo: '任务',
  toConversation: '转到对话',
  facts: {
    main: (name) => `${name} 的状态`,
    state: '状态',
    time: '用时',
    context: '上下文',
    cost: '费用',
    filled: (share, used, window) => `${share} · ${used} / ${window} 个词元`,
  },
};

export const changes: Messages['changes'] = {
  files: (count) => `${count} 个文件`,
  kinds: { created: '新建', changed: '已改', deleted: '已删' },
  list: '改动的文件',
  pending: '待批',
  loading: '正在比较…',
  split: '前后并排显示',
  wide: '放大查看',
  comment: '对这一行评论',
  removedLine: (line) => `:${line}（已删除）`,
  undo: '撤销',
  undoFile: (path) => `撤销对 ${path} 的更改`,
  undoAll: '全部撤销',
  changed: (count) => `改动了 ${count} 个文件`,
  look: '查看',
  undoAllSure: (count) => `恢复这 ${count} 个文件？`,
  undoAtWork: '智能体正在工作，请先停止它。',
  emptyTitle: '没有改动任何文件',
  emptyText: '本会话新建、修改或删除的文件都会列在这里，并显示具体改动。',
};
