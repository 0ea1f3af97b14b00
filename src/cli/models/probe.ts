import type { ModelPurpose } from './detect.js'
import {
  getField,
  getList,
  type ModelServer,
  type ModelServerReply,
  parseReplyJson,
  requestServer,
  toApiAddress,
} from './server-request.js'

export const ABILITIES = [
  'chat',
  'answers',
  'stream',
  'tools',
  'json',
  'vision',
  'embeddings',
  'rerank',
  'audio',
] as const
export type Ability = (typeof ABILITIES)[number]

export interface ProbeResult {
  ability: Ability
  result: 'works' | "doesn't" | 'not asked'
  latencyMs?: number
  /** Why it failed; never text of the server. */
  note?: string
}

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
  const { path, body, works: isWorking } = use === 'transcription' ? TRANSCRIPTION : PROBES[ability]
  const started = performance.now()
  try {
    const payload = use === 'transcription' ? { form: createAudioForm(name) } : { json: { model: name, ...body } }
    const answer = await requestServer(server, toApiAddress(server.baseUrl, path), { ...payload, timeoutMs })
    const latencyMs = Math.round(performance.now() - started)
    if (answer.status < 200 || answer.status > 299)
      return { ability, result: "doesn't", latencyMs, note: describeRefusal(answer) }
    if (isWorking(answer)) return { ability, result: 'works', latencyMs }
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
  works: (answer: ModelServerReply) => boolean
}

const PROBES: Readonly<Record<Ability, AbilityProbe>> = {
  chat: createChatProbe(
    { messages: toUserMessages('Reply with the word yes.') },
    (answer) => getContent(answer) !== '',
  ),
  answers: createChatProbe({ messages: toUserMessages(TEST_PROMPT) }, (answer) =>
    getContent(answer).includes(TEST_ANSWER),
  ),
  stream: createChatProbe(
    { messages: toUserMessages('Reply with the word yes.'), stream: true },
    ({ type, text }) => type.startsWith('text/event-stream') && /^data: *\{/m.test(text),
  ),
  tools: createChatProbe(
    { messages: toUserMessages('How is the weather in Oslo? Use the tool.'), tools: [TEST_TOOL] },
    (answer) => getList(getMessage(answer), 'tool_calls').length > 0,
  ),
  json: createChatProbe(
    { messages: toUserMessages('Reply with the JSON object {"ok": true}.'), response_format: { type: 'json_object' } },
    (answer) => isJsonObject(getContent(answer)),
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
    (answer) => getContent(answer) !== '',
  ),
  embeddings: {
    path: 'embeddings',
    body: { input: ['a word', 'another'] },
    works: (answer) => {
      const vectors = getList(parseReplyJson(answer), 'data').map((entry) => getList(entry, 'embedding').length)
      return vectors.length === 2 && vectors[0] === vectors[1] && (vectors[0] ?? 0) > 0
    },
  },
  rerank: {
    path: 'rerank',
    body: { query: 'What is red?', documents: ['Blood is red.', 'Grass is green.'] },
    works: (answer) => ['results', 'data'].some((key) => getList(parseReplyJson(answer), key).length === 2),
  },
  audio: {
    path: 'audio/speech',
    body: { input: 'Yes.', voice: 'alloy' },
    works: ({ type, text }) => text !== '' && !type.includes('json') && !type.includes('html'),
  },
}

const TRANSCRIPTION: AbilityProbe = {
  path: 'audio/transcriptions',
  body: {},
  works: (answer) => typeof getField(parseReplyJson(answer), 'text') === 'string',
}

/** Half a second of silence as a WAV file with 16-bit samples. */
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

function createChatProbe(body: Record<string, unknown>, works: AbilityProbe['works']): AbilityProbe {
  return { path: 'chat/completions', body, works }
}

function toUserMessages(content: string) {
  return [{ role: 'user', content }]
}

function getMessage(answer: ModelServerReply): unknown {
  return getField(getList(parseReplyJson(answer), 'choices')[0], 'message')
}

function getContent(answer: ModelServerReply): string {
  const content = getField(getMessage(answer), 'content')
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
