/** What the window shows: projects, sessions, the chosen ones, and the few dialogs. View state only; the rules are the core's. */
import { createContext } from 'svelte';
import type {
  CommandError,
  Decide,
  LocalServerView,
  ExportFormat,
  Goal,
  ModelRef,
  ProjectView,
  ProviderView,
  RuleDraft,
  SessionSummary,
  Settings,
  StartInfo,
} from '../ipc/bindings';
import type { UiClient } from '../ipc/client';
import { Modes } from '../features/approvals/modes.svelte';
import { Sandboxes } from '../features/approvals/sandboxes.svelte';
import { displayPath } from '../features/chat/toolWords';
import { Feeds } from '../features/session/feed.svelte';
import { Spending } from '../features/usage/spending.svelte';
import { asError } from '../shared/error';
import { i18n } from '../shared/i18n/i18n.svelte';
import { said, told } from '../shared/problem';
import { Alongs } from './alongs.svelte';
import { Bin } from './bin.svelte';
import { Closing } from './closing.svelte';
import type { Dialog, Sought } from './dialog';
import { Drafts } from './drafts.svelte';
import { Edits } from './edits.svelte';
import { repeats } from './failures';
import { Layout } from './layout.svelte';
import { ModelLists } from './modelLists';
import { Notes, type Note } from './notes.svelte';
import { Panes } from './panes.svelte';
import { Past } from './past';
import { ProjectModels } from './projectModels';
import { Renaming } from './renaming.svelte';
import { Seen } from './seen.svelte';
import { Sending } from './sending';
import { Saves, START, type Complete } from './settings';
import { Shelves } from './shelves.svelte';
import { applyTheme } from './theme';
import { Troubles, type About } from './troubles.svelte';
import { Unsaved } from './unsaved.svelte';
import { answerKey, Unsent } from './unsent.svelte';
import { isUsable } from './usable';

export class Workspace {
  settings = $state.raw<Complete>(START);
  projects = $state.raw<ProjectView[]>([]);
  sessions = $state.raw<SessionSummary[]>([]);
  providers = $state.raw<ProviderView[]>([]);
  projectId = $state<string | null>(null);
  sessionId = $state<string | null>(null);
  dialog = $state.raw<Dialog | null>(null);
  isWelcoming = $state(false);
  isModelMenuOpen = $state(false);
  /** The conversation is searched. */
  isFinding = $state(false);
  readonly troubles = new Troubles();
  readonly notes = new Notes();
  readonly renaming = new Renaming(this);
  /** A row that the conversation should go to; one of a subagent's stands in a conversation of its own. */
  goal = $state.raw<(Sought & { session: string; foundIn: string }) | null>(null);
  /** The file that the pane of files is to show next. */
  fileGoal = $state<string | null>(null);
  /** Grows when a person kept or undid changes, so that all who show them read them again. */
  reviewed = $state(0);
  /** Grows when the message box should take the focus. */
  isWriting = $state(0);
  readonly drafts = new Drafts(() => this.tell({ text: i18n.t.app.draftsNotKept }));
  readonly alongs = new Alongs(this);
  readonly unsent = new Unsent(() => this.tell({ text: i18n.t.app.draftsNotKept }));
  readonly edits: Edits;
  readonly unsaved = new Unsaved();
  readonly feeds: Feeds;
  readonly modes: Modes;
  readonly sandboxes: Sandboxes;
  readonly layout = new Layout();
  readonly panes = new Panes(this);
  readonly projectModels = new ProjectModels(this);
  readonly past = new Past(this);
  readonly bin = new Bin(this);
  readonly seen = new Seen();
  readonly spending: Spending;
  readonly modelLists = new ModelLists(this);
  readonly sending = new Sending(this);
  readonly shelves = new Shelves(this);
  readonly closing = new Closing(this);

  readonly project = $derived(this.projects.find((project) => project.id === this.projectId) ?? null);
  readonly session = $derived(this.sessions.find((session) => session.id === this.sessionId) ?? null);
  readonly model = $derived(this.session ? this.session.model : this.projectModels.usual);
  /** Sessions of every project in which something waits for an answer, the longest waiting first. */
  readonly needYou = $derived(
    this.sessions
      .filter((session) => session.parent === null && session.waiting > 0)
      .sort((a, b) => a.updated_at - b.updated_at),
  );
  /** Ids of providers whose server on this machine answered, or that are chosen. */
  private answering = $state.raw<ReadonlySet<string>>(new Set());
  readonly usable = $derived.by(() => {
    const chosen = [this.settings.model, this.projectModels.usual].flatMap((model) => model?.provider ?? []);
    const answering = new Set([...this.answering, ...chosen]);
    return this.providers.filter((provider) => isUsable(provider, answering));
  });
  readonly shortcuts = $derived(this.settings.shortcuts as Record<string, string>);
  readonly draftKey = $derived(this.sessionId ?? `new:${this.projectId ?? ''}`);
  readonly client: UiClient;
  private readonly saves: Saves;

