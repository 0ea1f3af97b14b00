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
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { countFitting } from '../budget.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { ToolError } from '../failure.js'
import { cursorField, maxTokensField, nextCursorField, spaceField } from '../fields.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import type { ToolSpace } from '../spaces.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'

const { depth } = LIMITS.traversal

const entitySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: EntityType,
  aliases: z.array(z.string()),
  passages: z.int().describe('number of passages that mention the entity'),
  distance: z.int().describe('distance from the start entity, in relations'),
})

const relationSchema = z.strictObject({ from: z.string(), type: RelationType, to: z.string(), confidence: z.number() })

export const graph = defineTool({
  name: 'graph',
  title: 'Entities and relations',
  description:
    'Find people, organizations, products, terms and dates in the documents, and their relations. Give `query` to find entities by name; give `entity` (an id) to get its relations.',
  input: z.strictObject({
    space: spaceField,
    query: GraphEntitiesQuery.shape.query.describe('Part of the name.'),
    type: EntityType.optional(),
    entity: uuid.optional().describe('Id of the start entity.'),
    depth: z
      .int()
      .min(depth.min)
      .max(depth.max)
      .default(1)
      .describe('Maximum distance from the start entity, in relations.'),
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      entities: z.array(entitySchema),
      relations: z.array(relationSchema),
      isTruncated: z.boolean(),
      leftOut: z.int().describe('number of entities and relations that did not fit'),
      degradedReasons: z.array(z.string()),
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async (args, call) => {
    if (args.entity !== undefined && (args.query !== undefined || args.cursor !== undefined))
      throw new ToolError('invalid-request', 'entity excludes query and cursor', 'Give either query or entity.')
    const space = await call.spaces.resolve(args.space)
    // Read before the graph, which does not contain documents published meanwhile.
    const index = await getIndexState(call.api, space.id)
    const page = await (args.entity === undefined
      ? listGraphEntities(call, space, args)
      : traverseFrom(call, space, args.entity, args))
    const writer = new ToolTextWriter()
    for (const reason of page.degradedReasons) writer.line(`The graph may be incomplete: ${reason}.`)
    writer.line(
      `${pluralize(page.entities.length, 'entity', 'entities')}, ${pluralize(page.relations.length, 'relation')}`,
    )
    if (page.entities.length === 0)
      writer.line(
        await describeAbsenceInSpace(call.api, space.id, 'No entity was found.', {
          index,
          degraded: page.degradedReasons,
        }),
      )
    const lines = [
      ...page.entities.map(
        ({ id, name, type, passages }) => `${toOneLine(name)} (${type}, ${pluralize(passages, 'passage')}, ${id})`,
      ),
      ...page.relations.map(({ from, type, to }) => `${toOneLine(from)} —${type}→ ${toOneLine(to)}`),
    ]
    if (lines.length > 0) writer.content(lines.join('\n'))
    if (page.leftOut > 0) writer.line(`${page.leftOut} more did not fit: give a larger maxTokens.`)
    else if (page.isTruncated) writer.line('The result is truncated.')
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    return { text: writer.text(), data: { space: space.slug, ...page } }
  },
})

interface GraphRequest {
  query?: string | undefined
  type?: EntityType | undefined
  cursor?: string | undefined
  depth: number
  maxTokens: number
}

async function listGraphEntities(
  { api }: ToolInvocation,
  { id }: ToolSpace,
  { query, type, cursor, maxTokens }: GraphRequest,
) {
  const fetchPage = (limit: number) =>
    api.request('GET /knowledge-spaces/{id}/graph/entities', {
      path: { id },
      query: { limit, ...omitUndefined({ query, type, cursor }) },
    })
  const firstPage = await fetchPage(LIMITS.graphPage.default)
  const count = countFitting(firstPage.items, maxTokens, toEntityText)
  const { items, nextCursor } = count === firstPage.items.length ? firstPage : await fetchPage(count)
  return {
    entities: items.map(toEntityResult),
    relations: [],
    isTruncated: nextCursor !== undefined,
    leftOut: 0,
    degradedReasons: firstPage.degradedReasons ?? [],
    nextCursor,
  }
}

async function traverseFrom(
  { api }: ToolInvocation,
  { id }: ToolSpace,
  entityId: string,
  { depth, maxTokens }: GraphRequest,
) {
  const page = await api.request('GET /knowledge-spaces/{id}/graph/traverse', {
    path: { id },
    query: { entityId, depth },
  })
  const names = new Map(page.entities.map((entity) => [entity.id, entity.name]))
  const entities = page.entities.slice(0, countFitting(page.entities, maxTokens / 2, toEntityText)).map(toEntityResult)
  const allRelations = page.relations.map((relation) => toRelationResult(relation, names))
  const relations = allRelations.slice(
    0,
    countFitting(allRelations, maxTokens / 2, ({ from, to }) => from + to),
  )
  return {
    entities,
    relations,
    isTruncated: page.truncated,
    leftOut: page.entities.length - entities.length + allRelations.length - relations.length,
    degradedReasons: page.degradedReasons ?? [],
    nextCursor: undefined,
  }
}

function toEntityText({ name, aliases }: GraphEntity): string {
  return name + aliases.join()
}

function toEntityResult({ id, name, type, aliases, sourceNodeIds, depth: distance }: GraphEntity) {
  return { id, name, type, aliases, passages: sourceNodeIds.length, distance }
}

function toRelationResult(
  { subjectEntityId, objectEntityId, type, confidence }: GraphRelation,
  names: Map<string, string>,
) {
  const from = names.get(subjectEntityId) ?? subjectEntityId
  return { from, type, to: names.get(objectEntityId) ?? objectEntityId, confidence }
}
