import { createContext } from 'svelte';
import type {
  AdditionChange,
  AdditionForms,
  Additions,
  ApprovalMode,
  CatalogueView,
  CloseChoice,
  Goal,
  CommandPlace,
  ProjectMode,
  Rehearsal,
  Rule,
  RuleDraft,
  RuleOffer,
  SandboxedProjects,
  ServerView,
  SignInPage,
  SessionMode,
  Storage,
  ChangedFiles,
  ChangeScope,
  FilePreview,
  FileReview,
  FolderView,
  FoundFiles,
  ForkedBefore,
  Attachment,
  AttachmentContent,
  ConversationSummary,
  Decide,
  Effort,
  Envelope,
  ExportFormat,
  ExportPreview,
  FileAt,
  FileDiff,
  FindMentions,
  HookTrial,
  Item,
  KeySource,
  LocalServerView,
  MentionHit,
  ModelChoice,
  ModelRef,
  ModelSettings,
  ModelSight,
  Opening,
  PlanChange,
  Problem,
  ProjectView,
  ProviderView,
  Reach,
  RestoredFile,
  RewindPreview,
  RewindWhat,
  SaveProvider,
  SearchHit,
  SearchSessions,
  SendMessage,
  SessionSummary,
  SessionUsage,
  Settings,
  Snapshot,
  StartInfo,
  SystemProxy,
  TestCall,
  TextPlace,
  ThinkingLevels,
  TimelinePage,
  TimelineQuery,
  TourStart,
  UsageReport,
} from './bindings';
import type { KnowledgeClient } from './knowledge';

/** A running subscription: what it began with, and how to end it. */
export interface Subscription<T> {
  first: T;
  close: () => void;
}

/**
 * Everything the UI may ask of its host. Two implementations: Tauri's IPC (`tauri.ts`) and a recorded one for a plain
 * browser (`recorded.ts`). Promises reject with a `CommandError`.
 */
export interface UiClient extends KnowledgeClient {
  start(): Promise<StartInfo>;
  uiReady(): Promise<void>;
  /** A caret that begins within the next moment stands still. */
  restCaret(): Promise<void>;
  /** Something threw in the page: it is written to the log, within bounds. */
  reportFault(place: string, message: string, stack: string): Promise<void>;

  /** The folders that were opened, the last one first; then again when a second start of the app opened one. */
  subscribeProjects(listener: (projects: ProjectView[]) => void): Promise<Subscription<ProjectView[]>>;
  /** Opens the system's folder dialog; `null` when it was cancelled. */
  pickProject(): Promise<ProjectView | null>;
  /** Asks where the folder of a project is now; `null` where nothing was chosen. */
  moveProject(id: string): Promise<ProjectView | null>;
  forgetProject(id: string): Promise<void>;

