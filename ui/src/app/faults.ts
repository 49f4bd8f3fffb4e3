/** Faults outside of drawing: in what a press does, in what comes later. Those of drawing are held where they happen. */
import type { CommandError } from '../ipc/bindings';
import type { UiClient } from '../ipc/client';
import { asError } from '../shared/error';
import { faultsTo, report } from '../shared/faults';
import { i18n } from '../shared/i18n/i18n.svelte';
import { said } from '../shared/problem';
import type { Workspace } from './workspace.svelte';

/** What is thrown so soon after a person pressed something belongs to what they asked for. */
const SOON_MS = 1_000;
const ASKING = ['click', 'submit', 'drop', 'change', 'keydown'] as const;

/** A browser says so when what it laid out changes its size once more; nothing went wrong. */
const isOfLayout = (event: ErrorEvent) => event.message.startsWith('ResizeObserver loop');

/** What a request was refused with: it has its own words. */
const isRefusal = (thrown: unknown): thrown is CommandError =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && 'problem' in thrown;

type Listener = (thrown: unknown, place: string) => void;

/** Listens to everything that nobody caught; gives what ends that. */
function listen(to: Listener): () => void {
  const thrown = (event: ErrorEvent) => isOfLayout(event) || to(event.error ?? event.message, 'window');
  const rejected = (event: PromiseRejectionEvent) => to(event.reason, 'promise');
  window.addEventListener('error', thrown);
  window.addEventListener('unhandledrejection', rejected);
  return () => {
    window.removeEventListener('error', thrown);
    window.removeEventListener('unhandledrejection', rejected);
  };
}

/** Hands every fault of the page to the log; gives what ends that. */
export function logFaults(client: UiClient): () => void {
  const end = faultsTo((...fault) => client.reportFault(...fault));
  const deaf = listen((thrown, place) => report(place, thrown));
  return () => {
    deaf();
    end();
  };
}

/** A letter that is written asks for nothing but itself. */
function asks(event: Event): boolean {
  if (!(event instanceof KeyboardEvent)) return true;
  const isCommand = event.ctrlKey || event.metaKey || event.key === 'Enter' || event.key === 'Escape';
  return isCommand || !(event.target instanceof Element && event.target.matches('input, textarea, select'));
}

/**
 * Tells the person where what they asked for did not happen: a request was refused and nobody else said so, or something
 * threw right after they pressed something. Of anything else the log knows. Gives what ends that.
 */
export function tellFaults(workspace: Pick<Workspace, 'fail' | 'troubles'>): () => void {
  let askedAt = -Infinity;
  const asked = (event: Event) => {
    if (asks(event)) askedAt = performance.now();
  };
  for (const name of ASKING) window.addEventListener(name, asked, { capture: true });
  const deaf = listen((thrown) => {
    if (isRefusal(thrown)) workspace.fail(asError(thrown), { request: workspace.troubles.failures.of(thrown) });
    else if (performance.now() - askedAt < SOON_MS) {
      const detail = i18n.t.faults.notDone(asError(thrown).message.replace(/[.。]+$/, ''));
      workspace.fail(said('internal', detail));
    }
  });
  return () => {
    deaf();
    for (const name of ASKING) window.removeEventListener(name, asked, { capture: true });
  };
}
