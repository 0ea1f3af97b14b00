import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count } from '../../contract/primitives.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { ToolError } from '../failure.js'
import { documentField, spaceField } from '../fields.js'
import { defineTool } from '../tool.js'
import { resolveDocumentIds } from './search.js'

export const refresh = defineTool({
  name: 'refresh',
  title: 'Read documents again',
  description:
    'Update documents: read them again from their stored files, or crawl a web source for changed pages. Use it if results are stale or an index is not current; the old version is used until the new one is published.',
  input: z.strictObject({
    space: spaceField,
    documents: z.array(documentField).max(LIMITS.activeIds).optional().describe('Documents to read again.'),
    sourceId: z.uuid().optional().describe('Id of a web source to crawl for changes.'),
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      queued: count.describe('number of documents queued for reading'),
      notFound: z.array(z.string()),
      pages: z.record(z.string(), count).optional().describe('number of pages of the source by result'),
    }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  run: async (args, call) => {
    const space = await call.spaces.resolve(args.space)
    if ((args.documents === undefined) === (args.sourceId === undefined))
      throw new ToolError('invalid-request', 'give either documents or sourceId', 'Give one of the two.')
    if (args.sourceId !== undefined) {
      const path = { id: space.id, sourceId: args.sourceId }
      const crawl = await call.api.request('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', { path })
      const { imported = 0, replaced = 0, skipped = 0, failed = 0 } = crawl
      const pages = { imported, replaced, skipped, failed }
      const text = `Pages: ${imported} new, ${replaced} changed, ${skipped} unchanged, ${failed} failed.`
      return { text, data: { space: space.slug, queued: imported + replaced, notFound: [], pages } }
    }
    const documentIds = await resolveDocumentIds(call, args.documents ?? [], space.slug)
    const { items } = await call.api.request('POST /knowledge-spaces/{id}/documents/bulk/reindex', {
      path: { id: space.id },
      body: { documentIds },
    })
    const notFound = items.flatMap((item) => (item.status === 'not_found' ? [item.documentId] : []))
    const queued = items.length - notFound.length
    const missingText = notFound.length === 0 ? '' : ` Not found: ${notFound.join(', ')}.`
    return {
      text: `${pluralize(queued, 'document')} ${queued === 1 ? 'is' : 'are'} queued to be read again.${missingText}`,
      data: { space: space.slug, queued, notFound },
    }
  },
})
