import { hooks, servers } from './en/additions';
import { attachments } from './en/attachments';
import { approvals } from './en/approvals';
import { toolArguments } from './en/arguments';
import { app, closing, projects, sessions, shortcuts, ways } from './en/app';
import { chat, composer, find, firstTasks, models, notices } from './en/chat';
import { commands, inbox, otherWords, palette } from './en/commands';
import { efforts, local, modelOptions, modelPrices, projectModels, usage } from './en/models';
import { faults } from './en/faults';
import { files, review } from './en/files';
import { agents, changes, panes, plan } from './en/panes';
import { additions, dataSection, keysSection, modes, permissions, sandbox, scopes } from './en/permissions';
import { providers, settings, welcome } from './en/setup';
import { problems } from './en/problems';
import { summary } from './en/summary';
import { knowledge, memories, skills, subagents, trust } from './en/knowledge';
import { timeline } from './en/timeline';
import { diff, figures, rows, tools, toolStates } from './en/tools';

/** English; its shape is what every language has to fill. */
export const en = {
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

type Widened<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Widened<T[K]> };

export type Messages = Widened<typeof en>;
