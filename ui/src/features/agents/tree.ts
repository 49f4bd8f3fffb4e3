import type { AgentNode } from '../../ipc/bindings';

export interface Branch {
  node: AgentNode;
  kids: Branch[];
}

/** The tree of a flat list in which parents stand before children; a child of nobody known becomes a root. */
export function tree(nodes: readonly AgentNode[]): Branch[] {
  const roots: Branch[] = [];
  const known = new Map<string, Branch>();
  for (const node of nodes) {
    const branch: Branch = { node, kids: [] };
    const parent = node.parent === null ? undefined : known.get(node.parent);
    (parent?.kids ?? roots).push(branch);
    known.set(node.session, branch);
  }
  return roots;
}

/** The branches as they stand on the screen, top to bottom, without what is below those that are folded. */
export function flat(branches: readonly Branch[], folded: ReadonlySet<string>): Branch[] {
  return branches.flatMap((branch) => [branch, ...(folded.has(branch.node.session) ? [] : flat(branch.kids, folded))]);
}

/** Where a key leads from the place of the list, and whether it folds or unfolds what is there; `null` where it does nothing. */
export function step(
  order: readonly Branch[],
  at: number,
  key: string,
  folded: ReadonlySet<string>,
): { at: number; turns: boolean } | null {
  const branch = order[at];
  if (!branch) return null;
  const isOpen = branch.kids.length > 0 && !folded.has(branch.node.session);
  const to = (place: number) => (order[place] ? { at: place, turns: false } : null);
  const turn = { at, turns: true };
  switch (key) {
    case 'ArrowDown':
      return to(at + 1);
    case 'ArrowUp':
      return to(at - 1);
    case 'Home':
      return to(0);
    case 'End':
      return to(order.length - 1);
    case 'ArrowRight':
      return isOpen ? to(at + 1) : branch.kids.length > 0 ? turn : null;
    case 'ArrowLeft':
      return isOpen ? turn : to(order.findIndex(({ kids }) => kids.includes(branch)));
    default:
      return null;
  }
}
