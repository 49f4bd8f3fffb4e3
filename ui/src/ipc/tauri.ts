import { Channel, isTauri } from '@tauri-apps/api/core';
import { commands } from './bindings';
import type { Envelope, Goal, ProjectView, SessionSummary } from './bindings';
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
    restCaret: () => commands.restCaret().then(nothing),
    reportFault: (place, message, stack) => commands.reportFault(place, message, stack).then(nothing),
    forgetProject: (id) => commands.forgetProject(id).then(nothing),
    async subscribeProjects(listener) {
      // What comes before the first list is newer than it, and told in its place.
      let early: ProjectView[] | undefined;
      let tell: (projects: ProjectView[]) => void = (projects) => (early = projects);
      const news = channel<ProjectView[]>((projects) => tell(projects));
      const listed = await commands.subscribeProjects(news);
      tell = listener;
      return { first: early ?? listed, close: () => (tell = nothing) };
    },
    async subscribeSessions(listener) {
      let listening = true;
      const known = new Map<string, SessionSummary>();
      const learn = (sessions: SessionSummary[]) => {
        for (const session of sessions) known.set(session.id, session);
        return [...known.values()].filter((session) => session.deleted_at === null);
      };
      // Only what changed crosses; what comes before the first list is newer than it.
      const news = channel<SessionSummary[]>((changed) => {
        const sessions = learn(changed);
        if (listening) listener(sessions);
      });
      const listed = await commands.subscribeSessions(news);
      const first = learn(listed.filter((session) => !known.has(session.id)));
      return { first, close: () => (listening = false) };
    },
    async subscribeSession(session, known, listener) {
      let listening = true;
      const news = channel<Envelope[]>((events) => listening && listener(events));
      const first = await commands.subscribeSession(session, known, news);
      const close = () => {
        listening = false;
        // Nobody listens any more, so a refusal has nothing to tell.
        commands.unsubscribeSession(news.id).catch(nothing);
      };
      return { first, close };
    },
    lookAnew: () => commands.lookAnew().then(nothing),
    sendMessage: (message) => commands.sendMessage(message).then(nothing),
    changePlan: (session, change) => commands.changePlan(session, change).then(nothing),
    unqueueMessage: (session, id) => commands.unqueueMessage(session, id).then(nothing),
    editQueued: (session, id, text) => commands.editQueued(session, id, text).then(nothing),
    moveQueued: (session, id, to) => commands.moveQueued(session, id, to).then(nothing),
    sendQueuedNow: (session, id) => commands.sendQueuedNow(session, id).then(nothing),
    steerTurn: (message) => commands.steerTurn(message).then(nothing),
    steerQueued: (session, id) => commands.steerQueued(session, id).then(nothing),
    renameSession: (session, title) => commands.renameSession(session, title).then(nothing),
    pinSession: (session, pinned) => commands.pinSession(session, pinned).then(nothing),
    archiveSession: (session, archived) => commands.archiveSession(session, archived).then(nothing),
    deleteSession: (session) => commands.deleteSession(session).then(nothing),
    restoreSession: (session) => commands.restoreSession(session).then(nothing),
    keepHunk: (session, path, version, hunk) => commands.keepHunk(session, path, version, hunk).then(nothing),
    reopenChange: (session, path, scope) => commands.reopenChange(session, path, scope).then(nothing),
    openFile: (session, path, line) => commands.openFile(session, path, line ?? null).then(nothing),
    revealFile: (session, path) => commands.revealFile(session, path).then(nothing),
    async watchFolders(session, folders, listener) {
      let listening = true;
      const news = channel<string[]>((touched) => listening && listener(touched));
      await commands.watchFolders(session, [...folders], news);
      const close = () => {
        listening = false;
        commands.unsubscribeSession(news.id).catch(nothing);
      };
      return { first: null, close };
    },
    rewind: (session, seq, what, leave) => commands.rewind(session, seq, what, [...leave]).then(nothing),
    undoRewind: (session) => commands.undoRewind(session).then(nothing),
    stopSubagent: (session, child) => commands.stopSubagent(session, child).then(nothing),
    stopTurn: (session) => commands.stopTurn(session).then(nothing),
    continueTurn: (session) => commands.continueTurn(session).then(nothing),
    decideTrust: (project, decision) => commands.decideTrust(project, decision).then(nothing),
    deleteMemory: (memory) => commands.deleteMemory(memory).then(nothing),
    deleteSkill: (folder) => commands.deleteSkill(folder).then(nothing),
    switchSkill: (skill, off) => commands.switchSkill(skill, off).then(nothing),
    pinSkill: (skill, pinned) => commands.pinSkill(skill, pinned).then(nothing),
    deleteSubagent: (name) => commands.deleteSubagent(name).then(nothing),
    switchSubagent: (subagent, off) => commands.switchSubagent(subagent, off).then(nothing),
    decide: (decisions) => commands.decide(decisions).then(nothing),
    removeRule: (id) => commands.removeRule(id).then(nothing),
    setSessionMode: (session, mode) => commands.setSessionMode(session, mode).then(nothing),
    setCommandPlace: (project, place) => commands.setCommandPlace(project, place).then(nothing),
    setProjectMode: (project, mode) => commands.setProjectMode(project, mode).then(nothing),
    saveAdditions: (text) => commands.saveAdditions(text).then(nothing),
    acceptChangedTool: (session, hash) => commands.acceptChangedTool(session, hash).then(nothing),
    tryServerAgain: (session, server) => commands.tryServerAgain(session, server).then(nothing),
    finishSignIn: (id) => commands.finishSignIn(id).then(nothing),
    cancelSignIn: (id) => commands.cancelSignIn(id).then(nothing),
    signOut: (session, server) => commands.signOut(session, server).then(nothing),
    openDataFolder: () => commands.openDataFolder().then(nothing),
    async subscribeGoals(listener) {
      let listening = true;
      const news = channel<Goal>((goal) => listening && listener(goal));
      const first = await commands.subscribeGoals(news);
      return { first, close: () => (listening = false) };
    },
    closeQuestionShown: () => commands.closeQuestionShown().then(nothing),
    answerCloseQuestion: (choice) => commands.answerCloseQuestion(choice).then(nothing),
    async subscribeProviders(listener) {
      let listening = true;
      const news = channel<null>(() => listening && listener());
      await commands.subscribeProviders(news);
      return { first: null, close: () => (listening = false) };
    },
    setSessionModel: (session, model) => commands.setSessionModel(session, model).then(nothing),
    setSessionEffort: (session, effort) => commands.setSessionEffort(session, effort).then(nothing),
    removeProvider: (id) => commands.removeProvider(id).then(nothing),
    openLink: (url) => commands.openLink(url).then(nothing),
  };
}
