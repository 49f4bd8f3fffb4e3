import { render } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BlockReader } from './blocks';
import Markdown from './Markdown.svelte';
import { SheetKeeper } from './sheets';

const PARAGRAPH = `${'word '.repeat(60)}\n\n`;
const paragraphs = (count: number) => Array.from({ length: count }, (_, at) => `${at} ${PARAGRAPH}`).join('');

describe('sheets', () => {
  it('hold every block once, in order, and stay the same while others grow', () => {
    const reader = new BlockReader();
    const keeper = new SheetKeeper();
    const short = keeper.read(reader.read(paragraphs(80), false));
    const long = keeper.read(reader.read(paragraphs(200), false));
    expect(long.flatMap(({ blocks }) => blocks)).toEqual(reader.blocks);
    expect(long.length).toBeGreaterThan(short.length);
    expect(short.slice(0, -1).every((sheet, at) => sheet === long[at])).toBe(true);
    expect(long.map(({ settled }) => settled)).toEqual(long.map((_, at) => at < long.length - 1));
  });

  it('have the same numbers however the message was read', () => {
    const grown = new BlockReader();
    const text = paragraphs(200);
    for (let end = 0; end < text.length; end += 1_000) grown.read(text.slice(0, end), false);
    const firsts = (blocks: BlockReader['blocks']) =>
      new SheetKeeper().read(blocks).map(({ id, blocks: [first] }) => [id, first?.token.raw]);
    expect(firsts(grown.read(text, true))).toEqual(firsts(new BlockReader().read(text, true)));
  });
});

/** An engine that says what is near when it is told to. */
class Observer {
  static readonly all: Observer[] = [];
  private readonly seen = new Set<Element>();
  constructor(private readonly tell: (entries: Partial<IntersectionObserverEntry>[]) => void) {
    Observer.all.push(this);
  }
  observe = (element: Element) => void this.seen.add(element);
  unobserve = (element: Element) => void this.seen.delete(element);
  say(isNear: (element: Element) => boolean) {
    this.tell([...this.seen].map((target) => ({ target, isIntersecting: isNear(target) })));
  }
}

describe('of a long message', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  async function drawn(props: Record<string, unknown> = {}) {
    vi.stubGlobal('IntersectionObserver', Observer);
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue({ height: 300 } as DOMRect);
    const text = paragraphs(200);
    const shown = render(Markdown, { text, ...props });
    const sheets = () => [...shown.container.querySelectorAll<HTMLElement>('.sheet')];
    const say = async (isNear: (element: Element) => boolean) => {
      Observer.all.at(-1)?.say(isNear);
      await Promise.resolve();
      await new Promise((done) => setTimeout(done));
    };
    return { ...shown, text, sheets, say };
  }

  it('the sheets far from what is seen leave the page, keep their room, and come back', async () => {
    const { container, sheets, say } = await drawn();
    expect(sheets().every((sheet) => sheet.textContent !== '')).toBe(true);
    const [first, second] = sheets();
    await say((element) => element === first || element.matches('.md'));
    expect([first?.style.height, second?.style.height]).toEqual(['', '300px']);
    expect([first?.textContent !== '', second?.textContent]).toEqual([true, '']);
    await say(() => true);
    expect(container.querySelectorAll('p')).toHaveLength(200);
  });

  it('nothing but its room is kept while all of it is far away', async () => {
    const { container, sheets, say } = await drawn();
    await say(() => false);
    expect(container.querySelector<HTMLElement>('.md')?.style.height).toBe('300px');
    expect(sheets()).toEqual([]);
    await say(() => true);
    await say(() => true);
    expect(container.querySelectorAll('p')).toHaveLength(200);
  });

  it('what is looked for is drawn as a whole', async () => {
    const { container, rerender, text, say } = await drawn();
    await say((element) => element.matches('.md'));
    expect(container.querySelectorAll('p')).toHaveLength(0);
    await rerender({ text, isSought: true });
    expect(container.querySelectorAll('p')).toHaveLength(200);
  });

  it('chosen words stay', async () => {
    const { sheets, say } = await drawn();
    const chosen = sheets()[1]?.querySelector('p');
    if (!chosen) throw new Error('no paragraph');
    getSelection()?.selectAllChildren(chosen);
    await say((element) => element.matches('.md'));
    expect(sheets()[1]?.textContent).not.toBe('');
    expect(sheets()[2]?.textContent).toBe('');
  });
});
