import { z } from 'zod'
import { count } from '../../contract/primitives.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { countFitting } from '../budget.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { formatCursor, parseCursor } from '../cursors.js'
import { cursorField, indexStateField, maxTokensField, nextCursorField } from '../fields.js'
import { getIndexState } from '../index-state.js'
import type { ToolSpace } from '../spaces.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'
import { formatUri } from '../uri.js'

/** Maximum number of spaces in one result, because the state of each is read. */
const SPACES_PER_PAGE = 25

const spaceSchema = z.strictObject({
  slug: z.string(),
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  documents: count,
  bytes: count,
  updatedAt: z.string(),
  uri: z.string(),
  index: indexStateField,
})

export const spaces = defineTool({
  name: 'spaces',
  title: 'List spaces',
  description:
    'List the knowledge spaces with their size and the state of their index. Call it first if you do not know which space to use.',
  input: z.strictObject({ maxTokens: maxTokensField, cursor: cursorField }),
  output: () => z.strictObject({ spaces: z.array(spaceSchema), nextCursor: nextCursorField }),
  annotations: READ_ONLY,
  run: async ({ maxTokens, cursor }, call) => {
    const all = await call.spaces.list()
    const offset = parseCursor(cursor, 'spaces')
    const page = all.slice(offset, offset + SPACES_PER_PAGE)
    const shown = page.slice(
      0,
      countFitting(page, maxTokens, ({ name, description = '' }) => name + description),
    )
    const results = await Promise.all(shown.map((space) => describeSpace(call, space)))
    const end = offset + shown.length
    const nextCursor = end < all.length ? formatCursor(end, 'spaces') : undefined
    const writer = new ToolTextWriter()
    if (results.length === 0)
      writer.line('There is no space yet. Create the first with `ks ingest PATH` or the tool `ingest`.')
    for (const { slug, name, description, documents, index } of results) {
      const reasons = index.reasons.length === 0 ? '' : `: ${index.reasons.join('; ')}`
      const state = `${index.isCurrent ? 'index current' : 'index NOT current'}${reasons}`
      writer.line(`${toOneLine(slug)}: ${pluralize(documents, 'document')}; ${state}`)
      writer.content(description === undefined ? name : `${name}: ${description}`)
    }
    if (nextCursor !== undefined) writer.line(`There is more: call again with cursor ${nextCursor}.`)
    return { text: writer.text(), data: { spaces: results, ...omitUndefined({ nextCursor }) } }
  },
})

async function describeSpace({ api }: ToolInvocation, { id, slug, name, description, updatedAt }: ToolSpace) {
  const { storage, projections } = await api.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
  return {
    slug,
    id,
    name,
    ...omitUndefined({ description }),
    documents: storage.documentCount,
    bytes: storage.rawDocumentBytes,
    updatedAt,
    uri: formatUri({ space: slug, path: '/sources' }),
    index: await getIndexState(api, id, projections.degraded),
  }
}
