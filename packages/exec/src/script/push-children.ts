import type { Node } from 'web-tree-sitter'

/** So that they are popped from the first to the last. Not by spreading: there may be more than a call takes. */
export function pushChildren(open: Node[], { children }: Node): void {
  for (let index = children.length - 1; index >= 0; index--) open.push(children[index]!)
}
