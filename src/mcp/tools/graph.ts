import { z } from 'zod'
import {
  EntityType,
  GraphEntitiesQuery,
  type GraphEntity,
  type GraphRelation,
  RelationType,
} from '../../contract/gateway/graph.js'
import { LIMITS } from '../../contract/limits.js'
import { uuid } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { counted } from '../../lib/text/counted.js'
import { fitting } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { ToolError } from '../failure.js'
import { cursor, maxTokens, nextCursor, space } from '../fields.js'
import { absenceIn, indexStateOf } from '../index-state.js'
import type { SpaceRef } from '../spaces.js'
import { READS, type ToolCall, tool } from '../tool.js'

const { depth } = LIMITS.traversal

const Entity = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: EntityType,
  aliases: z.array(z.string()),
  passages: z.int().describe('number of passages that mention the entity'),
  distance: z.int().describe('distance from the start entity, in relations'),
})

const Relation = z.strictObject({ from: z.string(), type: RelationType, to: z.string(), confidence: z.number() })

export const graph = tool({
  name: 'graph',
  title: 'Entities and relations',
  description:
    'Find people, organizations, products, terms and dates in the documents, and their relations. Give `query` to find entities by name; give `entity` (an id) to get its relations.',
  input: z.strictObject({
    space,
    query: GraphEntitiesQuery.shape.query.describe('Part of the name.'),
    type: EntityType.optional(),
    entity: uuid.optional().describe('Id of the start entity.'),
    depth: z
      .int()
      .min(depth.min)
      .max(depth.max)
      .default(1)
      .describe('Maximum distance from the start entity, in relations.'),
    maxTokens,
    cursor,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      entities: z.array(Entity),
      relations: z.array(Relation),
      isTruncated: z.boolean(),
      leftOut: z.int().describe('number of entities and relations that did not fit'),
      degradedReasons: z.array(z.string()),
      nextCursor,
    }),
  annotations: READS,
  run: async (args, call) => {
    if (args.entity !== undefined && (args.query !== undefined || args.cursor !== undefined))
      throw new ToolError('invalid-request', 'entity excludes query and cursor', 'Give either query or entity.')
    const ref = await call.spaces.named(args.space)
    // Read before the graph, which does not contain documents published meanwhile.
    const index = await indexStateOf(call.api, ref.id)
    const found = await (args.entity === undefined ? listed(call, ref, args) : around(call, ref, args.entity, args))
    const writer = new Writer()
    for (const reason of found.degradedReasons) writer.line(`The graph may be incomplete: ${reason}.`)
    writer.line(
      `${counted(found.entities.length, 'entity', 'entities')}, ${counted(found.relations.length, 'relation')}`,
    )
    if (found.entities.length === 0)
      writer.line(await absenceIn(call.api, ref.id, 'No entity was found.', { index, degraded: found.degradedReasons }))
    const lines = [
      ...found.entities.map(
        ({ id, name, type, passages }) => `${oneLine(name)} (${type}, ${counted(passages, 'passage')}, ${id})`,
      ),
      ...found.relations.map(({ from, type, to }) => `${oneLine(from)} —${type}→ ${oneLine(to)}`),
    ]
    if (lines.length > 0) writer.content(lines.join('\n'))
    if (found.leftOut > 0) writer.line(`${found.leftOut} more did not fit: give a larger maxTokens.`)
    else if (found.isTruncated) writer.line('The result is truncated.')
    if (found.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${found.nextCursor}.`)
    return { text: writer.text(), data: { space: ref.slug, ...found } }
  },
})

interface Asked {
  query?: string | undefined
  type?: EntityType | undefined
  cursor?: string | undefined
  depth: number
  maxTokens: number
}

async function listed({ api }: ToolCall, { id }: SpaceRef, { query, type, cursor: at, maxTokens: budget }: Asked) {
  const page = (limit: number) =>
    api.request('GET /knowledge-spaces/{id}/graph/entities', {
      path: { id },
      query: { limit, ...defined({ query, type, cursor: at }) },
    })
  const whole = await page(LIMITS.graphPage.default)
  const count = fitting(whole.items, budget, textOf)
  const { items, nextCursor: next } = count === whole.items.length ? whole : await page(count)
  return {
    entities: items.map(entityOf),
    relations: [],
    isTruncated: next !== undefined,
    leftOut: 0,
    degradedReasons: whole.degradedReasons ?? [],
    nextCursor: next,
  }
}

async function around(
  { api }: ToolCall,
  { id }: SpaceRef,
  entityId: string,
  { depth: steps, maxTokens: budget }: Asked,
) {
  const found = await api.request('GET /knowledge-spaces/{id}/graph/traverse', {
    path: { id },
    query: { entityId, depth: steps },
  })
  const names = new Map(found.entities.map((entity) => [entity.id, entity.name]))
  const entities = found.entities.slice(0, fitting(found.entities, budget / 2, textOf)).map(entityOf)
  const all = found.relations.map((relation) => relationOf(relation, names))
  const relations = all.slice(
    0,
    fitting(all, budget / 2, ({ from, to }) => from + to),
  )
  return {
    entities,
    relations,
    isTruncated: found.truncated,
    leftOut: found.entities.length - entities.length + all.length - relations.length,
    degradedReasons: found.degradedReasons ?? [],
    nextCursor: undefined,
  }
}

function textOf({ name, aliases }: GraphEntity): string {
  return name + aliases.join()
}

function entityOf({ id, name, type, aliases, sourceNodeIds, depth: distance }: GraphEntity) {
  return { id, name, type, aliases, passages: sourceNodeIds.length, distance }
}

function relationOf({ subjectEntityId, objectEntityId, type, confidence }: GraphRelation, names: Map<string, string>) {
  const from = names.get(subjectEntityId) ?? subjectEntityId
  return { from, type, to: names.get(objectEntityId) ?? objectEntityId, confidence }
}