  /** The sessions of every project, then the whole list again whenever one of them changes. */
  subscribeSessions(listener: (sessions: SessionSummary[]) => void): Promise<Subscription<SessionSummary[]>>;
  renameSession(session: string, title: string): Promise<void>;
  pinSession(session: string, pinned: boolean): Promise<void>;
  archiveSession(session: string, archived: boolean): Promise<void>;
  /** A turn that runs is stopped; for 30 days `restoreSession` brings it back. */
  deleteSession(session: string): Promise<void>;
  restoreSession(session: string): Promise<void>;
  /** The sessions of every project that can still be brought back, the last deleted first. */
  listDeleted(): Promise<SessionSummary[]>;
  /** What `exportSession` would write, without keys. */
  previewExport(session: string, format: ExportFormat): Promise<ExportPreview>;
  /** Asks for a folder in the system's dialog and writes the file; gives its path, `null` when it was cancelled. */
  exportSession(session: string, format: ExportFormat): Promise<string | null>;
  /** Where words were said, best first. */
  searchSessions(query: SearchSessions): Promise<SearchHit[]>;
  createSession(project: string, model: ModelRef | null): Promise<SessionSummary>;
  /**
   * The session as it is or, for who knows it up to the event `known`, what is new in it; then only what happens later.
   * Events may arrive before the promise resolves.
   */
  subscribeSession(
    session: string,
    known: number | null,
    listener: (events: Envelope[]) => void,
  ): Promise<Subscription<Opening>>;
  /** At most `limit` items before the item `before`, oldest first. */
  loadItems(session: string, before: string, limit: number): Promise<Item[]>;
  sendMessage(message: SendMessage): Promise<void>;
  /** Keeps bytes (in base64) that are to go along with a message; rejects where no model could use them. */
  keepAttachment(name: string, data: string): Promise<Attachment>;
  /** The content of something that stands with a message of the session. */
  loadAttachment(session: string, blob: string): Promise<AttachmentContent>;
  /** What a model can look at; what it cannot is named to it in words. */
  modelSight(model: ModelRef): Promise<ModelSight>;
  /** Files, folders, memories and sessions whose names fit what was typed, best first. */
  findMentions(query: FindMentions): Promise<MentionHit[]>;
  /** Whether what is about to be sent holds what looks like a key: in its words, or in a text that goes along. */
  holdsKey(text: string, blobs: string[]): Promise<boolean>;
  /** Changes the plan; the agent is told at its next step. */
  changePlan(session: string, change: PlanChange): Promise<void>;
  unqueueMessage(session: string, id: string): Promise<void>;
  editQueued(session: string, id: string, text: string): Promise<void>;
  /** To the place `to` of the queue, from 0; beyond the end is the end. */
  moveQueued(session: string, id: string, to: number): Promise<void>;
  /** Stops the running turn and begins the next with this message. */
  sendQueuedNow(session: string, id: string): Promise<void>;
  /** Read by the model at its next step; without a running turn it is sent. */
  steerTurn(message: SendMessage): Promise<void>;
  steerQueued(session: string, id: string): Promise<void>;
  stopTurn(session: string): Promise<void>;
  /** Stops one subagent with everything below it; its parent and the others go on. */
  stopSubagent(session: string, child: string): Promise<void>;
  /** Goes on after a failure, the step limit or an interruption. */
  continueTurn(session: string): Promise<void>;
  decide(decisions: Decide[]): Promise<void>;
  /** How far a call that waits would reach as the decision lets it run. Nothing is decided. */
  decidedReach(decide: Decide): Promise<Reach>;
  /** What may be offered for a call that waits. */
  ruleOffer(session: string, call: string): Promise<RuleOffer>;
  /** What a pattern would have done with the calls that asked so far. */
  rehearseRule(draft: RuleDraft): Promise<Rehearsal>;
  /** Gives answers and lets calls such as those of the drafts, approved among them, pass from now on. */
  approveAlways(decisions: Decide[], drafts: RuleDraft[]): Promise<Rule[]>;
  listRules(): Promise<Rule[]>;
  removeRule(id: string): Promise<void>;
  /** Puts a rule back that was removed a moment ago. */
  restoreRule(id: string): Promise<Rule>;
  sessionMode(session: string): Promise<SessionMode>;
  setSessionMode(session: string, mode: ApprovalMode): Promise<void>;
  /** The projects whose sessions begin with another mode than asking. */
  projectModes(): Promise<ProjectMode[]>;
  setProjectMode(project: string, mode: ApprovalMode): Promise<void>;
  /** The projects whose commands run in a sandbox. */
  sandboxedProjects(): Promise<SandboxedProjects>;
  setCommandPlace(project: string, place: CommandPlace): Promise<void>;
  /** Why commands cannot run in a sandbox here; `null` where they can. */
  sandboxProblem(): Promise<Problem | null>;
  setSessionModel(session: string, model: ModelRef): Promise<void>;
  /** The files that a session changed in the scope, with what the person made of them. */
  changedFiles(session: string, scope: ChangeScope): Promise<ChangedFiles>;
  /** One changed file in full: by the session, and since. */
  fileReview(session: string, path: string, scope: ChangeScope): Promise<FileReview>;
  /** The person's own edits stay; refused where they meet the hunk. */
  undoHunk(session: string, path: string, scope: ChangeScope, version: string, hunk: number): Promise<RestoredFile>;
  keepHunk(session: string, path: string, version: string, hunk: number): Promise<void>;
  /** Without a path what the scope shows of every file is kept; gives why some of it cannot be kept alone. */
  keepChanges(session: string, path: string | null, scope: ChangeScope): Promise<Problem[]>;
  reopenChange(session: string, path: string, scope: ChangeScope): Promise<void>;
  redoUndone(session: string, seq: number): Promise<RestoredFile[]>;
  /** Makes a file again what the session left, over what was done to it since; `redoUndone` brings that back. */
  restoreVersion(session: string, path: string): Promise<RestoredFile>;
  /** An address that holds the bytes of one side of a changed image. */
  changedImage(session: string, path: string, hash: string): Promise<string>;

