/** Draws one part of the window over a recorded world. */
import { render } from '@testing-library/svelte';
import type { Component, ComponentProps } from 'svelte';
import { Workspace } from '../app/workspace.svelte';
import type { UiClient } from '../ipc/client';
import { recordedClient } from '../ipc/recorded';
import type { Host } from '../ipc/recorded/host';
import { world } from '../ipc/recorded/worlds';
import Stage from './Stage.svelte';

export interface Scene {
  workspace: Workspace;
  client: UiClient;
  host: Host;
}

/** The window as it is after its start, in the recorded world of that name. */
export async function setUp(name = 'mock'): Promise<Scene> {
  const { client, host } = recordedClient(world(name));
  const workspace = new Workspace(client, await client.start());
  await workspace.load();
  return { workspace, client, host };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a part's properties are checked by `ComponentProps`.
export function draw<Part extends Component<any>>({ workspace }: Scene, part: Part, given: ComponentProps<Part>) {
  const drawn = render(Stage, { workspace, part: part as never, given });
  const redraw = (next: ComponentProps<Part>) => drawn.rerender({ workspace, part: part as never, given: next });
  return { ...drawn, redraw };
}
