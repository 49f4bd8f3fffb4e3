import type { Messages } from '../en';
import { Formats } from '../formats';

const f = new Formats('zh-CN');

export const local: Messages['local'] = {
  title: '本机上的模型',
  hint: 'Bosun 只查看本机的常用端口。选用这里的模型时，任何内容都不会离开本机。',
  looking: '正在查找模型服务……',
  none: '本机没有模型服务应答。请启动 Ollama、LM Studio 或 llama.cpp 后重新查找。',
  again: '重新查找',
  wantsKey: '需要密钥',
  noModels: '还没有模型',
  use: '使用',
  useModel: (model, server) => `使用 ${server} 的 ${model}`,
  used: '使用中',
  more: (count) => `模型列表里还有 ${f.number(count)} 个模型`,
  add: '添加',
  addServer: (server) => `添加 ${server}`,
  stays: '不离开本机',
  goesTo: (host) => `请求发往 ${host}`,
  staysAt: (host) => `请求不离开本机（${host}）`,
};