  listFolder(session: string, path: string): Promise<FolderView>;
  /** Of a text the rows from `from` on. */
  previewFile(session: string, path: string, from: TextPlace): Promise<FilePreview>;
  /** Files and folders of the whole path space whose names fit what was typed, best first. */
  findFiles(session: string, text: string): Promise<FoundFiles>;
  /** The next search for a file, or for what a message names, looks through all of it anew. */
  lookAnew(): Promise<void>;
  /** A whole text; rejects where it is too large to be copied. */
  fileText(session: string, path: string): Promise<string>;
  /** Asks for a folder in the system's dialog and writes the file; gives its path, `null` when it was cancelled. */
  saveFile(session: string, path: string): Promise<string | null>;
  /** A text in the person's editor, at `line` where one is known; all else in the system's program for it. */
  openFile(session: string, path: string, line?: number): Promise<void>;
  revealFile(session: string, path: string): Promise<void>;
  /** Tells in which of these folders something changed on disk. */
  watchFolders(
    session: string,
    folders: readonly string[],
    listener: (touched: string[]) => void,
  ): Promise<Subscription<null>>;

  /** Undoes what the scope shows of a file; rejects where it was changed since. */
  undoFile(session: string, path: string, scope: ChangeScope): Promise<RestoredFile>;
  /** As `undoFile` with every file; those that were changed since are left, with the reason. */
  undoChanges(session: string, scope: ChangeScope): Promise<RestoredFile[]>;

  timeline(query: TimelineQuery): Promise<TimelinePage>;
  /** The session as it was at a checkpoint, with the last rows of then or those right before the row `before`. */
  snapshotAt(session: string, seq: number, before: string | null): Promise<Snapshot>;
  fileAt(session: string, seq: number, path: string): Promise<FileAt>;
  /** A new session that has everything up to a checkpoint. */
  forkSession(session: string, seq: number): Promise<SessionSummary>;
  /** One that has everything before a message of the person's, with it; or before the turn of a reply, with what was said to it. */
  forkBefore(session: string, item: string): Promise<ForkedBefore>;
  /** The place to go back to before a message of the person's; before the last turn without one. */
  placeBefore(session: string, item: string | null): Promise<number>;
  previewRewind(session: string, seq: number): Promise<RewindPreview>;
  /** What a rewind would make of a file, or would if it did not stand in the way. */
  previewRewindFile(session: string, seq: number, path: string): Promise<FileDiff>;
  /** Goes back; the files `leave` stay as they are. */
  rewind(session: string, seq: number, what: RewindWhat, leave: readonly string[]): Promise<void>;
  /** Takes the last rewind back, as long as nothing has happened since. */
  undoRewind(session: string): Promise<void>;
  /** What stands for the beginning of the conversation when it is sent; null where everything is sent. */
  sessionSummary(session: string): Promise<ConversationSummary | null>;
  /** Sums the conversation up now, with what is to be minded in it. */
  compactSession(session: string, guidance: string): Promise<ConversationSummary>;
  editSummary(session: string, text: string): Promise<ConversationSummary>;
  /** Takes the summary in force back; gives the one before it. */
  undoSummary(session: string): Promise<ConversationSummary | null>;

