import type { Ability, ModelPurpose, ProbeResult } from '../json-output/models.js'
import {
  getField,
  getList,
  type ModelServer,
  type ModelServerReply,
  parseReplyJson,
  requestServer,
  toApiAddress,
} from './server-request.js'

const ABILITIES: readonly Ability[] = [
  'chat',
  'answers',
  'stream',
  'tools',
  'json',
  'vision',
  'embeddings',
  'rerank',
  'audio',
]

/** Abilities that are tested for each use of a model; the others are not tested. */
const ABILITIES_BY_USE: Readonly<Record<ModelPurpose, readonly Ability[]>> = {
  chat: ['chat', 'answers', 'stream', 'tools', 'json', 'vision'],
  embedding: ['embeddings'],
  rerank: ['rerank'],
  speech: ['audio'],
  transcription: ['audio'],
  other: [],
}

/** One red pixel. */
const TEST_PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** The number that answers the question; no other text contains it. */
const TEST_ANSWER = 'KV-3817'
const TEST_PROMPT = `Answer the question from the source only, briefly.

<source 1>
File: workshop.md
Section: Keys
Date: 2024-03-05

The key of the workshop has the number ${TEST_ANSWER}. The key of the cellar has the number KV-2204.
</source 1>

Question: What is the number of the key of the workshop?`
const TEST_TOOL = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a town.',
    parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  },
}

/** Tests the abilities of a model with one request each, in sequence: a local server handles one at a time. */
export async function probeModel(
  server: ModelServer,
  model: { name: string; use: ModelPurpose },
  timeoutMs: number,
): Promise<ProbeResult[]> {
  const results: ProbeResult[] = []
  for (const ability of ABILITIES) {
    const isTested = ABILITIES_BY_USE[model.use].includes(ability)
    results.push(isTested ? await probeAbility(server, model, ability, timeoutMs) : { ability, result: 'not asked' })
  }
  return results
}

async function probeAbility(
  server: ModelServer,
  { name, use }: { name: string; use: ModelPurpose },
  ability: Ability,
  timeoutMs: number,
): Promise<ProbeResult> {
  const { path, body, isWorking } = use === 'transcription' ? TRANSCRIPTION : PROBES[ability]
  const startedAt = performance.now()
  try {
    const payload = use === 'transcription' ? { form: createAudioForm(name) } : { json: { model: name, ...body } }
    const reply = await requestServer(server, toApiAddress(server.baseUrl, path), { ...payload, timeoutMs })
    const latencyMs = Math.round(performance.now() - startedAt)
    if (reply.status < 200 || reply.status > 299)
      return { ability, result: "doesn't", latencyMs, note: describeRefusal(reply) }
    if (isWorking(reply)) return { ability, result: 'works', latencyMs }
    return { ability, result: "doesn't", latencyMs, note: 'unexpected reply' }
  } catch (error) {
    return { ability, result: "doesn't", note: error instanceof Error ? error.message : 'request failed' }
  }
}

function describeRefusal({ status }: ModelServerReply): string {
  if (status === 401 || status === 403) return `key refused (${status})`
  if (status === 404) return 'model not found at this address (404)'
  if (status === 429) return 'rate limit of the server (429)'
  return `request refused (${status})`
}

interface AbilityProbe {
  path: string
  body: Record<string, unknown>
  /** Whether a successful reply shows the ability. */
  isWorking: (reply: ModelServerReply) => boolean
}

const PROBES: Readonly<Record<Ability, AbilityProbe>> = {
  chat: createChatProbe({ messages: toUserMessages('Reply with the word yes.') }, (reply) => getContent(reply) !== ''),
  answers: createChatProbe({ messages: toUserMessages(TEST_PROMPT) }, (reply) =>
    getContent(reply).includes(TEST_ANSWER),
  ),
  stream: createChatProbe(
    { messages: toUserMessages('Reply with the word yes.'), stream: true },
    ({ type, text }) => type.startsWith('text/event-stream') && /^data: *\{/m.test(text),
  ),
  tools: createChatProbe(
    { messages: toUserMessages('How is the weather in Oslo? Use the tool.'), tools: [TEST_TOOL] },
    (reply) => getList(getMessage(reply), 'tool_calls').length > 0,
  ),
  json: createChatProbe(
    { messages: toUserMessages('Reply with the JSON object {"ok": true}.'), response_format: { type: 'json_object' } },
    (reply) => isJsonObject(getContent(reply)),
  ),
  vision: createChatProbe(
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which colour is this?' },
            { type: 'image_url', image_url: { url: TEST_PICTURE } },
          ],
        },
      ],
    },
    (reply) => getContent(reply) !== '',
  ),
  embeddings: {
    path: 'embeddings',
    body: { input: ['a word', 'another'] },
    isWorking: (reply) => {
      const vectors = getList(parseReplyJson(reply), 'data').map((entry) => getList(entry, 'embedding').length)
      return vectors.length === 2 && vectors[0] === vectors[1] && (vectors[0] ?? 0) > 0
    },
  },
  rerank: {
    path: 'rerank',
    body: { query: 'What is red?', documents: ['Blood is red.', 'Grass is green.'] },
    isWorking: (reply) => ['results', 'data'].some((key) => getList(parseReplyJson(reply), key).length === 2),
  },
  audio: {
    path: 'audio/speech',
    body: { input: 'Yes.', voice: 'alloy' },
    isWorking: ({ type, text }) => text !== '' && !type.includes('json') && !type.includes('html'),
  },
}

const TRANSCRIPTION: AbilityProbe = {
  path: 'audio/transcriptions',
  body: {},
  isWorking: (reply) => typeof getField(parseReplyJson(reply), 'text') === 'string',
}

/** The form of a transcription: half a second of silence as a WAV file with 16-bit samples. */
function createAudioForm(model: string): FormData {
  const rate = 16_000
  const wav = Buffer.alloc(44 + rate)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(rate, 40)
  const form = new FormData()
  form.append('model', model)
  form.append('file', new Blob([wav], { type: 'audio/wav' }), 'silence.wav')
  return form
}

function createChatProbe(body: Record<string, unknown>, isWorking: AbilityProbe['isWorking']): AbilityProbe {
  return { path: 'chat/completions', body, isWorking }
}

function toUserMessages(content: string) {
  return [{ role: 'user', content }]
}

function getMessage(reply: ModelServerReply): unknown {
  return getField(getList(parseReplyJson(reply), 'choices')[0], 'message')
}

function getContent(reply: ModelServerReply): string {
  const content = getField(getMessage(reply), 'content')
  return typeof content === 'string' ? content.trim() : ''
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
