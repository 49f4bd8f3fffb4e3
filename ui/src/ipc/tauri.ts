import { Channel, isTauri } from '@tauri-apps/api/core';
import { commands } from './bindings';
import type { Envelope, SessionSummary } from './bindings';
import type { UiClient } from './client';

/** Whether this page runs in the desktop window. */
export const inWindow = (): boolean => isTauri();

function channel<T>(listener: (value: T) => void): Channel<T> {
  const made = new Channel<T>();
  made.onmessage = listener;
  return made;
}

const nothing = () => undefined;

/** The host over Tauri's IPC: one command per method, one channel of arrays per subscription. */
export function tauriClient(): UiClient {
  return {
    ...commands,
    uiReady: () => commands.uiReady().then(nothing),
    forgetProject: (id) => commands.forgetProject(id).then(nothing),
    async subscribeSessions(listener) {
      let listening = true;
      const news = channel<SessionSummary[]>((sessions) => listening && listener(sessions));
      const first = await commands.subscribeSessions(news);
      return { first, close: () => (listening = false) };
    },
    async subscribeSession(session, listener) {
      let listening = true;
      const news = channel<Envelope[]>((events) => listening && listener(events));
      const first = await commands.subscribeSession(session, news);
      const close = () => {
        listening = false;
        // Nobody listens any more, so a refusal (the session is gone) has nothing to tell.
        commands.unsubscribeSession(session).catch(nothing);
      };
      return { first, close };
    },
    sendMessage: (message) => commands.sendMessage(message).then(nothing),
    unqueueMessage: (session, id) => commands.unqueueMessage(session, id).then(nothing),
    stopTurn: (session) => commands.stopTurn(session).then(nothing),
    continueTurn: (session) => commands.continueTurn(session).then(nothing),
    decide: (decisions) => commands.decide(decisions).then(nothing),
    setSessionModel: (session, model) => commands.setSessionModel(session, model).then(nothing),
    removeProvider: (id) => commands.removeProvider(id).then(nothing),
    openLink: (url) => commands.openLink(url).then(nothing),
  };
}
