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

/** The branches as they stand on the screen, top to bottom, with their depth. */
export function flat(branches: readonly Branch[], depth = 0): { node: AgentNode; depth: number }[] {
  return branches.flatMap((branch) => [{ node: branch.node, depth }, ...flat(branch.kids, depth + 1)]);
}
