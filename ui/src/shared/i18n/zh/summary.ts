import type { en } from '../en';

export const summary: typeof en.summary = {
  title: '对话摘要',
  explained: '对话很长时，发给模型的开头部分由一份摘要代替。会话里的内容不会被删除。',
  none: '还没有摘要：模型读取整个对话。',
  text: '模型读到的替代内容',
  edited: '已编辑',
  figures: (messages, before, after) => `代替 ${messages} 条消息：约 ${before} 个词元变为 ${after} 个。`,
  causes: {
    threshold: '因对话过长而生成。',
    overflow: '因服务商认为对话过长而拒绝，故生成。',
    agent: '应智能体要求生成。',
    person: '应你的要求生成。',
  },
  original: (file) => `智能体可以在 ${file} 中读到原文。`,
  leftOut: (characters) => `中间有 ${characters} 个字符放不下，没有计入摘要。`,
  facts: '逐字保留的内容',
  guidance: '对摘要的要求',
  guidanceHint: '例如：保留关于数据库的每个决定',
  running: '回合正在进行。请先停止，或等它结束。',
  compact: '立即生成摘要',
  working: '正在处理…',
  making: '正在生成对话摘要…',
  stop: '停止',
  save: '保存',
  undo: '撤销摘要',
};
