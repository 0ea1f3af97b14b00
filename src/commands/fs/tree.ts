import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import { ROOT_PATH, resolveVirtualPath } from '../../cli/fs-path.js'
import { drawTree } from '../../cli/tree.js'
import type { VirtualTree } from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'

const DEFAULT_LIMIT = 500
const ROOT_DEPTH = 3

export default class FsTree extends FsCommand {
  static override isPaged = true
  static override summary = 'show a folder of a space as a tree; without a path, all of them'
  static override examples = ['<%= config.bin %> fs tree /sources --depth 2 --space example-space']
  static override args = { path: Args.string({ default: ROOT_PATH, description: 'path of a folder (default /)' }) }
  static override flags = {
    ...spaceFlag,
    depth: Flags.integer({
      min: 1,
      helpValue: 'n',
      description: `maximum depth (default ${LIMITS.treeDepth}, the limit; ${ROOT_DEPTH} from the root)`,
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
    const path = resolveVirtualPath(args.path)
    const tree = await (await this.reader()).tree(path, {
      limit: flags.limit ?? (this.out.isTerminal ? DEFAULT_LIMIT : LIMITS.page.cap),
      depth: flags.depth ?? (path === ROOT_PATH ? ROOT_DEPTH : LIMITS.treeDepth),
    })
    if (this.out.format === 'json') this.out.json(tree)
    else if (this.out.format === 'table') this.drawLines(tree.root)
    else {
      await this.out.list(flatten(tree.root), {
        columns: [{ field: 'path' }],
        empty: `${path} is empty.`,
      })
    }
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