  saveSettings(settings: Settings): Promise<Settings>;
  /** The person's own servers of tools, hooks and folders beside projects, as TOML. */
  additions(): Promise<Additions>;
  /** What is wrong with such a text; `null` where it can be used. */
  checkAdditions(text: string): Promise<Problem | null>;
  saveAdditions(text: string): Promise<void>;
  /** The person's own servers and hooks, as forms show them. */
  additionForms(): Promise<AdditionForms>;
  /** Changes one of them; gives the id that brings back what was removed. */
  changeAdditions(change: AdditionChange): Promise<string | null>;
  /** Starts one of the person's own servers for a moment and says how it is. */
  checkServer(project: string | null, server: string): Promise<ServerView>;
  /** Runs one of the person's own hooks that are on once, told of something that did not happen. */
  tryHook(project: string | null, hook: string): Promise<HookTrial>;
  sessionServers(session: string): Promise<ServerView[]>;
  acceptChangedTool(session: string, hash: string): Promise<void>;
  /** Connects a server that does not work again, and answers when that is done or has failed. */
  tryServerAgain(session: string, server: string): Promise<void>;
  /** The page to sign in at, at a server of a session or of the person's own; it is opened by the person, who sees whose it is before. */
  beginSignIn(session: string | null, server: string): Promise<SignInPage>;
  /** Answers when the person has signed in, and fails with why they have not. */
  finishSignIn(id: string): Promise<void>;
  cancelSignIn(id: string): Promise<void>;
  signOut(session: string | null, server: string): Promise<void>;
  storage(): Promise<Storage>;
  openDataFolder(): Promise<void>;
  diagnostics(): Promise<string>;
  /** Asks for a folder and writes them there; gives the path, `null` when the dialog was cancelled. */
  saveDiagnostics(): Promise<string | null>;
  /** What comes from beside the window, as a link does; first what came before the page was there. */
  subscribeGoals(listener: (goal: Goal) => void): Promise<Subscription<Goal | null>>;
  /** The question whether to close the window is drawn. */
  closeQuestionShown(): Promise<void>;
  answerCloseQuestion(choice: CloseChoice): Promise<void>;
  /** As far as is known; servers of this machine may be asked again beside it. */
  listProviders(): Promise<ProviderView[]>;
  /** Something new is known of the providers: they are to be listed again. */
  subscribeProviders(listener: () => void): Promise<Subscription<null>>;
  saveProvider(provider: SaveProvider): Promise<ProviderView>;
  /** Adds a header to every request to a provider or changes it; an empty value takes it away. */
  setProviderHeader(id: string, name: string, value: string): Promise<ProviderView>;
  removeProvider(id: string): Promise<void>;
  testProvider(id: string, model: string | null): Promise<TestCall>;
  listModels(provider: string): Promise<ModelChoice[]>;
  /** When and from where the program has what it knows of models beforehand. */
  catalogueSource(): Promise<CatalogueView>;
  /** The model servers that answer at the usual ports of this machine. */
  findLocalServers(): Promise<LocalServerView[]>;
  /** The provider for a server that was found, added where there is none yet. */
  useLocalServer(baseUrl: string): Promise<ProviderView>;
  modelSettings(): Promise<ModelSettings>;
  saveModelSettings(settings: ModelSettings): Promise<ModelSettings>;
  /** Which proxy is asked where the settings name none. */
  systemProxy(): Promise<SystemProxy>;
  /** Where the name and the password of the settings' proxy are. */
  proxyLogin(): Promise<KeySource>;
  /** Keeps a name and a password for the settings' proxy; empty, those that are kept go. */
  setProxyLogin(user: string, password: string): Promise<KeySource>;
  /** What the levels of thinking come to for the model. Nothing is asked of its server. */
  thinkingLevels(model: ModelRef): Promise<ThinkingLevels>;
  /** From the next turn on; `null` is as the settings have it. */
  setSessionEffort(session: string, effort: Effort | null): Promise<void>;
  /** The last `days` days, today among them. */
  usageReport(days: number): Promise<UsageReport>;
  sessionUsage(session: string): Promise<SessionUsage>;
  /** Asks for a folder, copies the sample project into it; `null` when the dialog was cancelled. */
  startTour(): Promise<TourStart | null>;
  openLink(url: string): Promise<void>;
}

const [readClient, provideClient] = createContext<UiClient>();

export { readClient as useClient, provideClient };
