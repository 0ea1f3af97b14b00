import { ChatError, invalidParamError } from '../../../../contract/chat/errors.js'
import type { TextToAudio } from '../../../../contract/chat/speech.js'
import type { EngineContext } from '../../../library/index.js'
import type { Speech } from '../../../models/index.js'
import type { Read } from '../../../store/program.js'
import { toChatError } from '../answer.js'
import type { AppSession } from '../apps.js'
import { requireMessage } from '../messages.js'
import { AudioJoiner } from './joiner.js'
import { splitForSpeech, toSpeakableText } from './sentences.js'
import { getSpeechModel } from './voices.js'

/** The public API rejects more than 4,096 characters per call. */
const MAX_PART_CHARS = 4000
const MAX_SPEECH_BYTES = 64 * 1024 * 1024

/**
 * Converts a text, or the answer of a message of the user, to speech.
 *
 * @throws ChatError `app_unavailable` if disabled, `provider_not_initialize` without a model, `invalid_param`,
 * `not_found`
 */
export async function convertToSpeech(
  context: EngineContext,
  session: AppSession,
  body: TextToAudio,
  signal: AbortSignal,
): Promise<Speech> {
  const { app } = session
  if (!app.textToSpeech.enabled) throw new ChatError('app_unavailable', 'Text to speech is not enabled.')
  const text = toSpeakableText(await context.db.read(getSpeechText(session, body)))
  const model = getSpeechModel(context, app)
  if (model === undefined) throw new ChatError('provider_not_initialize', 'the application has no speech model')
  if (text === '') throw invalidParamError('text', 'the text contains nothing to read aloud')
  const speaker = context.models.speaker(model)
  const { voice, language } = app.textToSpeech
  const joiner = new AudioJoiner()
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for (const part of splitForSpeech(text, MAX_PART_CHARS)) {
      const spoken = joiner.append(await speaker.speak({ text: part, voice: body.voice ?? voice, language }, signal))
      bytes += spoken.length
      if (bytes > MAX_SPEECH_BYTES)
        throw new ChatError('completion_request_error', `the audio has more than ${MAX_SPEECH_BYTES} bytes`)
      pieces.push(spoken)
    }
  } catch (error) {
    throw toChatError(error)
  }
  return { audio: joiner.join(pieces), mimeType: joiner.mimeType }
}

/** The text to read aloud; the message takes precedence over the text. */
function* getSpeechText(session: AppSession, { user, message_id, text }: TextToAudio): Read<string> {
  if (message_id !== undefined) {
    const { row } = yield* requireMessage(session, user, message_id)
    if (row.answer.trim() === '') throw invalidParamError('message_id', 'the message has no answer to read aloud')
    return row.answer
  }
  if (text === undefined) throw invalidParamError('text', 'Text is required')
  return text
}
