import { randomBytes } from 'node:crypto'
import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { audioTypeOf } from '../audio-type.js'
import { readChunks } from '../egress-fetch.js'
import type { ProviderSpeaker, ProviderTranscriber } from '../provider.js'
import type { AudioToRead, SpokenSegment } from '../types.js'
import type { Endpoint } from './endpoint.js'
import { readJson } from './json.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
/** hours of speech, with the model's details on each segment */
const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024
/** The voice that all servers of this kind have. */
const VOICE = 'alloy'

/** `POST /audio/speech`. */
export function openAiSpeaker(endpoint: Endpoint, { name }: { name: string }): ProviderSpeaker {
  return {
    async speak({ text, voice = '' }, signal) {
      const body = { model: name, input: text, voice: voice || VOICE, response_format: 'mp3' }
      const answer = await endpoint.post('audio/speech', body, signal)
      const chunks: Buffer[] = []
      for await (const chunk of readChunks(answer, MAX_AUDIO_BYTES, signal)) chunks.push(chunk)
      const audio = Buffer.concat(chunks)
      const mimeType = audioTypeOf(audio)
      if (mimeType === undefined) throw new ProviderFailure('malformed', 'no audio')
      return { audio, mimeType }
    },
  }
}

/** `POST /audio/transcriptions`. */
export function openAiTranscriber(endpoint: Endpoint, { name }: { name: string }): ProviderTranscriber {
  // some models return no segment times
  let hasTimes = true
  const ask = async (
    format: Format,
    { bytes, extension, mimeType, language = '' }: AudioToRead,
    signal: AbortSignal,
  ) => {
    const fields = { model: name, response_format: format, ...(language === '' ? {} : { language }) }
    const form = formOf(fields, { bytes, filename: `audio.${extension}`, mimeType })
    const answer = await endpoint.postForm('audio/transcriptions', { ...form, model: name }, signal)
    const json = await readJson(answer, format === 'json' ? MAX_TEXT_BYTES : MAX_TRANSCRIPT_BYTES, signal)
    if (!isRecord(json) || typeof json.text !== 'string')
      throw new ProviderFailure('malformed', 'a transcript without text')
    return { text: json.text.trim(), segments: json.segments }
  }
  return {
    transcribe: async (audio, signal) => (await ask('json', audio, signal)).text,
    async listen(recording, signal) {
      if (hasTimes) {
        try {
          const { text, segments } = await ask('verbose_json', recording, signal)
          const timed = segmentsOf(segments)
          return timed.length === 0 ? { text } : { text, segments: timed }
        } catch (error) {
          if (!isRefused(error)) throw error
        }
      }
      const { text } = await ask('json', recording, signal)
      hasTimes = false
      return { text }
    },
  }
}

type Format = 'json' | 'verbose_json'

function isRefused(error: unknown): boolean {
  return error instanceof ProviderFailure && error.kind === 'status' && [400, 422].includes(error.status ?? 0)
}

function segmentsOf(value: unknown): SpokenSegment[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((one): SpokenSegment[] => {
    if (!isRecord(one)) return []
    const { start, end, text } = one
    if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return []
    return [{ start, end, text }]
  })
}

/** Builds a multipart/form-data body; names and types are constants of ours, so nothing needs escaping. */
function formOf(fields: Record<string, string>, file: { bytes: Uint8Array; filename: string; mimeType: string }) {
  const boundary = `ks-${randomBytes(18).toString('hex')}`
  const heads = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const disposition = `form-data; name="file"; filename="${file.filename}"`
  const head = `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${file.mimeType}\r\n\r\n`
  const content = Buffer.concat([
    Buffer.from(heads.join('') + head),
    file.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { type: `multipart/form-data; boundary=${boundary}`, content }
}
