import { expect, it } from 'vitest';
import { documentOf, isMarkdown } from './document';

it('knows documents by their endings', () => {
  expect(['a.md', 'B.Markdown', 'md', 'a.mdx', 'a.rs'].filter(isMarkdown)).toEqual(['a.md', 'B.Markdown']);
});

it('sets what stands in front of a document as it is', () => {
  expect(documentOf('# A\n---\nb')).toBe('# A\n---\nb');
  expect(documentOf('---\nname: a\n---\n# A')).toBe('```yaml\nname: a\n```\n# A');
  expect(documentOf('---\nname: a```b\n---\n')).toBe('````yaml\nname: a```b\n````\n');
});
