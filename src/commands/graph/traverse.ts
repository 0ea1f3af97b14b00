import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import {
  buildTraversalTree,
  formatDot,
  RELATION_COLUMNS,
  RELATION_FIELDS,
  resolveEntity,
  type TraversalNode,
} from '../../cli/graph.js'
import { FORMATS } from '../../cli/output-format.js'
import { drawTree } from '../../cli/tree.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const { depth, fanout, maxNodes, timeoutMs } = LIMITS.traversal

export default class GraphTraverse extends BaseCommand {
  static override isPaged = true
  static override summary = 'follow relations from an entity'
  static override examples = [
    '<%= config.bin %> graph traverse "Project Falcon" --space example-space',
    '<%= config.bin %> graph traverse "Project Falcon" --depth 1 --format dot --space example-space > falcon.dot',
  ]
  static override args = { entity: Args.string({ required: true, description: 'id or name of an entity' }) }
  static override flags = {
    ...spaceFlag,
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
    const { args, flags } = await this.parse(GraphTraverse)
    const { id } = await this.space()
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

  private drawTraversal(root: TraversalNode | undefined): void {
    if (root === undefined) return
    this.out.line(formatLabel(root))
    const options = { label: formatLabel, children: (node: TraversalNode) => node.children, unicode: this.out.unicode }
    for (const line of drawTree(root.children, options)) this.out.line(line)
  }

  private async printRelations<T>(relations: readonly T[]): Promise<void> {
    const options = { columns: RELATION_COLUMNS, fields: RELATION_FIELDS, empty: 'No relations were found.' }
    await this.out.list(relations, options)
  }
}

function formatLabel({ entity, relationLabel }: TraversalNode): string {
  return `${relationLabel === undefined ? '' : `${relationLabel}: `}${entity.name} (${entity.type})`
}
