/** Draws nodes and their descendants, one line each. */
export function drawTree<T>(
  nodes: readonly T[],
  options: { label: (node: T) => string; children: (node: T) => readonly T[]; unicode: boolean },
  indent = '',
): string[] {
  const [branch, corner, line] = options.unicode ? ['├── ', '└── ', '│   '] : ['|-- ', '`-- ', '|   ']
  return nodes.flatMap((node, index) => {
    const isLast = index === nodes.length - 1
    const childLines = drawTree(options.children(node), options, indent + (isLast ? '    ' : line))
    return [indent + (isLast ? corner : branch) + options.label(node), ...childLines]
  })
}
