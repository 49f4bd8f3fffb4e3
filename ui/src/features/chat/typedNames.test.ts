import { expect, it } from 'vitest';
import { typedNames } from './typedNames';

it('finds names that were typed, with what may stand behind them', () => {
  expect(typedNames('Look at @src/main.rs, and @README.md:12.', [])).toEqual([
    ['src/main.rs,', 'src/main.rs'],
    ['README.md:12.', 'README.md:12', 'README.md'],
  ]);
  expect(typedNames('@a.rs @b.rs me@example.org', ['a.rs'])).toEqual([['b.rs']]);
  expect(typedNames('no name @ all', [])).toEqual([]);
});
