import { randomBytes } from 'node:crypto'
import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { detectAudioType } from '../audio-type.js'
import { readResponseChunks } from '../egress-fetch.js'
import type { ProviderSpeaker, ProviderTranscriber } from '../provider.js'
import type { AudioRecording, SpokenSegment } from '../types.js'
import type { OpenAiEndpoint } from './endpoint.js'
import { readProviderJson } from './json.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
/** hours of speech, with the model's details on each segment */
const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024
/** The voice that all servers of this kind have. */
const DEFAULT_VOICE = 'alloy'

/** `POST /audio/speech`. */
export function createOpenAiSpeaker(endpoint: OpenAiEndpoint, { name }: { name: string }): ProviderSpeaker {
  return {
    async speak({ text, voice = '' }, signal) {
      const body = { model: name, input: text, voice: voice || DEFAULT_VOICE, response_format: 'mp3' }
      const response = await endpoint.post('audio/speech', body, signal)
      const chunks: Buffer[] = []
      for await (const chunk of readResponseChunks(response, MAX_AUDIO_BYTES, signal)) chunks.push(chunk)
      const audio = Buffer.concat(chunks)
      const mimeType = detectAudioType(audio)
      if (mimeType === undefined) throw new ProviderFailure('malformed', 'no audio')
      return { audio, mimeType }
    },
  }
}

/** `POST /audio/transcriptions`. */
export function createOpenAiTranscriber(endpoint: OpenAiEndpoint, { name }: { name: string }): ProviderTranscriber {
  // some models return no segment times
  let hasTimes = true
  const requestTranscript = async (
    format: TranscriptionFormat,
    { bytes, extension, mimeType, language = '' }: AudioRecording,
    signal: AbortSignal,
  ) => {
    const fields = { model: name, response_format: format, ...(language === '' ? {} : { language }) }
    const form = buildForm(fields, { bytes, filename: `audio.${extension}`, mimeType })
    const response = await endpoint.postForm('audio/transcriptions', { ...form, model: name }, signal)
    const json = await readProviderJson(response, format === 'json' ? MAX_TEXT_BYTES : MAX_TRANSCRIPT_BYTES, signal)
    if (!isRecord(json) || typeof json.text !== 'string')
      throw new ProviderFailure('malformed', 'a transcript without text')
    return { text: json.text.trim(), segments: json.segments }
  }
  return {
    transcribe: async (audio, signal) => (await requestTranscript('json', audio, signal)).text,
    async listen(recording, signal) {
      if (hasTimes) {
        try {
          const { text, segments } = await requestTranscript('verbose_json', recording, signal)
          const timedSegments = parseSegments(segments)
          return timedSegments.length === 0 ? { text } : { text, segments: timedSegments }
        } catch (error) {
          if (!isRejectedRequest(error)) throw error
        }
      }
      const { text } = await requestTranscript('json', recording, signal)
      hasTimes = false
      return { text }
    },
  }
}

type TranscriptionFormat = 'json' | 'verbose_json'

function isRejectedRequest(error: unknown): boolean {
  return error instanceof ProviderFailure && error.kind === 'status' && [400, 422].includes(error.status ?? 0)
}

function parseSegments(value: unknown): SpokenSegment[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((segment): SpokenSegment[] => {
    if (!isRecord(segment)) return []
    const { start, end, text } = segment
    if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return []
    return [{ start, end, text }]
  })
}

/** Builds a multipart/form-data body; names and types are constants of ours, so nothing needs escaping. */
function buildForm(fields: Record<string, string>, file: { bytes: Uint8Array; filename: string; mimeType: string }) {
  const boundary = `ks-${randomBytes(18).toString('hex')}`
  const fieldParts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const disposition = `form-data; name="file"; filename="${file.filename}"`
  const fileHead = `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${file.mimeType}\r\n\r\n`
  const content = Buffer.concat([
    Buffer.from(fieldParts.join('') + fileHead),
    file.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { type: `multipart/form-data; boundary=${boundary}`, content }
}
