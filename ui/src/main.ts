import './shared/styles/tokens.css';
import './shared/styles/fonts.css';
import './shared/styles/base.css';
import './shared/styles/primitives.css';
import { mount } from 'svelte';
import App from './app/App.svelte';

const target = document.getElementById('app');
if (target) mount(App, { target });
