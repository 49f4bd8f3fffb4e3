/** Every screen: its recorded world, and what is done to get there. */
const settings = (at) => async (page) => {
  await page.keyboard.press('Control+,');
  await page.locator('.settings [role=tab]').nth(at).click();
  if (at === 0) await page.locator('.settings article .head').first().click();
};

const welcome = (steps) => async (page) => {
  if (steps > 0) await page.locator('footer .primary').click();
  if (steps > 1) await page.locator('footer .btn').nth(1).click();
};

/** A card counts for nothing until it has been in sight for a moment, so the press is made until it is taken. */
const answer = (at) => async (page) => {
  const choice = page.locator('.answers .btn').nth(at);
  await choice.waitFor();
  while (await choice.isVisible()) await choice.click({ timeout: 1000 }).catch(() => undefined);
};

/** Approves on the sheet until so many answers are chosen; a card counts for nothing until it has been in sight. */
const choose = async (page, count) => {
  const chosen = page.locator('.sheet .badge');
  while ((await chosen.count()) < count) {
    await page
      .locator('.answers .btn')
      .first()
      .click({ timeout: 1000 })
      .catch(() => undefined);
  }
};

/** Types into the palette once it takes the keys. */
const palette = async (page, words) => {
  await page.keyboard.press('Control+k');
  await page.locator('.palette input:focus').waitFor();
  await page.keyboard.type(words);
};

/** The timeline, also where the side pane is a drawer; its places or its ledger. */
const pane = async (page, view) => {
  await palette(page, 'timeline');
  await page.keyboard.press('Enter');
  await page.locator('.top label').nth(view).click();
  await page.locator('.pane ol').first().waitFor();
};

/** A session that is done is to go back: to its beginning, before a file that was changed since, or behind that. */
const goBack = (place) => async (page) => {
  await palette(page, 'fixtures');
  await page.keyboard.press('Enter');
  await page.locator('.palette').waitFor({ state: 'detached' });
  await palette(page, 'timeline');
  await page.keyboard.press('Enter');
  await page.locator('ol .place').first().waitFor();
  await page.locator('ol .place + button').nth(place).focus();
  await page.keyboard.press('Enter');
  await page.locator('.menu-item').last().click();
  await page.locator('.dialog footer .primary').waitFor();
};

/** Files of the session, opened one in the other; also where the side pane is a drawer. */
const look = async (page, names, wanted = '.text .line') => {
  await page.keyboard.press('Control+Shift+D');
  await page.getByRole('tab', { name: /^(Files|文件)/ }).click();
  for (const name of names) await page.getByRole('treeitem', { name: new RegExp(`^${name}`) }).click();
  await page.locator(wanted).first().waitFor();
};

/** A picture of 8 by 8 pixels. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4oaGBFTEMLQkAgl1GARdiiXUAAAAASUVORK5CYII=';

/** What the agent knows, by the words of its command in either language. */
const knowledge = (english, chinese, wanted) => async (page) => {
  const lang = await page.locator('html').getAttribute('lang');
  await palette(page, lang === 'zh-CN' ? chinese : english);
  await page.keyboard.press('Enter');
  await page.locator(wanted).first().waitFor();
};

/** The window is closed while these sessions are at work. */
const closing = (sessions) => async (page) => {
  await page.evaluate((ids) => window.recordedHost.tellGoal({ goal: 'close', sessions: ids }), sessions);
  await page.locator('.close-sheet').waitFor();
};

const hosts = { recorded: 'hostile' };

