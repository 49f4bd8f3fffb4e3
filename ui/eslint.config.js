import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const onlyHere = (what) =>
  `${what} is imported in src/ipc alone, so that the shell can change without touching the UI.`;

export default ts.config(
  { ignores: ['dist/', 'test-results/', 'src/ipc/bindings.ts', 'src/shared/i18n/en/problems.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, __RECORDED__: 'readonly' } },
    rules: {
      'no-undef': 'off',
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // svelte-check knows which warnings the compiler gives; this rule only guesses.
      'svelte/no-unused-svelte-ignore': 'off',
      // Maps and sets that live within one function are no state.
      'svelte/prefer-svelte-reactivity': 'off',
      // {' '} is how a space between two elements is kept.
      'svelte/no-useless-mustaches': 'off',
      'no-restricted-imports': ['error', { patterns: [{ group: ['@tauri-apps/*'], message: onlyHere('Tauri') }] }],
    },
  },
  { files: ['src/ipc/**'], rules: { 'no-restricted-imports': 'off' } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { projectService: true, extraFileExtensions: ['.svelte'], parser: ts.parser, svelteConfig },
    },
  },
  { files: ['browser/**', '*.config.js'], languageOptions: { globals: globals.node } },
);
