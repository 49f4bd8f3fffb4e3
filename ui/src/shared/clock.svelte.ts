import { createSubscriber } from 'svelte/reactivity';

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

/** The time in milliseconds since 1970. Read in a component it ticks every second, and only while it is shown. */
export function now(): number {
  subscribe();
  return clock.read();
}

/** Recorded sessions and tests stand still at a moment of their own. */
export const clock = { read: () => Date.now() };
