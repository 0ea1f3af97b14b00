import { z } from 'zod'
import { uuid } from '../primitives.js'
import { route } from '../route.js'
import { voiceName } from './features.js'
import { CHAT_LIMITS } from './limits.js'
import { endUser } from './messages.js'

export const TextToAudio = z
  .object({
    user: endUser,
    /** Takes precedence over `text`. */
    message_id: uuid.optional(),
    text: z.string().max(CHAT_LIMITS.speechText).optional(),
    /** Absent: the voice of the application. */
    voice: voiceName.optional(),
  })
  .meta({ id: 'TextToAudioRequest' })
export type TextToAudio = z.output<typeof TextToAudio>

export const speechRoutes = [
  route({
    id: 'audioToText',
    method: 'POST',
    path: '/v1/audio-to-text',
    scope: 'application',
    summary: 'Transcribe the speech of an audio file.',
    multipart: { file: { name: 'file', many: false }, fields: z.object({ user: endUser }) },
    ok: { 200: z.strictObject({ text: z.string() }) },
    errors: [400, 413, 415, 429],
  }),
  route({
    id: 'textToAudio',
    method: 'POST',
    path: '/v1/text-to-audio',
    scope: 'application',
    summary: 'Convert a text, or the answer of a message, to speech.',
    body: TextToAudio,
    forms: true,
    ok: { 200: 'binary' },
    binary: ['audio/wav', 'audio/mpeg'],
    errors: [400, 404],
  }),
] as const
