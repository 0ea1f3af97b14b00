import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { instant } from '../primitives.js'

/** A day, or an instant with its offset. */
const dateOrInstant = z.union([z.iso.date(), instant], {
  error: 'a date like `2025-01-31` or an instant like `2025-01-31T08:00:00Z`',
})

/** Extension: only documents whose own metadata matches. */
export const DocumentFilter = z
  .strictObject({
    dateFrom: dateOrInstant.optional().describe('earliest date of the document'),
    dateTo: dateOrInstant.optional().describe('latest date of the document; a day includes its end, in UTC'),
    author: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe('text contained in the name of an author, ignoring case'),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}$/, {
        error: 'a language code like `en`, `de` or `en-GB`',
      })
      .optional()
      .describe('language of the document; `en` includes `en-GB`'),
    paths: z
      .array(z.string().min(1).max(LIMITS.filename))
      .min(1)
      .max(LIMITS.filterPaths)
      .optional()
      .describe(
        'file names or patterns with `*`, `?`, `[a-z]` and `**` (any folders); the last parts of a path are enough, `/` in front anchors the pattern',
      ),
  })
  .meta({ id: 'DocumentFilter' })
export type DocumentFilter = z.output<typeof DocumentFilter>
