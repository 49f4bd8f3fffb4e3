/** A host in memory: keeps snapshots, tells listeners, and answers as the core would. For development and tests. */
import type {
  Attachment,
  KeySource,
  Decide,
  DecisionRecord,
  Envelope,
  Goal,
  Item,
  LocalServerView,
  ModelSettings,
  Opening,
  Problem,
  ProjectView,
  ProviderView,
  Reach,
  SendMessage,
  SessionEvent,
  SessionSummary,
  Settings,
  Snapshot,
  SystemProxy,
} from '../bindings';
import { argument } from '../../features/chat/toolWords';
import { reduce } from '../../features/session/reduce';
import { along } from './attachments';
import { human, NOW } from './builders';

export interface World {
  settings: Settings;
  systemLanguage: string;
  problem: Problem | null;
  /** The data folder cannot be used, with this sentence, until the start was asked for a second time. */
  unusable?: Problem;
  projects: ProjectView[];
  providers: ProviderView[];
  models: Record<string, string[]>;
  /** Model servers that answer on this machine. */
  local?: LocalServerView[];
  modelSettings?: ModelSettings;
  systemProxy?: SystemProxy;
  /** Where the name and the password of the settings' proxy are; nowhere, where it is not said. */
  proxyLogin?: KeySource;
  sessions: Snapshot[];
  earlier: Record<string, Item[]>;
  /** Whether the folder brings instructions, a skill and more that nobody trusted yet. */
  brings?: boolean;
  /** Files that cannot be put back, with the reason. */
  problems?: Record<string, Problem>;
  /** Files of sessions that commands changed and that nobody kept. */
  unkept?: Record<string, readonly string[]>;
  /** What every look at a file or at the past is refused with. */
  refused?: string;
  /** What a new turn does; by default it streams an answer. */
  onMessage?: (host: Host, session: string) => void;
}

export function refuse({ refused }: World): void {
  if (refused !== undefined) throw { code: 'not_found', message: refused };
}

/** The row that an event is about. */
function rowOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'item_started':
    case 'item_updated':
    case 'item_completed':
      return event.item.id;
    case 'item_delta':
      return event.item;
    default:
      return undefined;
  }
}

/** A row that comes is of the turn under way, or of one that begins with it. */
function inTurn(turn: number, event: SessionEvent): SessionEvent {
  if (event.type !== 'item_started' || event.item.turn >= turn) return event;
  return { ...event, item: { ...event.item, turn } };
}

type SessionListener = (events: Envelope[]) => void;

export class Host {
  private readonly snapshots = new Map<string, Snapshot>();
  private readonly told = new Map<string, Envelope[]>();
  private readonly listeners = new Map<string, Set<SessionListener>>();
  private readonly listListeners = new Set<(sessions: SessionSummary[]) => void>();
  /** Every call that changes something, for tests to look at. */
  readonly calls: { name: string; value: unknown }[] = [];
  /** The sign-in at a server that is under way. */
  signing: { opened: () => void; left: (reason: Error) => void } | null = null;
  /** Tells the page what comes from beside the window. */
  tellGoal: (goal: Goal) => void = () => undefined;
  private made = 0;

  constructor(readonly world: World) {
    for (const snapshot of world.sessions) this.snapshots.set(snapshot.session.id, snapshot);
  }

  snapshot(session: string): Snapshot {
    const found = this.snapshots.get(session);
    if (!found) throw { code: 'not_found', message: `There is no session ${session}.` };
    return found;
  }

  /** What a reader is told first who knows the session up to the event `known`. */
  opening(session: string, known: number | null): Opening {
    const snapshot = this.snapshot(session);
    const missed = (this.told.get(session) ?? []).filter(({ seq }) => known !== null && seq > known);
    const isAnew = missed.some(({ event }) => event.type === 'reset' || event.type === 'item_removed');
    if (known === null || isAnew) return { snapshot, since: null };
    const touched = new Set(missed.map(({ event }) => rowOf(event)));
    return { snapshot: { ...snapshot, items: snapshot.items.filter(({ id }) => touched.has(id)) }, since: known };
  }

  summaries(): SessionSummary[] {
    return [...this.snapshots.values()]
      .map((snapshot) => snapshot.session)
      .filter((session) => session.deleted_at === null);
  }

  deleted(): SessionSummary[] {
    return [...this.snapshots.values()]
      .map((snapshot) => snapshot.session)
      .filter((session) => session.deleted_at !== null && session.parent === null);
  }

  listen(session: string, listener: SessionListener): () => void {
    const set = this.listeners.get(session) ?? new Set();
    this.listeners.set(session, set.add(listener));
    return () => set.delete(listener);
  }