export const SCREENS = {
  plan: { query: { tab: 'plan' } },
  agents: { query: { tab: 'agents' } },
  mainagent: {
    query: { tab: 'agents' },
    async act(page) {
      await palette(page, 'agents');
      await page.keyboard.press('Enter');
      await page.getByRole('treeitem').first().click();
    },
  },
  export: {
    async act(page) {
      await page.locator('aside.left li .more').first().press('Enter');
      await page.getByRole('menuitem', { name: /^(Export as Markdown|导出为 Markdown)$/ }).click();
      await page.locator('.dialog.export pre').waitFor();
    },
  },
  agent: {
    query: { tab: 'agents' },
    async act(page) {
      await palette(page, 'agents');
      await page.keyboard.press('Enter');
      await page.locator('.detail header button').last().click();
      await page.locator('.dialog .tool').first().waitFor();
    },
  },
  moved: {
    async act(page) {
      await page.locator('button.project').click();
      await page.locator('.menu-item.moved').waitFor();
    },
  },
  movedtoast: {
    async act(page) {
      await page.locator('button.project').click();
      await page.locator('.menu-item', { hasText: 'old-prototype' }).first().click();
      await page.locator('.errors .btn').first().waitFor();
    },
  },
  gone: {
    query: { recorded: 'gone' },
    async act(page) {
      await page.locator('nav li .open').first().click();
      await page.locator('.strip').first().waitFor();
    },
  },
  changes: { query: { tab: 'changes' } },
  files: { query: { tab: 'files' }, act: (page) => look(page, ['src', 'auth', 'clock.rs']) },
  result: { query: { tab: 'files' }, act: (page) => look(page, ['large_tool_results', 'call-7']) },
  longline: { query: { tab: 'files' }, act: (page) => look(page, ['large_tool_results', 'answer']) },
  document: {
    query: { tab: 'files' },
    async act(page) {
      await look(page, ['memories', 'style.md'], '.page .md');
    },
  },
  found: {
    query: { tab: 'files' },
    async act(page) {
      await look(page, ['memories'], '.row .badge');
      await page.locator('.files input').fill('s');
      await page.locator('.row .where').first().waitFor();
    },
  },
  filemenu: {
    query: { tab: 'files' },
    async act(page) {
      await look(page, ['src', 'auth'], '.row .badge');
      await page.getByRole('tree').press('Shift+F10');
      await page.locator('.menu-item').first().waitFor();
    },
  },
  since: {
    query: { tab: 'changes' },
    async act(page) {
      await page.keyboard.press('Control+Shift+D');
      await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
      await page.locator('.since').waitFor();
    },
  },
  restored: {
    query: { tab: 'changes' },
    async act(page) {
      await page.keyboard.press('Control+Shift+D');
      await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
      await page.locator('.since header button').click();
      await page.locator('.undone').waitFor();
    },
  },
  elsewhere: {
    async act(page) {
      await answer(1)(page);
      await page.getByLabel(/^file_path/).fill('/shelf/notes.md');
      await page.locator('.reach .warn').first().waitFor();
    },
  },
  split: {
    query: { tab: 'changes' },
    async act(page) {
      await page.keyboard.press('Control+Shift+D');
      await page.getByRole('button', { name: /^(Open with more room|放大查看)/ }).click();
      await page
        .locator('.full')
        .getByRole('button', { name: /^(Before and after|前后并排)/ })
        .click();
    },
  },
  changed: {
    async act(page) {
      await palette(page, 'fixtures');
      await page.keyboard.press('Enter');
      await page.locator('.docks .plus').waitFor();
    },
  },
  between: {
    async act(page) {
      await palette(page, 'fixtures');
      await page.keyboard.press('Enter');
      await page.locator('.docks .plus').waitFor();
      await page.keyboard.press('Control+Shift+D');
      await page.getByRole('button', { name: /^tests\/support\/fixtures\.rs/ }).click();
      await page.locator('.heading .link').first().click();
      await page.locator('.heading .link').last().click();
      await page.locator('.heading .link').waitFor({ state: 'detached' });
    },
  },
  timeline: { query: { recorded: 'tools', tab: 'timeline' }, act: (page) => pane(page, 0) },
  timelinelong: {
    query: { recorded: 'long', tab: 'timeline' },
    async act(page) {
      await pane(page, 0);
      await page.locator('.pane > .btn').scrollIntoViewIfNeeded();
    },
  },
  pastlong: {
    query: { recorded: 'long', tab: 'timeline' },
    async act(page) {
      await pane(page, 0);
      await page.locator('ol .place').first().click();
      await page.locator('.past .talk .group').first().waitFor();
    },
  },
  ledger: { query: { recorded: 'tools', tab: 'timeline' }, act: (page) => pane(page, 1) },
  ledgeropen: {
    query: { recorded: 'tools', tab: 'timeline' },
    async act(page) {
      await pane(page, 1);
      await page.locator('.pane ol button').nth(7).click();
      await page.locator('.pane .details').waitFor();
    },
  },
  past: {
    query: { tab: 'timeline' },
    async act(page) {
      await pane(page, 0);
      await page.locator('ol .place').first().click();
      await page.locator('.past .talk').waitFor();
    },
  },
  rewind: { act: goBack(-1) },
  rewindfiles: { act: goBack(0) },
  summing: {
    query: { recorded: 'summing' },
    async act(page) {
      await page.locator('.composer textarea').fill('/compact');
      await page.keyboard.press('Enter');
      await page.locator('[role=dialog] .btn.primary').waitFor();
    },
  },
  summary: {
    async act(page) {
      await palette(page, 'fixtures');
      await page.keyboard.press('Enter');
      await page.locator('.palette').waitFor({ state: 'detached' });
      await page.locator('.composer textarea').fill('/compact');
      await page.keyboard.press('Enter');
      await page.locator('[role=dialog] .btn.primary').click();
      await page.locator('[role=dialog] textarea').waitFor();
    },
  },
  edit: { act: answer(1) },
  rephrase: {
    query: { recorded: 'attachments' },
    async act(page) {
      await page.getByRole('button', { name: /^(Edit it in a new session|在新会话中修改)$/ }).press('Enter');
      await page.locator('.editor textarea').waitFor();
    },
  },
  respond: { act: answer(2) },
  reject: { act: answer(3) },
  together: { act: (page) => page.locator('.answers input').check() },
  answered: {
    async act(page) {
      await page.locator('.answers input').check();
      await choose(page, 1);
      await page.locator('.answers .scope').click();
      await page.locator('.scope label').nth(2).click();
      await page.locator('.scope .columns').waitFor();
      await choose(page, 2);
    },
  },
  tools: { query: { recorded: 'tools' } },
  toolsopen: {
    query: { recorded: 'tools' },
    async act(page) {
      await page.locator('.fold > button').click();
      // Each that is opened is no longer among the shut ones.
      const shut = page.locator('.tool .head[aria-expanded=false]');
      while ((await shut.count()) > 0) await shut.first().click();
    },
  },
  terminal: {
    query: { recorded: 'tools' },
    async act(page) {
      await page.locator('.fold > button').click();
      await page.locator('.tool .head', { hasText: 'colours.sh' }).click();
      await page.locator('.tool .head', { hasText: 'cargo watch' }).click();
      await page.locator('.terminal').last().scrollIntoViewIfNeeded();
    },
  },
  answer: { query: { recorded: 'tools' }, act: (page) => page.locator('.log').evaluate((log) => (log.scrollTop = 0)) },
  hostile: { query: hosts },
  script: { query: { recorded: 'script' } },
  hostilemail: {
    query: hosts,
    async act(page) {
      const mail = page.locator('.approval dl', { hasText: 'subject' });
      while (!(await mail.isVisible())) await page.locator('.place button').nth(1).click();
    },
  },
  hostilelong: { query: hosts, act: (page) => page.locator('.place button').nth(1).click() },
  model: { act: (page) => page.locator('.bar button.chip[aria-haspopup]').click() },
  pick: {
    query: { recorded: 'accounts' },
    async act(page) {
      await SCREENS.model.act(page);
      await page.locator('.picker input:focus').waitFor();
      await page.keyboard.type('gpt-large');
    },
  },
  memories: { act: knowledge('Memor', '记忆', '.shelf .entry') },
  memory: {
    async act(page) {
      await knowledge('Memor', '记忆', '.shelf .entry')(page);
      await page.locator('.shelf .entry').first().click();
      await page.locator('.shelf textarea').waitFor();
    },
  },
  history: {
    async act(page) {
      await knowledge('Memor', '记忆', '.shelf .entry')(page);
      await page.locator('.shelf .entry').nth(2).click();
      await page.locator('.shelf textarea').fill('- The suite takes 9 minutes.');
      await page.locator('.shelf .detail .btn.primary').click();
      await page.locator('.shelf summary').click();
      await page.locator('.versions .link').nth(-2).click();
      await page.locator('.versions .diff').waitFor();
    },
  },
  newmemory: {
    async act(page) {
      await knowledge('Memor', '记忆', '.shelf .entry')(page);
      await page.locator('.shelf .dialog-head .btn').click();
      await page.locator('.shelf form').waitFor();
    },
  },
  skills: { act: knowledge('Skills', '技能', '.shelf textarea') },
  skillfile: {
    act: async (page) => {
      await knowledge('Skills', '技能', '.shelf textarea')(page);
      await page.getByRole('button', { name: /^(New file|新建文件)$/ }).click();
      await page.getByLabel(/^(Path of the new file|新文件的路径)$/).fill('notes/style.md');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /^(Delete |删除 )notes/ }).waitFor();
      await page.getByRole('button', { name: /^(New file|新建文件)$/ }).click();
    },
  },
  newskill: {
    async act(page) {
      await knowledge('Skills', '技能', '.shelf textarea')(page);
      await page.locator('.shelf .dialog-head .btn').click();
      await page.locator('.shelf form').waitFor();
    },
  },
  brings: { query: { recorded: 'brings' }, act: (page) => page.locator('.strip').waitFor() },
  trust: { query: { recorded: 'brings' }, act: knowledge('trusted', '信任', '.shelf .diff') },
  subagents: {
    async act(page) {
      await page.keyboard.press('Control+,');
      await page.getByRole('tab', { name: /^(Subagents|子智能体)$/ }).click();
    },
  },
  subagent: {
    async act(page) {
      await page.keyboard.press('Control+,');
      await page.getByRole('tab', { name: /^(Subagents|子智能体)$/ }).click();
      await page
        .locator('.settings')
        .getByRole('button', { name: /^(Edit|编辑)/ })
        .first()
        .click();
    },
  },
  subagenteffort: {
    async act(page) {
      await SCREENS.subagent.act(page);
      await page.locator('.settings form').getByRole('combobox').last().scrollIntoViewIfNeeded();
    },
  },
  projects: { act: (page) => page.locator('button.project').click() },
  closing: { act: closing(['s-survey', 's-refresh', 's-notes']) },
  closingdone: { act: closing([]) },
  settings: { act: settings(0) },
  usage: {
    async act(page) {
      await settings(0)(page);
      await page.locator('.settings details:has(table) summary').click();
      await page.locator('.settings details table').scrollIntoViewIfNeeded();
    },
  },
  keypage: {
    async act(page) {
      await settings(0)(page);
      await page.locator('.settings').getByText('OpenAI', { exact: true }).click();
      await page.locator('.settings').getByText('platform.openai.com').scrollIntoViewIfNeeded();
    },
  },
  headers: {
    async act(page) {
      await settings(0)(page);
      const form = page.locator('.settings details').filter({ hasText: /Custom headers|自定义请求头/ });
      await form.locator('summary').click();
      await form.locator('input').first().fill('X-Team');
      await form.locator('input').last().fill('platform');
      await form.getByRole('button', { name: /^(Add header|添加请求头)$/ }).click();
      await form.locator('li').waitFor();
    },
  },
  proxy: {
    async act(page) {
      await settings(0)(page);
      const proxy = page.getByLabel(/^(Proxy|代理)$/);
      await proxy.fill('http://proxy.example:3128');
      await proxy.blur();
      const user = page.getByRole('textbox', { name: /^(User name for the proxy|代理用户名)$/ });
      await user.fill('me@work');
      await user.scrollIntoViewIfNeeded();
    },
  },
  ownserver: {
    async act(page) {
      await settings(0)(page);
      await page.getByRole('button', { name: /^(Add a server|添加服务器)/ }).click();
      const form = page.locator('.settings form.card');
      await form.locator('input').first().fill('https://gate.example/v1');
      await form.getByRole('combobox').selectOption('anthropic');
      await form.scrollIntoViewIfNeeded();
    },
  },
  azure: {
    query: { recorded: 'azure' },
    async act(page) {
      await page.keyboard.press('Control+,');
      const card = page.locator('.settings article').filter({ hasText: 'Azure OpenAI' });
      await card.locator('.head').click();
      await card.locator('input').fill('acme-7');
      await card.scrollIntoViewIfNeeded();
    },
  },
  editprovider: {
    query: { recorded: 'accounts' },
    async act(page) {
      await page.keyboard.press('Control+,');
      const card = page.locator('.settings article').filter({ hasText: 'Attic' });
      await card.locator('.head').click();
      const form = card.locator('details').filter({ hasText: /Name and address|名称与地址/ });
      await form.locator('summary').click();
      await form.locator('input').nth(1).fill('http://10.0.0.8:8000/v1');
      await form.scrollIntoViewIfNeeded();
    },
  },
  vertex: {
    query: { recorded: 'accounts' },
    async act(page) {
      await page.keyboard.press('Control+,');
      const card = page.locator('.settings article').filter({ hasText: 'Vertex' });
      await card.locator('.head').click();
      await card.getByLabel(/^(Project|项目)$/).fill('acme-7');
      await card.scrollIntoViewIfNeeded();
    },
  },
  projectmodel: {
    async act(page) {
      await page.keyboard.press('Control+,');
      const project = page.locator('.settings .project').first();
      await project.getByRole('button').click();
      await page.getByRole('option', { name: 'claude-haiku' }).click();
      await project.getByRole('combobox').selectOption('high');
      await project.getByRole('combobox').evaluate((select) => select.blur());
    },
  },
  permissions: { act: settings(1) },
  sandbox: { act: settings(2) },
  sandboxnone: { query: { recorded: 'noproject' }, act: settings(2) },
  servers: {
    async act(page) {
      await settings(3)(page);
      await page.locator('.settings .changed').waitFor();
    },
  },
  serverform: {
    async act(page) {
      await settings(3)(page);
      await page.locator('.settings .framed > li').nth(2).locator('.btn').nth(1).click();
      await page.locator('.settings form .primary').waitFor();
    },
  },
  serverwrong: {
    async act(page) {
      await settings(3)(page);
      await page.locator('.settings .head .btn').click();
      await page.locator('.settings form .primary').click();
      await page.locator('.settings form [role=alert]').waitFor();
    },
  },
  noservers: { query: { recorded: 'noproject' }, act: settings(3) },
  hooks: {
    async act(page) {
      await settings(4)(page);
      await page.locator('.settings .framed').first().waitFor();
    },
  },
  hooktrial: {
    async act(page) {
      await settings(4)(page);
      await page.getByRole('button', { name: /^(Try|试运行) format$/ }).click();
      await page.locator('.settings .trial').waitFor();
    },
  },
  hookform: {
    async act(page) {
      await settings(4)(page);
      await page.locator('.settings .framed .btn').nth(1).click();
      await page.locator('.settings form .primary').scrollIntoViewIfNeeded();
    },
  },
  additions: { act: settings(5) },
  remap: {
    async act(page) {
      await settings(7)(page);
      await page.locator('.settings .does .btn').nth(1).click();
      await page.keyboard.press('Control+n');
    },
  },
  appearance: { act: settings(8) },
  data: {
    async act(page) {
      await settings(9)(page);
      await page.locator('.settings dl').waitFor();
    },
  },
  diagnostics: {
    async act(page) {
      await settings(9)(page);
      await page.locator('.settings .part').last().locator('.btn').click();
      await page.locator('.settings pre').scrollIntoViewIfNeeded();
    },
  },
  about: { act: settings(10) },
  scope: {
    async act(page) {
      await page.locator('.place button').last().click();
      await page.locator('.answers .scope').click();
      await page.locator('.scope label').nth(1).click();
      await page.locator('.scope .columns').waitFor();
    },
  },
  guarded: {
    query: { recorded: 'hostile' },
    async act(page) {
      await page.locator('.answers .scope').first().click();
      await page.locator('.scope .guard, .scope fieldset').first().waitFor();
    },
  },
  modes: {
    async act(page) {
      await page.locator('.chip.mode').click();
      await page.locator('.menu.modes').waitFor();
    },
  },
  palette: {
    async act(page) {
      await palette(page, 'se');
    },
  },
  /** What was said with these words, by whom and when; and where one of them leads. */
  hits: {
    async act(page) {
      await palette(page, 'the retry');
      await page.locator('.palette mark').first().waitFor();
      await page.locator('.palette [role=option]').last().scrollIntoViewIfNeeded();
    },
  },
  agentfound: {
    async act(page) {
      await palette(page, 'billing fakes');
      await page.locator('.palette mark').first().click();
      await page.locator('.dialog.agent .found').waitFor();
    },
  },
  findmore: {
    query: { recorded: 'deep' },
    async act(page) {
      await page.keyboard.press('Control+f');
      await page.locator('.find input:focus').waitFor();
      await page.keyboard.type('nowhere');
      await page.locator('.find .btn').waitFor();
    },
  },
  board: {
    async act(page) {
      await palette(page, 'board');
      await page.keyboard.press('Enter');
    },
  },
  boardempty: {
    query: { recorded: 'tools' },
    async act(page) {
      await palette(page, 'board');
      await page.keyboard.press('Enter');
      await page.locator('.board .empty').waitFor();
    },
  },
  rail: {
    async act(page) {
      await page.keyboard.press('Control+b');
      await page.locator('.rail').first().waitFor();
    },
  },
  inbox: { act: (page) => page.getByRole('button', { name: /^(Waiting for you|等你决定)/ }).click() },
  find: {
    async act(page) {
      await page.keyboard.press('Control+f');
      await page.locator('.find input:focus').waitFor();
      await page.keyboard.type('expires_at');
    },
  },
  filtered: {
    async act(page) {
      await palette(page, 'board');
      await page.keyboard.press('Enter');
      await page.locator('.board .in_progress .open').click();
    },
  },
  planmenu: {
    async act(page) {
      await palette(page, 'board');
      await page.keyboard.press('Enter');
      await page.locator('.board .pending .more button').first().focus();
      await page.keyboard.press('Enter');
      await page.locator('.menu').waitFor();
    },
  },
  sessionmenu: {
    async act(page) {
      await page.getByRole('button', { name: /^(More for “Move fixtures|“Move fixtures)/ }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.menu').waitFor();
    },
  },
  deleted: {
    async act(page) {
      await page.getByRole('button', { name: /^(More for “Move fixtures|“Move fixtures)/ }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.menu-item.danger').click();
      await page.locator('.note').waitFor();
    },
  },
  queue: {
    query: { recorded: 'live' },
    async act(page) {
      for (const text of ['Then tidy the changelog', 'And look at the notes']) {
        await page.keyboard.type(text);
        await page.keyboard.press('Enter');
        await page.locator('.queue').getByText(text).waitFor();
      }
      await page.locator('.queue li').first().locator('button').first().click();
    },
  },
  commands: { query: { recorded: 'live' }, act: (page) => page.keyboard.type('/') },
  mention: {
    query: { recorded: 'live' },
    async act(page) {
      await page.keyboard.type('See @c');
      await page.locator('.suggest [role=option]').first().waitFor();
    },
  },
  attachments: {
    query: { recorded: 'attachments' },
    async act(page) {
      await page.locator('.composer input[type=file]').setInputFiles([
        { name: 'after-the-fix.png', mimeType: 'image/png', buffer: Buffer.from(DOT, 'base64') },
        { name: 'protocol.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') },
      ]);
      await page.locator('.composer li img').waitFor();
      await page.locator('.composer p[role=status]').waitFor();
    },
  },
  keynote: {
    query: { recorded: 'live' },
    async act(page) {
      await page.locator('.composer textarea').fill('MODEL_KEY=sk-proj-0123456789abcdef');
      await page.locator('.composer p[role=status]').waitFor();
    },
  },
  attachment: {
    query: { recorded: 'attachments' },
    async act(page) {
      await page.locator('.human .chip').first().click();
      await page.locator('.dialog img').waitFor();
    },
  },
  shortcuts: { act: (page) => page.keyboard.press('Control+/') },
  link: { query: hosts, act: (page) => page.getByRole('link').first().click() },
  welcome1: { query: { recorded: 'welcome' } },
  welcome2: { query: { recorded: 'welcome' }, act: welcome(1) },
  welcome3: { query: { recorded: 'welcome' }, act: welcome(2) },
  empty: { query: { recorded: 'empty' } },
  noproject: { query: { recorded: 'noproject' } },
  nokey: { query: { recorded: 'nokey' } },
  locked: { query: { recorded: 'locked' } },
  failed: { act: (page) => page.getByRole('button', { name: /^Windows path tests/ }).click() },
  faulty: {
    query: { recorded: 'faulty', tab: 'plan' },
    isFaulty: true,
    act: (page) => page.locator('.fault').first().waitFor(),
  },
  faultydialog: {
    query: { recorded: 'faulty', tab: 'agents' },
    isFaulty: true,
    act: knowledge('plan as a board', '以看板显示计划', '.dialog .fault'),
  },
  undrawn: { query: { recorded: 'undrawn' }, isFaulty: true, act: (page) => page.locator('main .fault').waitFor() },
};
