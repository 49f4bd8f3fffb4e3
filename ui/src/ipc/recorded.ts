import type { ProviderView, SessionSummary, Settings } from './bindings';
import { hostOf } from '../features/settings/address';
import type { UiClient } from './client';
import { additions } from './recorded/additions';
import { attachments } from './recorded/attachments';
import { NOW, snapshot, summary } from './recorded/builders';
import { Host, type World } from './recorded/host';
import { files } from './recorded/files';
import { history } from './recorded/history';
import { knowledge } from './recorded/knowledge';
import { summaries } from './recorded/summary';
import { lists, queues } from './recorded/lists';
import { plan } from './recorded/plan';
import { models } from './recorded/models';
import { permissions } from './recorded/permissions';
import { BUILT_IN } from './recorded/providers';

const WAIT_MS = 30;
let waiting = 0;

/** Whether every question was answered. */
export const isQuiet = (): boolean => waiting === 0;

/** The core's answer takes a moment; what is drawn meanwhile should be seen in development too. */
export const later = <T>(value: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    waiting++;
    setTimeout(() => {
      waiting--;
      try {
        resolve(value());
      } catch (error) {
        reject(error as Error);
      }
    }, WAIT_MS);
  });

/** A host without a core, for a plain browser and for tests. */
export function recordedClient(world: World): { client: UiClient; host: Host } {
  const host = new Host(world);
  let starts = 0;
  const act = (name: string, value: unknown, action: () => void = () => undefined) => {
    host.note(name, value);
    return later(action);
  };
  const client: UiClient = {
    ...setup(host, act),
    ...models(host, act),
    ...attachments(host, act),
    ...lists(host, act),
    ...queues(host, act),
    ...plan(host, act),
    ...history(host, act),
    ...knowledge(host, act),
    ...permissions(host, act),
    ...additions(host, act),
    ...files(host, act),
    ...summaries(host, act),
    start: () =>
      later(() => {
        if (++starts > 1) delete world.unusable;
        return {
          version: '0.1.0',
          settings: world.settings,
          system_language: world.systemLanguage,
          problem: world.problem,
        };
      }),
    uiReady: () => act('uiReady', null),
    restCaret: () => act('restCaret', null),
    reportFault: (place, message, stack) => act('reportFault', { place, message, stack }),
    subscribeProjects: () =>
      later(() => {
        if (world.unusable) throw { code: 'storage_unavailable', message: '', problem: world.unusable };
        return { first: world.projects, close: () => undefined };
      }),
    pickProject: () =>
      later(() => {
        const [first] = world.projects;
        const made = { id: 'p-picked', name: 'picked', path: '~/picked', branch: null, opened_at: NOW, problem: null };
        return first ?? made;
      }),
    moveProject: async (id) => {
      const moved = { path: '~/code/prototype', name: 'prototype', problem: null };
      await act('moveProject', id, () => {
        world.projects = world.projects.map((one) => (one.id === id ? { ...one, ...moved } : one));
      });
      return world.projects.find((one) => one.id === id) ?? null;
    },
    forgetProject: (id) =>
      act('forgetProject', id, () => {
        world.projects = world.projects.filter((project) => project.id !== id);
      }),
    subscribeSessions: (listener) =>
      later(() => {
        const close = host.listenToList(listener);
        return { first: host.summaries(), close };
      }),
    createSession: (project, model) =>
      later((): SessionSummary => {
        const made = summary(host.newId(), {
          project,
          model: model ?? world.settings.model ?? null,
          title: '',
          created_at: NOW,
          updated_at: NOW,
          usage: {
            input_tokens: 0,
            output_tokens: 0,
            cache_read_tokens: 0,
            cost: null,
            context_tokens: null,
            context_window: null,
          },
        });
        host.add(snapshot(made));
        return made;
      }),
    subscribeSession: (session, known, listener) =>
      later(() => {
        const close = host.listen(session, listener);
        return { first: host.opening(session, known), close };
      }),
    loadItems: (session, before, limit) =>
      later(() => {
        const all = [...(world.earlier[session] ?? []), ...host.snapshot(session).items];
        const at = all.findIndex((one) => one.id === before);
        return all.slice(0, at < 0 ? undefined : at).slice(-limit);
      }),
    sendMessage: (message) => act('sendMessage', message, () => host.send(message)),
    stopSubagent: (session, child) =>
      act('stopSubagent', { session, child }, () => {
        const node = host.snapshot(session).agents.find((one) => one.session === child);
        if (!node) return fail('This subagent is not running; it may just have finished.');
        host.emit(session, {
          type: 'agent_updated',
          agent: { ...node, status: 'cancelled', current: null, ended_at: NOW },
        });
      }),
    stopTurn: (session) => act('stopTurn', session, () => host.stop(session)),
    continueTurn: (session) => act('continueTurn', session, () => host.update(session, { status: 'running' })),
    decide: (decisions) => act('decide', decisions, () => host.decide(decisions)),
    decidedReach: (decide) => later(() => host.reach(decide)),
    setSessionModel: (session, model) => act('setSessionModel', model, () => host.update(session, { model })),
    startTour: () => later(() => null),
    openLink: (url) => act('openLink', url, () => host.signing?.opened()),
  };
  return { client, host };
}

