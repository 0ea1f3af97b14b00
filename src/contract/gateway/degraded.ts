import { z } from 'zod'
import { isoDateTime } from '../primitives.js'
import { DEGRADED_CLASSES, DEGRADED_PARTS } from '../values.js'

/** Something that an answer had to do without, and why. */
export const Degradation = z
  .strictObject({
    /** what did not do its work */
    part: z.enum(DEGRADED_PARTS),
    class: z.enum(DEGRADED_CLASSES),
    /** one sentence, without anything that a provider sent */
    reason: z.string(),
  })
  .meta({ id: 'Degradation' })
export type Degradation = z.output<typeof Degradation>

/** An addition of ours, there only while what an answer is made of is not whole. */
export const notWhole = {
  degradedReasons: z
    .array(z.string())
    .optional()
    .describe('why the answer may lack something; absent when it is whole'),
}

/** What work on a whole space tells of its provider and its times. */
export const spaceWork = {
  /** of the provider's last failure, while it waits and where it failed */
  error: z.string().optional(),
  errorClass: z.enum(DEGRADED_CLASSES).optional(),
  nextAttemptAt: isoDateTime.optional(),
  createdAt: isoDateTime,
  updatedAt: isoDateTime,
  completedAt: isoDateTime.optional(),
}
