import type { Messages } from '../en';

export const attachments: Messages['attachments'] = {
  attach: '附上图片、PDF 或文本文件',
  drop: '松开即可附到消息中',
  list: '附件',
  keeping: '读取中…',
  remove: (name) => `移除“${name}”`,
  open: (name) => `查看“${name}”`,
  content: '内容',
  notShown: '这里无法显示。只要模型能看这类文件，就会收到原样内容。',
  unseen: (count) => `当前模型看不了其中 ${count} 个文件，只会得知名称。要让它看到内容，请换一个模型。`,
  unnamed: '粘贴的文件',
  tooLarge: (name) => `“${name}”超过 20 MB。请把它放进项目文件夹，再用 @ 提及。`,
};
