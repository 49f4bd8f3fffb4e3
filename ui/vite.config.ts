import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), svelteTesting()],
  // The recorded build is for tests and pictures in a plain browser; it never lands in the desktop binary.
  define: { __RECORDED__: JSON.stringify(mode !== 'production') },
  build: {
    target: 'safari16.4',
    outDir: mode === 'recorded' ? 'test-results/recorded' : 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { port: 5173, strictPort: true },
  preview: { port: 4173, strictPort: true },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test/setup.ts'],
    restoreMocks: true,
    testTimeout: 20_000,
  },
}));
