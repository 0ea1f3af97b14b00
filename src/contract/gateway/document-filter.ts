import { z } from 'zod'
import { instant } from '../primitives.js'

/** a day, or an instant with its offset */
const dateOrInstant = z.union([z.iso.date(), instant], {
  error: 'a date like `2025-01-31` or an instant like `2025-01-31T08:00:00Z`',
})

/** extension: only documents that say of themselves what is asked for */
export const DocumentFilter = z
  .strictObject({
    dateFrom: dateOrInstant.optional().describe("the document's own date is not before this"),
    dateTo: dateOrInstant
      .optional()
      .describe("the document's own date is not after this; a day counts to its end, in UTC"),
    author: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe('one of its authors has this in the name, in any case'),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}$/, {
        error: 'the code of a language, like `en`, `de` or `en-GB`',
      })
      .optional()
      .describe('its language: `en` takes `en-GB`, too'),
  })
  .meta({ id: 'DocumentFilter' })
export type DocumentFilter = z.output<typeof DocumentFilter>
