import type { Messages } from '../en';

export const faults: Messages['faults'] = {
  row: '这一行无法显示。',
  request: '这项请求无法显示。',
  requests: (count) => `有 ${count} 项请求在等待答复，但无法显示。`,
  dialog: '这个对话框无法显示。',
  conversation: '对话无法显示。',
  session: '这个会话无法显示。',
  list: '会话列表无法显示。',
  pane: (name) => `“${name}”无法显示。`,
  content: '这一部分无法显示。',
  window: '窗口无法显示。',
  safe: '工作没有丢失，Bosun 仍在继续运行。',
  unseen: (tool) =>
    `${tool === null ? '它' : `它请求使用 ${tool}，`}正在等待，在此之前不会执行任何内容。看不到的内容不能批准。`,
  stop: '停止当前回合',
  copy: '复制详情',
  reload: '重新加载窗口',
  notDone: (reason) => `你要求的操作可能没有完成：${reason}。工作没有丢失；如果再次发生，可查看日志。`,
};
