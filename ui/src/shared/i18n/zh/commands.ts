import type { Messages } from '../en';

export const commands: Messages['commands'] = {
  newSession: '新建会话',
  stop: '停止当前回合',
  continue: '继续当前回合',
  model: '选择模型',
  inbox: '查看所有待决定的请求',
  find: '在本会话中查找',
  plan: '计划',
  board: '以看板显示计划',
  agents: '智能体',
  changes: '更改',
  files: '文件',
  timeline: '时间线',
  rewind: '回退到上一条消息之前',
  compact: '为对话生成摘要，或查看摘要',
  rename: '重命名会话',
  sidebar: '显示或隐藏会话列表',
  inspector: '显示或隐藏侧栏',
  openFolder: '打开文件夹',
  palette: '查找命令、会话或文件',
  memories: '记忆',
  skills: '技能',
  subagents: '子智能体',
  trust: '此文件夹带来的内容，以及信任与否',
  settings: '设置',
  sheet: '键盘快捷键',
  light: '浅色主题',
  dark: '深色主题',
  asSystem: '跟随系统主题',
  english: '切换为英文（English）',
  chinese: '切换为中文',
  firstSteps: '再看一遍入门步骤',
};

export const palette: Messages['palette'] = {
  title: '命令、会话与文件',
  placeholder: '查找命令、会话或文件',
  none: '没有找到',
  commands: '命令',
  sessions: '会话',
  files: '本项目的文件',
  said: '会话内容',
  bySubagent: '子智能体所说',
  notSearched: (what, why) => `未能搜索“${what}”：${why}`,
};

export const inbox: Messages['inbox'] = {
  title: '等你决定',
  open: '打开会话',
  emptyTitle: '没有待决定的请求',
  emptyText: '任何会话中的智能体想修改文件或运行命令时，请求都会出现在这里。',
};
