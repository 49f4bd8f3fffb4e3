import type { Messages } from './en';
import { approvals } from './zh/approvals';
import { app, projects, sessions, shortcuts } from './zh/app';
import { chat, composer, models, notices } from './zh/chat';
import { agents, changes, panes, plan } from './zh/panes';
import { providers, settings, welcome } from './zh/setup';
import { diff, figures, rows, tools, toolStates } from './zh/tools';

/** 简体中文 */
export const zh: Messages = {
  app,
  projects,
  sessions,
  shortcuts,
  chat,
  composer,
  notices,
  models,
  tools,
  toolStates,
  figures,
  rows,
  diff,
  approvals,
  panes,
  plan,
  agents,
  changes,
  settings,
  providers,
  welcome,
};
