/** Serves the recorded build and starts Debian's Chromium on it. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The policy of the desktop window, so that what it would block is blocked here too. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-src 'none'; form-action 'none'";

/** The first browser that is here; `null` where there is none. */
export const findBrowser = () => PROGRAMS.find((program) => existsSync(program)) ?? null;

export async function open({ rebuild = true } = {}) {
  if (rebuild) await build({ mode: 'recorded', logLevel: 'warn' });
  const server = await preview({
    mode: 'recorded',
    logLevel: 'warn',
    preview: { port: 0, strictPort: false, headers: { 'Content-Security-Policy': POLICY } },
  });
  const { port } = server.httpServer.address();
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
  const address = (query) => `http://localhost:${port}/?${new URLSearchParams(query)}`;
  return {
    browser,
    address,
    async close() {
      await browser.close();
      await new Promise((done) => server.httpServer.close(done));
    },
  };
}
