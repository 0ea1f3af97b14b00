import { z } from 'zod'
import { ModelReference } from '../primitives.js'
import { CHAT_LIMITS } from './limits.js'

/** Features of an application beyond text: settings for images and speech. */

export const TransferMethod = z.enum(['remote_url', 'local_file'])

/** Images in messages; if disabled, a message with images is rejected. */
export const Vision = z
  .strictObject({
    enabled: z.boolean(),
    /** Maximum number of images in a message. */
    numberLimits: z.int().min(1).max(CHAT_LIMITS.imagesPerMessage),
    /** Level of detail requested from the model. */
    detail: z.enum(['low', 'high', 'auto']),
    transferMethods: z.array(TransferMethod).min(1),
  })
  .meta({ id: 'ChatVision' })
export type Vision = z.output<typeof Vision>

/** Documents in messages (extension): the answers of their conversation take passages of them. */
export const DocumentUpload = z
  .strictObject({
    enabled: z.boolean(),
    /** Maximum number of documents in a message. */
    numberLimits: z.int().min(1).max(CHAT_LIMITS.documentsPerMessage),
  })
  .meta({ id: 'ChatDocumentUpload' })

/** Voice and language names become program arguments: nothing may look like an option or a path. */
export const voiceName = z
  .string()
  .max(CHAT_LIMITS.voice)
  .regex(/^([A-Za-z0-9][\w .+:-]*)?$/, 'a name of letters, digits, spaces and `_ . + : -`')

/** Transcription of the end users' speech. */
export const SpeechToText = z
  .strictObject({
    enabled: z.boolean(),
    /** null: the daemon's default */
    model: ModelReference.nullable(),
    /** Spoken language; empty: detected by the model. */
    language: voiceName,
  })
  .meta({ id: 'ChatSpeechToText' })

/** Reading answers aloud. */
export const TextToSpeech = z
  .strictObject({
    enabled: z.boolean(),
    /** null: the daemon's default */
    model: ModelReference.nullable(),
    /** Empty: the default of the model. */
    voice: voiceName,
    language: voiceName,
    /** Streamed answers include audio. */
    autoPlay: z.boolean(),
  })
  .meta({ id: 'ChatTextToSpeech' })