export type Act = (name: string, value: unknown, action?: () => void) => Promise<void>;

function setup(
  { world }: Host,
  act: Act,
): Pick<
  UiClient,
  | 'saveSettings'
  | 'listProviders'
  | 'subscribeProviders'
  | 'saveProvider'
  | 'setProviderHeader'
  | 'removeProvider'
  | 'testProvider'
  | 'listModels'
> {
  return {
    saveSettings: async (settings: Settings) => {
      await act('saveSettings', settings);
      world.settings = settings;
      return settings;
    },
    listProviders: () => later(() => world.providers),
    subscribeProviders: () => later(() => ({ first: null, close: () => undefined })),
    saveProvider: async (given) => {
      await act('saveProvider', given);
      const known = world.providers.find((one) => one.id === given.id);
      // What was kept for the host before is let go of.
      const stayed = known?.host === (hostOf(given.base_url) ?? '') ? known : undefined;
      const made: ProviderView = {
        id: given.id ?? given.label.toLowerCase().replace(/\W+/g, '-'),
        label: given.label,
        family: given.family,
        chosen: given.chosen,
        base_url: given.base_url,
        host: hostOf(given.base_url) ?? '',
        local: given.base_url.includes('localhost'),
        runs_itself: stayed?.runs_itself ?? false,
        hands_on: known?.hands_on ?? [],
        handed_on: stayed?.handed_on ?? [],
        runs: stayed?.runs ?? [],
        key:
          given.key === null ? (stayed?.key ?? { source: 'missing' }) : { source: given.key ? 'keyring' : 'missing' },
        key_page: known?.key_page ?? null,
        key_optional: known?.key_optional ?? true,
        custom: known?.custom ?? true,
        changed: BUILT_IN.some(
          (one) => one.id === given.id && (one.label !== given.label || one.base_url !== given.base_url),
        ),
        headers: stayed?.headers ?? [],
      };
      world.providers = known ? world.providers.map((one) => (one === known ? made : one)) : [...world.providers, made];
      return made;
    },
    setProviderHeader: async (id, name, value) => {
      // The value is nobody's to look at.
      await act('setProviderHeader', { id, name });
      const known = world.providers.find((one) => one.id === id);
      if (!known) throw { code: 'not_found', message: '', problem: { problem: 'provider_unknown', id } };
      const others = known.headers.filter((header) => header.toLowerCase() !== name.toLowerCase());
      const made = { ...known, headers: value === '' ? others : [...others, name] };
      world.providers = world.providers.map((one) => (one === known ? made : one));
      return made;
    },
    removeProvider: (id) =>
      act('removeProvider', id, () => {
        // One that is built in goes back to how it came.
        const came = BUILT_IN.find((one) => one.id === id);
        world.providers = world.providers.flatMap((one) => (one.id === id ? (came ?? []) : one));
      }),
    testProvider: async (id, model) => {
      await act('testProvider', { id, model });
      const provider = world.providers.find((one) => one.id === id);
      return provider?.key.source === 'missing' && !provider.key_optional
        ? {
            result: 'fails',
            model: null,
            problem: { problem: 'said', detail: 'authentication_error: invalid x-api-key' },
          }
        : { result: 'works', model: model ?? world.models[id]?.[0] ?? null, reply: 'Hello!', milliseconds: 640 };
    },
    listModels: (provider) =>
      later(() => {
        const names = world.models[provider];
        if (!names) return fail('connection refused');
        const cache = { cache_read: 0.3, cache_write: 3.75, cache_write_hour: 6, audio: null };
        const free = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_hour: 0, audio: null };
        const isHere = (name: string) => provider === 'ollama' && !name.endsWith('cloud');
        const price = provider === 'anthropic' ? { input: 3, output: 15, ...cache } : null;
        const abilities = { images: true, documents: true, audio: false, video: false, reasoning: true };
        const known = { context_window: 200_000, max_output: 64_000, ...abilities };
        return names.map((name) => ({
          model: { provider, name },
          ...known,
          price: isHere(name) ? free : price,
          scripted: false,
        }));
      }),
  };
}

function fail(message: string): never {
  throw { code: 'not_found', message };
}
