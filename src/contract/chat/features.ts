import { z } from 'zod'
import { CHAT_LIMITS } from './limits.js'

/** What an application can do beside talking: settings of its images and of its voice. */

export const TransferMethod = z.enum(['remote_url', 'local_file'])

/** Images with messages; off, a message with images is refused. */
export const Vision = z
  .strictObject({
    enabled: z.boolean(),
    /** images with one message */
    numberLimits: z.int().min(1).max(CHAT_LIMITS.imagesPerMessage),
    /** how closely the model is asked to look */
    detail: z.enum(['low', 'high', 'auto']),
    transferMethods: z.array(TransferMethod).min(1),
  })
  .meta({ id: 'ChatVision' })
export type Vision = z.output<typeof Vision>