  constructor(
    host: UiClient,
    readonly info: StartInfo,
  ) {
    const client = (this.client = this.troubles.failures.watched(host));
    this.edits = new Edits(client, this.unsent);
    this.feeds = new Feeds(client);
    this.spending = new Spending(client);
    this.sandboxes = new Sandboxes(client, this);
    this.modes = new Modes(client, this);
    const keep = (settings: Settings) => this.run(() => client.saveSettings(settings));
    this.saves = new Saves(info.settings, keep, (settings) => this.applySettings(settings));
    this.applySettings(info.settings);
    this.isWelcoming = !this.settings.welcomed;
  }

  /** Fetches what the first frame needs; the sessions then follow by themselves. */
  async load(): Promise<void> {
    const providers = this.run(() => this.refreshProviders());
    // What comes while the rest is read is newer.
    await Promise.all([
      this.client.subscribeProjects((list) => this.projectsChanged(list)).then(({ first }) => (this.projects = first)),
      this.client
        .subscribeSessions((list) => this.sessionsChanged(list))
        .then(({ first }) => this.sessionsChanged(first)),
    ]);
    const [isBinKnown] = await Promise.all([this.bin.refresh(), providers]);
    // A session that was deleted can be brought back, with what was written in it, until nothing is left of it.
    const there = [...this.sessions, ...this.bin.sessions].map(({ id }) => id);
    const written = [...there, ...this.projects.map(({ id }) => `new:${id}`)];
    if (isBinKnown) for (const store of [this.drafts, this.alongs, this.unsent]) store.keepOnly(written);
    const latest = this.projects.find((project) => project.problem === null);
    if (latest) this.enterProject(latest.id);
    const goals = await this.client.subscribeGoals((goal) => this.reached(goal));
    if (goals.first !== null) this.reached(goals.first);
  }

  sessionsChanged(list: SessionSummary[]): void {
    this.sessions = list;
    for (const store of [this.feeds, this.panes]) store.keepOnly(list);
    this.seen.learn(list);
  }

  /** A folder went or came back; or a second start of the app opened one: it stands first, and comes into sight. */
  private projectsChanged(list: ProjectView[]): void {
    const last = Math.max(...this.projects.map((one) => one.opened_at));
    const wasGone = Boolean(this.project?.problem);
    this.projects = list;
    if (wasGone && this.project?.problem === null) this.troubles.forget('project_unusable');
    const [opened] = list;
    if (!opened || opened.opened_at <= last) return;
    this.uncover();
    if (opened.id !== this.projectId) this.enterProject(opened.id);
  }

  /** Closes what lies over the conversation. */
  private uncover(): void {
    this.dialog = null;
    this.isWelcoming = false;
  }

  /** `changed` is one of which something changed that its view may not show, as one key in the place of another. */
  async refreshProviders(changed?: string): Promise<void> {
    if (changed !== undefined) this.modelLists.forget(changed);
    this.providers = await this.client.listProviders();
  }

  /** Asks the usual ports of this machine which model servers are there. */
  async findLocalServers(): Promise<LocalServerView[]> {
    const servers = await this.client.findLocalServers();
    this.answering = new Set(servers.flatMap(({ provider }) => provider ?? []));
    for (const id of this.answering) this.modelLists.forget(id);
    return servers;
  }

  enterProject(id: string): void {
    this.projectId = id;
    this.layout.load(id);
    const [latest] = this.sessionsOf(id);
    this.look(latest?.id ?? null);
  }

  /** Looks at another session: what was looked for in the one before is over. */
  look(session: string | null): void {
    if (session !== this.sessionId) {
      this.isFinding = false;
      this.fileGoal = null;
    }
    this.sessionId = session;
    this.layout.drawerOpen = false;
  }

  /** The sessions of a project that a person began and keeps at hand, newest first. */
  sessionsOf(project: string): SessionSummary[] {
    return this.sessions
      .filter((session) => session.project === project && session.parent === null && !session.archived)
      .sort((a, b) => b.updated_at - a.updated_at);
  }

  openSession(session: SessionSummary): void {
    if (session.project !== this.projectId) {
      this.projectId = session.project;
      this.layout.load(session.project);
    }
    this.look(session.id);
    this.layout.sidebarPeek = false;
  }

  /** A notification was pressed or a link followed: to the session, and no further. */
  private reached(goal: Goal): void {
    if (goal.goal === 'refused') return this.fail(asError(goal.error));
    if (goal.goal !== 'session') return this.closing.hears(goal);
    const session = this.sessions.find((one) => one.id === goal.session);
    if (!session) return this.fail(told('not_found', { problem: 'session_gone' }));
    this.uncover();
    this.openSession(session);
  }

  newSession(): void {
    this.look(null);
    this.layout.sidebarPeek = false;
  }

  /** Opens the system's folder dialog; false where nothing was chosen. */
  async pickProject(): Promise<boolean> {
    const picked = await this.run(() => this.client.pickProject());
    if (picked) this.addProject(picked);
    return Boolean(picked);
  }

  addProject(project: ProjectView): void {
    this.troubles.forget('project_unusable');
    this.projects = [project, ...this.projects.filter((one) => one.id !== project.id)];
    this.enterProject(project.id);
  }

