import { createContext } from 'svelte';
import type {
  Decide,
  Envelope,
  FileDiff,
  Item,
  ModelChoice,
  ModelRef,
  ProjectView,
  ProviderView,
  SaveProvider,
  SendMessage,
  SessionSummary,
  Settings,
  Snapshot,
  StartInfo,
  TestCall,
  TourStart,
} from './bindings';

/** A running subscription: what it began with, and how to end it. */
export interface Subscription<T> {
  first: T;
  close: () => void;
}

/**
 * Everything the UI may ask of its host. Two implementations: Tauri's IPC (`tauri.ts`) and a recorded one for a plain
 * browser (`recorded.ts`). Promises reject with a `CommandError`.
 */
export interface UiClient {
  start(): Promise<StartInfo>;
  uiReady(): Promise<void>;

  /** The folders that were opened, the last one first; then again when a second start of the app opened one. */
  subscribeProjects(listener: (projects: ProjectView[]) => void): Promise<Subscription<ProjectView[]>>;
  /** Opens the system's folder dialog; `null` when it was cancelled. */
  pickProject(): Promise<ProjectView | null>;
  openProject(path: string): Promise<ProjectView>;
  forgetProject(id: string): Promise<void>;

  /** The sessions of every project, then the whole list again whenever one of them changes. */
  subscribeSessions(listener: (sessions: SessionSummary[]) => void): Promise<Subscription<SessionSummary[]>>;
  createSession(project: string, model: ModelRef | null): Promise<SessionSummary>;
  /** The session as it is, then only what happens later. Events may arrive before the promise resolves. */
  subscribeSession(session: string, listener: (events: Envelope[]) => void): Promise<Subscription<Snapshot>>;
  /** At most `limit` items before the item `before`, oldest first. */
  loadItems(session: string, before: string, limit: number): Promise<Item[]>;
  sendMessage(message: SendMessage): Promise<void>;
  unqueueMessage(session: string, id: string): Promise<void>;
  stopTurn(session: string): Promise<void>;
  /** Goes on after a failure, the step limit or an interruption. */
  continueTurn(session: string): Promise<void>;
  decide(decisions: Decide[]): Promise<void>;
  setSessionModel(session: string, model: ModelRef): Promise<void>;
  fileDiff(session: string, path: string): Promise<FileDiff>;

  saveSettings(settings: Settings): Promise<Settings>;
  listProviders(): Promise<ProviderView[]>;
  saveProvider(provider: SaveProvider): Promise<ProviderView>;
  removeProvider(id: string): Promise<void>;
  testProvider(id: string, model: string | null): Promise<TestCall>;
  listModels(provider: string): Promise<ModelChoice[]>;
  /** Asks for a folder, copies the sample project into it; `null` when the dialog was cancelled. */
  startTour(): Promise<TourStart | null>;
  openLink(url: string): Promise<void>;
}

const [readClient, provideClient] = createContext<UiClient>();

export { readClient as useClient, provideClient };
