import { z } from 'zod'
import { ModelReference } from '../primitives.js'
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

/** Names of voices and languages reach programs as arguments: nothing that looks like an option or a path. */
export const voiceName = z
  .string()
  .max(CHAT_LIMITS.voice)
  .regex(/^([A-Za-z0-9][\w .+:-]*)?$/, 'a name of letters, digits, spaces and `_ . + : -`')

/** Writing down what end users say. */
export const SpeechToText = z
  .strictObject({
    enabled: z.boolean(),
    /** null: the daemon's default */
    model: ModelReference.nullable(),
    /** what is spoken; empty: the model finds out */
    language: voiceName,
  })
  .meta({ id: 'ChatSpeechToText' })

/** Reading answers aloud. */
export const TextToSpeech = z
  .strictObject({
    enabled: z.boolean(),
    /** null: the daemon's default */
    model: ModelReference.nullable(),
    /** empty: the model's own */
    voice: voiceName,
    language: voiceName,
    /** streamed answers bring their own audio */
    autoPlay: z.boolean(),
  })
  .meta({ id: 'ChatTextToSpeech' })