  listenToList(listener: (sessions: SessionSummary[]) => void): () => void {
    this.listListeners.add(listener);
    return () => this.listListeners.delete(listener);
  }

  note(name: string, value: unknown): void {
    this.calls.push({ name, value });
  }

  emit(session: string, ...events: SessionEvent[]): void {
    const before = this.snapshot(session);
    const turn = this.turn(session);
    const envelopes = events.map((event, at) => ({ seq: before.seq + at + 1, event: inTurn(turn, event) }));
    const after = reduce(before, envelopes);
    this.snapshots.set(session, after);
    const told = this.told.get(session) ?? [];
    told.push(...envelopes);
    this.told.set(session, told);
    this.listeners.get(session)?.forEach((listener) => listener(envelopes));
    if (after.session !== before.session) this.tellList();
  }

  update(session: string, change: Partial<SessionSummary>): void {
    this.emit(session, { type: 'session_updated', session: { ...this.snapshot(session).session, ...change } });
  }

  stop(session: string): void {
    const { summing_up } = this.snapshot(session).session;
    this.update(session, summing_up ? { status: 'idle', summing_up: false } : { status: 'stopped' });
  }

  /** The turn that was begun last; 0 where none was. */
  turn(session: string): number {
    return this.snapshot(session).items.at(-1)?.turn ?? 0;
  }

  /** A person's message, which begins a turn or is said to the one under way. */
  say(session: string, text: string, attachments: Attachment[], isSteered: boolean): void {
    const turn = this.turn(session) + (isSteered ? 0 : 1);
    this.emit(session, { type: 'item_started', item: human(text, NOW, attachments, turn) });
  }

  add(snapshot: Snapshot): void {
    this.snapshots.set(snapshot.session.id, snapshot);
    this.tellList();
  }

  newId(): string {
    return `made-${++this.made}`;
  }

  send(message: SendMessage): void {
    const { session, text } = message;
    const attachments = along(message);
    const { session: summary, queue, items } = this.snapshot(session);
    if (summary.status === 'running' || summary.status === 'waiting') {
      this.emit(session, { type: 'queue_replaced', queue: [...queue, { id: this.newId(), text, attachments }] });
      return;
    }
    const title = items.length === 0 ? (text.split('\n')[0] ?? text).slice(0, 60) : summary.title;
    this.say(session, text, attachments, false);
    this.update(session, { status: 'running', title, updated_at: NOW });
    this.world.onMessage?.(this, session);
  }

  decide(decisions: Decide[]): void {
    const found = decisions.map((one) => {
      const session = this.holder(one.call_id);
      const approval = session?.approvals.find((pending) => pending.call_id === one.call_id);
      if (!session || approval?.digest !== one.digest) {
        throw { code: 'already_decided', message: 'This request is no longer open.' };
      }
      return { one, session: session.session.id };
    });
    for (const { one, session } of found) this.settle(session, one);
  }

  /** As the core judges it, by names alone. */
  reach({ call_id, decision }: Decide): Reach {
    const approval = this.holder(call_id)?.approvals.find((pending) => pending.call_id === call_id);
    if (!approval) throw { code: 'already_decided', message: 'This request is no longer open.' };
    if (decision.decision !== 'edit') return approval.reach;
    const path = argument(decision.args, 'file_path');
    const place = path.startsWith('/memories/') ? 'memory' : path.startsWith('/shelf/') ? 'outside' : 'project';
    return { ...approval.reach, place };
  }

  private holder(call: string): Snapshot | undefined {
    return [...this.snapshots.values()].find(
      (snapshot) => !snapshot.session.parent && snapshot.approvals.some((approval) => approval.call_id === call),
    );
  }

  private settle(root: string, { session, call_id, decision }: Decide): void {
    const record: DecisionRecord = { decision, by: { by: 'person' }, at: NOW };
    for (const [id, snapshot] of this.snapshots) {
      const item = snapshot.items.find((one) => one.body.kind === 'tool' && one.body.call_id === call_id);
      if (item?.body.kind !== 'tool') continue;
      const state = ({ reject: 'rejected', respond: 'answered', approve: 'done', edit: 'done' } as const)[
        decision.decision
      ];
      const body = { ...item.body, decision: record, state, started_at: NOW, ended_at: NOW + 300 };
      this.emit(id, { type: 'item_completed', item: { ...item, body } });
    }
    this.emit(root, { type: 'approval_resolved', session, call_id, record });
    const left = this.snapshot(root).approvals.length;
    this.update(root, { waiting: left, status: left > 0 ? 'waiting' : 'running' });
  }

  private tellList(): void {
    const list = this.summaries();
    this.listListeners.forEach((listener) => listener(list));
  }
}
