/** Which request a failure came from, so that the next success of the same one takes its sentence away. */
import type { UiClient } from '../ipc/client';

/** A request by its name and what it is about. */
type Request = string;

/** What of the arguments says which thing is meant: a session, a project, a provider, or the reference to one. */
const about = ([first]: unknown[]): string => {
  if (typeof first !== 'object' || first === null) return String(first ?? '');
  const { session, project, provider, id, name } = first as Record<string, unknown>;
  return JSON.stringify([session, project, provider, id, name]);
};

/**
 * What may be done a second time as it was done the first time, and by itself: it changes the same thing to the same, and
 * what becomes of it is told by the session or the list that it is about, not by its answer.
 */
const REPEATED: ReadonlySet<string> = new Set<keyof UiClient>([
  'archiveSession',
  'continueTurn',
  'deleteSession',
  'openDataFolder',
  'openFile',
  'pinSession',
  'renameSession',
  'restoreSession',
  'revealFile',
  'setSessionEffort',
  'setSessionMode',
  'setSessionModel',
  'stopSubagent',
  'stopTurn',
]);

/** Whether doing once more what failed with this request does nothing twice. */
export function repeats(request: string | undefined): boolean {
  return request !== undefined && REPEATED.has(request.slice(0, request.indexOf(' ')));
}

export class Failures {
  private readonly origins = new WeakMap<object, Request>();

  /** `onDone` is told of every request that was answered. */
  constructor(private readonly onDone: (request: Request) => void) {}

  /** The request that failed with this; `undefined` where it came from none. */
  of(thrown: unknown): Request | undefined {
    return typeof thrown === 'object' && thrown !== null ? this.origins.get(thrown) : undefined;
  }

  /** The same client, listened to. */
  watched(client: UiClient): UiClient {
    return new Proxy(client, {
      get: (target, name, receiver) => {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || typeof name === 'symbol') return method;
        return (...args: unknown[]) => {
          const answer: unknown = method.apply(target, args);
          if (!(answer instanceof Promise)) return answer;
          const request = `${name} ${about(args)}`;
          answer.then(
            () => this.onDone(request),
            (thrown: unknown) => typeof thrown === 'object' && thrown !== null && this.origins.set(thrown, request),
          );
          return answer;
        };
      },
    });
  }
}