  async forgetProject(id: string): Promise<void> {
    await this.run(async () => {
      await this.client.forgetProject(id);
      this.projects = this.projects.filter((project) => project.id !== id);
      // Its sessions are there again when the folder is opened again, and so is what was written in them.
      for (const store of [this.drafts, this.alongs]) store.forget(`new:${id}`);
      if (this.projectId !== id) return;
      this.projectId = null;
      this.look(null);
    });
  }

  /** Gives answers; rejects where one of them could not be taken, after the person was told. */
  decide(decisions: Decide[]): Promise<void> {
    return this.answer(decisions, () => this.client.decide(decisions));
  }

  /** Gives answers and lets calls such as those of the drafts pass from now on; rejects as `decide` does. */
  approveAlways(decisions: Decide[], drafts: RuleDraft[]): Promise<void> {
    return this.answer(decisions, () => this.client.approveAlways(decisions, drafts));
  }

  private async answer(decisions: Decide[], give: () => Promise<unknown>): Promise<void> {
    try {
      await give();
      for (const one of decisions) this.unsent.forget(answerKey(one));
    } catch (thrown) {
      this.refused(thrown);
      throw thrown;
    }
  }

  /** Where it is said what asks: the rules and the modes. */
  openPermissions(): void {
    this.dialog = { kind: 'settings', section: 'permissions' };
  }

  /** Shows a file of the agent's path space in the pane of files. */
  lookAtFile(path: string): void {
    this.fileGoal = path;
    this.layout.show('files');
  }

  private refused(thrown: unknown): void {
    const error = asError(thrown);
    const shown = error.code === 'already_decided' ? said(error.code, i18n.t.approvals.gone) : error;
    this.fail(shown, { request: this.troubles.failures.of(thrown) });
  }

  /** Puts words at the end of what is being written, and the caret behind them. */
  addToDraft(words: string): void {
    this.drafts.add(this.draftKey, words);
    this.dialog = null;
    this.layout.drawerOpen = false;
    this.isWriting++;
  }

  /** Names a file in what is being written, as the list behind `@` does. */
  mention(path: string, behind = ' '): void {
    const name = displayPath(path);
    this.alongs.of(this.draftKey).name({ name, mention: { mention: 'path', path } });
    this.addToDraft(`@${name}${behind}`);
  }

  /** Says what was done; it can be taken back while that is seen. */
  tell(note: Note): void {
    this.notes.tell(note);
  }

  /** Whether a file was written. */
  async exportSession(session: SessionSummary, format: ExportFormat): Promise<boolean> {
    const path = await this.run(() => this.client.exportSession(session.id, format));
    if (path) this.tell({ text: i18n.t.sessions.exported(path) });
    return Boolean(path);
  }

  stop(): void {
    const { sessionId } = this;
    if (sessionId !== null) void this.run(() => this.client.stopTurn(sessionId));
  }

  continue(): void {
    const { sessionId } = this;
    if (sessionId !== null) void this.run(() => this.client.continueTurn(sessionId));
  }

  /** The model of the session at hand; before there is one, of the session to come and of those after it. */
  async chooseModel(model: ModelRef): Promise<void> {
    this.isModelMenuOpen = false;
    const { sessionId } = this;
    if (sessionId) await this.run(() => this.client.setSessionModel(sessionId, model));
    else if (await this.projectModels.choose(model)) return;
    if (!sessionId || !this.settings.model) await this.saveSettings({ model });
  }

  saveSettings(change: Partial<Settings>): Promise<void> {
    return this.saves.save(change);
  }

  async startTour(): Promise<boolean> {
    const tour = await this.run(() => this.client.startTour());
    if (!tour) return false;
    this.addProject(tour.project);
    if (!this.sessions.some((session) => session.id === tour.session.id)) {
      this.sessions = [tour.session, ...this.sessions];
    }
    this.look(tour.session.id);
    this.drafts.write(tour.session.id, tour.task);
    return true;
  }

  async finishWelcome(): Promise<void> {
    this.isWelcoming = false;
    if (!this.settings.welcomed) await this.saveSettings({ welcomed: true });
  }

  /** Does something and shows the person why it did not work. */
  async run<T>(action: () => Promise<T>, about: About = {}): Promise<T | undefined> {
    const of = { project: this.projectId ?? undefined, ...about };
    try {
      return await action();
    } catch (thrown) {
      const request = this.troubles.failures.of(thrown);
      const again = repeats(request) ? () => this.run(action, of) : undefined;
      this.fail(asError(thrown), { request, again, ...of });
      return undefined;
    }
  }

  get errors(): readonly CommandError[] {
    return this.troubles.list;
  }

  fail(error: CommandError, about?: About): void {
    this.troubles.fail(error, about);
  }

  private applySettings(settings: Settings): void {
    this.settings = { ...START, ...settings };
    i18n.use(this.settings.language, this.info.system_language);
    applyTheme(this.settings.theme);
  }
}

const [useWorkspace, provideWorkspace] = createContext<Workspace>();

export { useWorkspace, provideWorkspace };
