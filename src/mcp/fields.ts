import { z } from 'zod'
import { LIMITS } from '../contract/limits.js'
import { TOKEN_LIMITS } from './budget.js'

/** Arguments and fields that several tools share. */

export const spaceField = z
  .string()
  .min(1)
  .max(LIMITS.slug)
  .optional()
  .describe('Slug or id of the space. Optional if there is only one; `spaces` lists them.')

/** Blank text finds nothing, which would look like a result. */
export const queryField = z.string().min(1).max(LIMITS.queryText).regex(/\S/, 'a question or search terms')

export const maxTokensField = z
  .int()
  .min(TOKEN_LIMITS.min)
  .max(TOKEN_LIMITS.max)
  .default(TOKEN_LIMITS.default)
  .describe(
    'Approximate maximum size of the result in tokens. The result reports omitted content, with a cursor or offset to continue.',
  )

export const cursorField = z
  .string()
  .min(1)
  .max(LIMITS.cursor)
  .optional()
  .describe('nextCursor of the previous result; keep the other arguments.')

export const documentField = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe('Document: its id, filename, path in the virtual file system, or ks:// address.')

export const nextCursorField = z.string().optional().describe('cursor of the next page; absent on the last page')

export const indexStateField = z
  .strictObject({
    isCurrent: z.boolean().describe('whether all readable documents of the space can be found'),
    pendingDocuments: z.int().describe('minimum number of documents still being read'),
    failedDocuments: z.int().describe('minimum number of documents that could not be read'),
    reasons: z.array(z.string()).describe('reasons why content may be missing, including failed documents'),
  })
  .describe(
    'State of the index. An empty result covers all documents only if isCurrent is true and degradedReasons is empty.',
  )

export const locationFields = {
  document: z.string().describe('filename'),
  documentId: z.string(),
  uri: z.string().describe('address for `read`'),
  section: z.array(z.string()),
  page: z.int().optional(),
  start: z.int().optional().describe('offset of the first character in the document'),
  end: z.int().optional(),
}
