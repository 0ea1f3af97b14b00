import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import {
  buildTraversalTree,
  ENTITY_COLUMNS,
  formatDot,
  RELATION_COLUMNS,
  resolveEntity,
  type TraversalNode,
} from '../../cli/graph.js'
import { FORMATS } from '../../cli/output-format.js'
import { drawTree } from '../../cli/tree.js'
import { paginate } from '../../client/pages.js'
import { LIMITS } from '../../contract/limits.js'
import { ENTITY_TYPES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const { depth, fanout, maxNodes, timeoutMs } = LIMITS.traversal

interface EntityFlags {
  limit?: number | undefined
  all: boolean
  cursor?: string | undefined
  type?: (typeof ENTITY_TYPES)[number] | undefined
  match?: string | undefined
  format?: string | undefined
}

export default class Graph extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the entities of a space, or follow the relations of one'
  static override examples = [
    '<%= config.bin %> graph --type person --match keller --space example-space',
    '<%= config.bin %> graph "Project Falcon" --space example-space',
    '<%= config.bin %> graph "Project Falcon" --depth 1 --format dot --space example-space > falcon.dot',
  ]
  static override args = { entity: Args.string({ description: 'id or name of an entity' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    type: Flags.option({ options: ENTITY_TYPES, description: 'list only entities of this type' })(),
    match: Flags.string({ helpValue: 'text', description: 'list only entities whose name contains this text' }),
    format: Flags.string({ helpGroup: 'COMMON', options: [...FORMATS, 'dot'], description: 'output format' }),
    depth: Flags.integer({ helpValue: 'n', description: `maximum steps, up to ${depth.max}` }),
    fanout: Flags.integer({
      helpValue: 'n',
      description: `maximum relations followed for an entity, up to ${fanout.max}`,
    }),
    'max-nodes': Flags.integer({ helpValue: 'n', description: `maximum entities, up to ${maxNodes.max}` }),
    within: Flags.integer({ helpValue: 'ms', description: `timeout in milliseconds, up to ${timeoutMs.max}` }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Graph)
    const { id } = await this.space()
    if (args.entity === undefined) return await this.listEntities(id, flags)
    if ((flags.type ?? flags.match) !== undefined)
      throw usageError('`--type` and `--match` select from the list: give no ENTITY')
    const client = await this.client()
    const entityId = await resolveEntity(client, id, args.entity, this.dirs.cache)
    const found = await client.request('GET /knowledge-spaces/{id}/graph/traverse', {
      path: { id },
      query: {
        entityId,
        ...omitUndefined({
          depth: flags.depth,
          fanout: flags.fanout,
          maxNodes: flags['max-nodes'],
          timeoutMs: flags.within,
        }),
      },
    })
    this.reportDegradation(found)
    if (flags.format === 'dot') this.out.text(formatDot(found))
    else if (this.out.format === 'json') this.out.json(found)
    else if (this.out.format === 'table') this.drawTraversal(buildTraversalTree(found))
    else await this.printRelations(found.relations)
    if (!found.truncated) return
    const limitFlags = found.metrics.timedOut ? '`--within`' : '`--fanout` or `--max-nodes`'
    this.out.note(`There is more: give a greater ${limitFlags}.`)
  }

  private async listEntities(id: string, flags: EntityFlags): Promise<void> {
    if (flags.format === 'dot') throw usageError('`--format dot` draws the relations of one entity', 'give ENTITY')
    const client = await this.client()
    const filter = omitUndefined({ type: flags.type, query: flags.match })
    const items = paginate(
      async (page) => {
        const query = { ...filter, ...page }
        return this.reportDegradation(
          await client.request('GET /knowledge-spaces/{id}/graph/entities', { path: { id }, query }),
        )
      },
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(items, { columns: ENTITY_COLUMNS, empty: 'No entities were found.' })
  }

  private drawTraversal(root: TraversalNode | undefined): void {
    if (root === undefined) return
    this.out.line(formatLabel(root))
    const options = { label: formatLabel, children: (node: TraversalNode) => node.children, unicode: this.out.unicode }
    for (const line of drawTree(root.children, options)) this.out.line(line)
  }

  private async printRelations<T>(relations: readonly T[]): Promise<void> {
    await this.out.list(relations, { columns: RELATION_COLUMNS, empty: 'No relations were found.' })
  }
}

function formatLabel({ entity, relationLabel }: TraversalNode): string {
  return `${relationLabel === undefined ? '' : `${relationLabel}: `}${entity.name} (${entity.type})`
}
