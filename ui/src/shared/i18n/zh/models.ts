import type { Messages } from '../en';
import { Formats } from '../formats';

const f = new Formats('zh-CN');

export const local: Messages['local'] = {
  title: '本机上的模型',
  hint: 'Bosun 只查看本机的常用端口。选用在这里运行的模型时，任何内容都不会离开本机。',
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
  handedOn: '会离开本机',
  handedOnAt: (host) => `请求发往 ${host}，并由它转发到本机之外`,
};

export const efforts: Messages['efforts'] = {
  title: '思考程度',
  default: '默认',
  off: '关闭',
  least: '最少',
  low: '低',
  medium: '中',
  high: '高',
  max: '最高',
  asSettings: (level) => `按设置（${level}）`,
  hint: '从下一回合起生效。模型做不到的部分会略去。',
  newHint: '用于以此模型新建的会话。',
};

export const projectModels: Messages['projectModels'] = {
  title: '各项目的模型',
  text: '项目的新会话所用的模型及其思考程度，在窗口和命令行中都一样；每个会话仍可各自更改。',
  usual: '与所有项目相同',
  label: (project) => `${project} 的新会话所用模型`,
  effort: (project) => `${project} 的新会话的思考程度`,
  none: '打开一个文件夹，即可为它指定模型。',
};

export const modelOptions: Messages['modelOptions'] = {
  helpers: '协助的模型',
  fallback: '模型过载时',
  fallbackHint: '由它回答本回合余下部分，并会说明。本机模型只由本机模型接替。',
  small: '标题与摘要',
  smallHint: '用更便宜的模型为会话命名、压缩长会话；会话使用本机模型时，只用同在本机的模型。',
  none: '不使用',
  budgets: '预算',
  budgetsHint: '单位为美元，只计算已知价格。到达上限时回合会保存并停下；提高上限后可继续。',
  warnAt: '提醒于',
  stopAt: '停止于',
  noLimit: '不限',
  scopes: { session: '单个会话', day: '单日' },
  known: '补充模型信息',
  knownHint: '目录和服务商列表中没有或有误的窗口、上限与价格。',
  catalogue: (date, source) => `目录日期为 ${date}，来源：${source}。`,
  addKnown: '补充某个模型的信息',
  change: (model) => `修改 ${model} 的信息`,
  changeShort: '修改',
  forget: '恢复为 Bosun 已知的信息',
  asKnown: '按已知',
  context_window: '上下文窗口（token）',
  max_output: '最长输出（token）',
  prices: {
    input: '输入，美元/百万',
    output: '输出，美元/百万',
    cache_read: '读取缓存',
    cache_write: '写入缓存',
    cache_write_hour: '写入一小时缓存',
  },
  bothPrices: '输入和输出价格都填写后才会生效。',
  priceOf: (input, output) => `每百万输入 ${input}，输出 ${output}`,
  priceUnchanged: '价格按已知',
  abilities: { images: '图片', documents: 'PDF', audio: '音频', video: '视频', reasoning: '思考' },
  yes: '是',
  no: '否',
  network: '网络',
  networkHint: '本机模型从不经过代理。没有受信任的证书就不会建立连接。',
  proxy: '代理',
  asSystem: '跟随系统',
  proxies: {
    none: '环境变量和桌面都没有设置代理：请求直接发出。',
    environment: (variable, address) => `按 ${variable}：${address}`,
    desktop: (desktop, address) => `按 ${desktop} 的设置：${address}`,
    script: (desktop) =>
      `${desktop} 的设置用脚本（PAC）选择代理，而 Bosun 不运行它：请求直接发出。如果无法送达，请在此填写代理。`,
  },
  proxyLogin: {
    title: '代理的用户名和密码',
    user: '代理用户名',
    password: '代理密码',
    hint: '仅在代理要求时填写。它们保存在密钥环中，不会在任何地方显示。',
    kept: '用户名和密码已保存在密钥环中。',
    memory: (reason) => `关闭 Bosun 后用户名和密码即被遗忘：${reason}。`,
    locked: (reason) => `用户名和密码已保存但无法读取：${reason}。`,
    remove: '移除用户名和密码',
  },
  certificates: '除系统证书外还信任的证书（PEM）',
  waits: {
    connect_seconds: '建立连接（秒）',
    first_byte_seconds: '首字节（秒）',
    idle_seconds: '两字节之间（秒）',
    total_seconds: '整个回复（秒）',
  },
};

export const usage: Messages['usage'] = {
  title: '用量与费用',
  session: '本会话',
  days: (count) => `最近 ${f.number(count)} 天`,
  today: '今天',
  all: '合计',
  what: '项目',
  calls: '调用',
  input: '输入',
  cached: '缓存',
  output: '输出',
  cost: '费用',
  unknown: '价格未知',
  andUnknown: (known, calls) => `${known}，另有 ${f.number(calls)} 次调用价格未知`,
  empty: '还没有调用过模型。',
  hint: '词元数由服务商统计，包含子智能体、摘要和标题。价格按当日计。',
};

export const modelPrices: Messages['modelPrices'] = {
  priceOf: (input, output) => `${input} / ${output}`,
};
