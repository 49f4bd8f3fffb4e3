import { screen } from '@testing-library/svelte';
import { afterEach, expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import DataSection from './DataSection.svelte';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15', true],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15', false],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36', false],
])('has a switch of notifications only where there are some: %s', async (agent, has) => {
  vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(agent);
  draw(await setUp(), DataSection, {});
  const box = screen.queryByRole('checkbox', { name: /^Notify me when/ });
  expect([box !== null, screen.queryByText(/shows no notifications/) !== null]).toEqual([has, !has]);
});
