import { randomBytes } from 'node:crypto'
import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { audioTypeOf } from '../audio-type.js'
import { readChunks } from '../egress-fetch.js'
import type { ProviderSpeaker, ProviderTranscriber } from '../provider.js'
import type { Endpoint } from './endpoint.js'
import { readJson } from './json.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
/** the voice that every server of this kind knows */
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
  return {
    async transcribe({ bytes, extension, mimeType, language = '' }, signal) {
      const fields = { model: name, response_format: 'json', ...(language === '' ? {} : { language }) }
      const form = formOf(fields, { bytes, filename: `audio.${extension}`, mimeType })
      const answer = await endpoint.postForm('audio/transcriptions', { ...form, model: name }, signal)
      const json = await readJson(answer, MAX_TEXT_BYTES, signal)
      if (!isRecord(json) || typeof json.text !== 'string')
        throw new ProviderFailure('malformed', 'a transcript without text')
      return json.text.trim()
    },
  }
}

/** A multipart/form-data body; names and types are our own, so nothing has to be escaped. */
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
