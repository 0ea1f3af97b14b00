import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { drawTree } from '../../cli/tree.js'
import type { VirtualTree } from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'

const DEFAULT_LIMIT = 500

export default class FsTree extends BaseCommand {
  static override isPaged = true
  static override summary = 'show a folder of a space as a tree'
  static override examples = ['<%= config.bin %> fs tree /sources --depth 2 --space example-space']
  static override args = { path: Args.string({ required: true, description: 'path that begins with a namespace' }) }
  static override flags = {
    ...spaceFlag,
    depth: Flags.integer({
      min: 1,
      helpValue: 'n',
      default: LIMITS.treeDepth,
      description: `maximum depth (default ${LIMITS.treeDepth}, the limit)`,
    }),
    limit: Flags.integer({
      char: 'n',
      min: 1,
      helpValue: 'n',
      description: `maximum entries (default ${DEFAULT_LIMIT} at a terminal, else ${LIMITS.page.cap})`,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsTree)
    const path = parseVirtualPath(args.path)
    const { id } = await this.space()
    const client = await this.client()
    const tree = await client.request('GET /knowledge-spaces/{id}/fs/tree', {
      path: { id },
      query: {
        path,
        limit: flags.limit ?? (this.out.isTerminal ? DEFAULT_LIMIT : LIMITS.page.cap),
        depth: flags.depth,
      },
    })
    if (this.out.format === 'json') this.out.json(tree)
    else if (this.out.format === 'table') this.drawLines(tree.root)
    else {
      await this.out.list(flatten(tree.root), {
        columns: [{ field: 'path' }],
        fields: ['kind', 'name', 'metadata', 'resourceType', 'targetId', 'version', 'truncated'],
        empty: `${path} is empty.`,
      })
    }
    this.reportDegradation(tree)
    if (tree.truncated) this.out.note('There is more: give a greater `--limit`, or a deeper path.')
  }

  private drawLines(root: VirtualTree): void {
    this.out.line(root.path)
    const lines = drawTree(root.children ?? [], {
      label: (node) => (node.kind === 'directory' ? `${node.name}/` : node.name),
      children: (node) => node.children ?? [],
      unicode: this.out.unicode,
    })
    for (const line of lines) this.out.line(line)
  }
}

function* flatten(node: VirtualTree): Generator<Omit<VirtualTree, 'children'>> {
  const { children, ...rest } = node
  yield rest
  for (const child of children ?? []) yield* flatten(child)
}
