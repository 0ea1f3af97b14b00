import { z } from 'zod'
import { LIMITS } from '../contract/limits.js'
import { TOKENS } from './budget.js'

/** Arguments and fields that several tools have. */

export const space = z
  .string()
  .min(1)
  .max(LIMITS.slug)
  .optional()
  .describe('Slug or id of the space. May be left out where there is only one; `spaces` lists them.')

/** Blanks find nothing, which would look like an answer. */
export const queryText = z.string().min(1).max(LIMITS.queryText).regex(/\S/, 'a question or words')

export const maxTokens = z
  .int()
  .min(TOKENS.min)
  .max(TOKENS.max)
  .default(TOKENS.default)
  .describe('About how many tokens the answer may take. What does not fit is told, with a cursor to go on.')

export const cursor = z
  .string()
  .min(1)
  .max(LIMITS.cursor)
  .optional()
  .describe('nextCursor of the last answer, with the same other arguments.')

export const document = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe('A document: its id, its filename, its path in the file system, or a ks:// address.')

export const nextCursor = z.string().optional().describe('there is more; absent at the end')

export const indexState = z
  .strictObject({
    isCurrent: z.boolean().describe('everything that could be read of what was sent to the space can be found'),
    pendingDocuments: z.int().describe('documents that are still being read; at least this many'),
    failedDocuments: z.int().describe('documents that could not be read; at least this many'),
    reasons: z.array(z.string()).describe('why something may be missing, failed documents too'),
  })
  .describe(
    'How current the index is: nothing found in a current one means that all documents were searched in these words, where degradedReasons is empty.',
  )

export const place = {
  document: z.string().describe('filename'),
  documentId: z.string(),
  uri: z.string().describe('address for `read`'),
  section: z.array(z.string()),
  page: z.int().optional(),
  start: z.int().optional().describe('offset of the first character in the document'),
  end: z.int().optional(),
}
