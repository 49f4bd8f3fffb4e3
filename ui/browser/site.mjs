/** Serves the recorded build and starts a Chromium on it. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The policy of the desktop window, so that what it would block is blocked here too. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-src 'none'; form-action 'none'";

/**
 * Waits until the page has come to rest: every question to the host is answered, fonts are there, what moves once has
 * moved, and nothing of it led to more. A slow machine takes longer; no time is assumed.
 */
export async function rest(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const isMoving = ({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime ?? Infinity);
    const isBusy = () => !window.recordedIsQuiet?.() || document.getAnimations().some(isMoving);
    const until = performance.now() + 5000;
    await document.fonts.ready;
    for (let calm = 0; calm < 3 && performance.now() < until; calm++) {
      await frame();
      if (isBusy()) calm = -1;
    }
  });
}

const BUILT = 'test-results/recorded';

/** How long a page may take for one thing; a cold machine with two cores is slow. */
const PATIENCE_MS = 60_000;

/** The browser that `cargo xtask` or the person names, else the first that is here; `null` where there is none. */
export const findBrowser = () => process.env.BOSUN_BROWSER || (PROGRAMS.find((program) => existsSync(program)) ?? null);

/** The built page behind a server, and a browser. Pages tell of every fault and of every request to elsewhere. */
export async function open() {
  // Each file of tests is a process of its own; the runner builds once for all of them.
  if (process.env.BOSUN_RECORDED_BUILT !== 'yes' || !existsSync(BUILT))
    await build({ mode: 'recorded', logLevel: 'error' });
  const server = await preview({
    mode: 'recorded',
    logLevel: 'error',
    preview: { port: 0, strictPort: false, headers: { 'Content-Security-Policy': POLICY } },
  });
  const { port } = server.httpServer.address();
  const origin = `http://localhost:${port}`;
  // Chromium and its libraries write into the home folder, whatever profile they are given.
  const home = await mkdtemp(join(tmpdir(), 'bosun-browser-'));
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
  };
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'], env });

  async function show(query = {}, { width = 1440, height = 900, ...more } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, ...more });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    // At the end the browser goes first, and its contexts with it.
    page.on('close', () => void context.close().catch(() => undefined));
    page.faults = [];
    page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
    page.on('pageerror', (error) => page.faults.push(error.message));
    page.on('request', (request) => {
      const own = [origin, `blob:${origin}`, 'data:'];
      if (!own.some((place) => request.url().startsWith(place))) page.faults.push(`asked ${request.url()}`);
    });
    // The window freezes it as well: a library that writes to it would break there and nowhere else.
    await page.addInitScript(() => Object.freeze(Object.prototype));
    await page.goto(`${origin}/?${new URLSearchParams({ recorded: 'mock', theme: 'light', lang: 'en', ...query })}`);
    await page.locator('main').first().waitFor();
    await rest(page);
    return page;
  }

  async function close() {
    await browser.close();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
    await new Promise((done) => server.httpServer.close(done));
  }

  return { browser, show, close };
}
