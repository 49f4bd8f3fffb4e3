/** True in development and in builds for tests; false in what the desktop binary embeds. */
declare const __RECORDED__: boolean;

declare module '*.css';
