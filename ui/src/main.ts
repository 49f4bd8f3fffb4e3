import './shared/styles/tokens.css';
import './shared/styles/fonts.css';
import './shared/styles/base.css';
import './shared/styles/primitives.css';
import './shared/styles/code.css';
import './shared/styles/terminal.css';
import './shared/markdown/markdown.css';
import { mount } from 'svelte';
import App from './app/App.svelte';
import { applyTheme } from './app/theme';
import { findClient } from './ipc/find';

applyTheme('system');
const target = document.getElementById('app');
if (target) void findClient().then((client) => mount(App, { target, props: { client } }));
