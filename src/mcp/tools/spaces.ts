import { z } from 'zod'
import { count } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { counted } from '../../lib/text/counted.js'
import { fitting } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { cursorAt, offsetOf } from '../cursors.js'
import { cursor, indexState, maxTokens, nextCursor } from '../fields.js'
import { indexStateOf } from '../index-state.js'
import type { SpaceRef } from '../spaces.js'
import { READS, type ToolCall, tool } from '../tool.js'
import { uriOf } from '../uri.js'

/** Spaces whose state is read for one result. */
const PAGE = 25

const Space = z.strictObject({
  slug: z.string(),
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  documents: count,
  bytes: count,
  updatedAt: z.string(),
  uri: z.string(),
  index: indexState,
})

export const spaces = tool({
  name: 'spaces',
  title: 'List spaces',
  description:
    'List the knowledge spaces with their size and the state of their index. Call it first if you do not know which space to use.',
  input: z.strictObject({ maxTokens, cursor }),
  output: () => z.strictObject({ spaces: z.array(Space), nextCursor }),
  annotations: READS,
  run: async ({ maxTokens: budget, cursor: given }, call) => {
    const all = await call.spaces.all()
    const offset = offsetOf(given, 'spaces')
    const page = all.slice(offset, offset + PAGE)
    const shown = page.slice(
      0,
      fitting(page, budget, ({ name, description = '' }) => name + description),
    )
    const data = await Promise.all(shown.map((space) => described(call, space)))
    const end = offset + shown.length
    const next = end < all.length ? cursorAt(end, 'spaces') : undefined
    const writer = new Writer()
    if (data.length === 0)
      writer.line('There is no space yet. Create the first with `ks ingest PATH` or the tool `ingest`.')
    for (const { slug, name, description, documents, index } of data) {
      const why = index.reasons.length === 0 ? '' : `: ${index.reasons.join('; ')}`
      const state = `${index.isCurrent ? 'index current' : 'index NOT current'}${why}`
      writer.line(`${oneLine(slug)}: ${counted(documents, 'document')}; ${state}`)
      writer.content(description === undefined ? name : `${name}: ${description}`)
    }
    if (next !== undefined) writer.line(`There is more: call again with cursor ${next}.`)
    return {
      text: writer.text(),
      data: { spaces: data, ...defined({ nextCursor: next }) },
    }
  },
})

async function described({ api }: ToolCall, { id, slug, name, description, updatedAt }: SpaceRef) {
  const { storage, projections } = await api.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
  return {
    slug,
    id,
    name,
    ...defined({ description }),
    documents: storage.documentCount,
    bytes: storage.rawDocumentBytes,
    updatedAt,
    uri: uriOf({ space: slug, path: '/sources' }),
    index: await indexStateOf(api, id, projections.degraded),
  }
}
