import { z } from 'zod'
import { isoDateTime } from '../primitives.js'
import { DEGRADED_CLASSES, DEGRADED_PARTS } from '../values.js'

/** A part of an answer that failed, and the reason. */
export const Degradation = z
  .strictObject({
    /** The part that failed. */
    part: z.enum(DEGRADED_PARTS),
    class: z.enum(DEGRADED_CLASSES),
    /** One sentence, without text from a provider. */
    reason: z.string(),
  })
  .meta({ id: 'Degradation' })
export type Degradation = z.output<typeof Degradation>

/** Extension: present only while the data behind a result is incomplete. */
export const incompleteResult = {
  degradedReasons: z
    .array(z.string())
    .optional()
    .describe('reasons why the result may be incomplete; absent if it is complete'),
}

/** Fields that background tasks on a complete space share: last provider failure and times. */
export const spaceTaskFields = {
  /** The provider's last failure, while the task waits or after it failed. */
  error: z.string().optional(),
  errorClass: z.enum(DEGRADED_CLASSES).optional(),
  nextAttemptAt: isoDateTime.optional(),
  createdAt: isoDateTime,
  updatedAt: isoDateTime,
  completedAt: isoDateTime.optional(),
}
