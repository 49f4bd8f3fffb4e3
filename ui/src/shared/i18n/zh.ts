import type { Messages } from './en';
import { hooks, servers } from './zh/additions';
import { approvals } from './zh/approvals';
import { toolArguments } from './zh/arguments';
import { attachments } from './zh/attachments';
import { app, closing, projects, sessions, shortcuts, ways } from './zh/app';
import { chat, composer, find, firstTasks, models, notices } from './zh/chat';
import { commands, inbox, otherWords, palette } from './zh/commands';
import { efforts, local, modelOptions, modelPrices, projectModels, usage } from './zh/models';
import { faults } from './zh/faults';
import { files, review } from './zh/files';
import { agents, changes, panes, plan } from './zh/panes';
import { additions, dataSection, keysSection, modes, permissions, sandbox, scopes } from './zh/permissions';
import { providers, settings, welcome } from './zh/setup';
import { problems } from './zh/problems';
import { summary } from './zh/summary';
import { knowledge, memories, skills, subagents, trust } from './zh/knowledge';
import { timeline } from './zh/timeline';
import { diff, figures, rows, tools, toolStates } from './zh/tools';

/** 简体中文 */
export const zh: Messages = {
  app,
  closing,
  ways,
  faults,
  projects,
  sessions,
  shortcuts,
  commands,
  otherWords,
  palette,
  inbox,
  chat,
  composer,
  attachments,
  find,
  notices,
  models,
  local,
  efforts,
  modelOptions,
  projectModels,
  firstTasks,
  modelPrices,
  usage,
  tools,
  toolStates,
  toolArguments,
  figures,
  rows,
  diff,
  approvals,
  modes,
  scopes,
  permissions,
  sandbox,
  servers,
  hooks,
  additions,
  keysSection,
  dataSection,
  panes,
  plan,
  agents,
  changes,
  review,
  files,
  timeline,
  knowledge,
  trust,
  memories,
  skills,
  subagents,
  summary,
  problems,
  settings,
  providers,
  welcome,
};
