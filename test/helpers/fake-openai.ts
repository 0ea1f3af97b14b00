import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A fault of the server, instead of or in addition to its response. Each request uses up one fault, in order; without
 * one the server follows the protocol.
 */
export type Fault =
  | { kind: 'ok' }
  /** responds after a delay */
  | { kind: 'slow'; ms: number }
  /** accepts and never responds */
  | { kind: 'hang' }
  | { kind: 'status'; status: number; retryAfter?: string; body?: string; mediaType?: string }
  /** 401 whose body repeats the credentials and the prompt */
  | { kind: 'echo-key' }
  /** closes the connection before the response */
  | { kind: 'reset' }
  /** streams: closes the connection after this number of deltas */
  | { kind: 'reset-after'; deltas: number }
  /** streams: sends nothing more after this number of deltas, but stays connected */
  | { kind: 'stall-after'; deltas: number }
  /** streams: ends the body properly, without finish reason and `[DONE]` */
  | { kind: 'cut-after'; deltas: number }
  /** streams: an error object after this number of deltas, with the prompt */
  | { kind: 'error-after'; deltas: number }
  /** streams: comment lines only, one every `ms` */
  | { kind: 'comments'; ms: number }
  /** streams: one line of this length */
  | { kind: 'long-line'; chars: number }
  /** streams: thinks first, a reasoning delta every `ms` */
  | { kind: 'thinks'; times: number; ms: number }
  /** responds to a streaming request with one JSON body */
  | { kind: 'whole' }
  /** stays connected after `[DONE]` */
  | { kind: 'lingers' }
  | { kind: 'dimension'; dimension: number }
  /** replaces one number by this text: `NaN`, `null`, `1e999`, `"1"` */
  | { kind: 'number'; text: string }
  | { kind: 'zero' }
  /** omits or repeats the last result */
  | { kind: 'fewer' }
  | { kind: 'duplicate' }
  | { kind: 'shuffled' }
  /** rerank: sends these scores */
  | { kind: 'scores'; scores: number[] }
  /** not JSON */
  | { kind: 'malformed' }
  /** a JSON body of this size in bytes */
  | { kind: 'huge'; bytes: number }

/** The fields of the three requests that this server uses. */
export interface RequestBody {
  model?: string
  input?: string | string[]
  voice?: string
  response_format?: string
  encoding_format?: string
  /** the text of each message, and its images as data URLs */
  messages?: { role: string; content: string; images?: string[] }[]
  stream?: boolean
  tools?: { type: string; function: { name: string; parameters: object } }[]
  stream_options?: { include_usage?: boolean }
  max_tokens?: number
  max_completion_tokens?: number
  temperature?: number
  query?: string
  documents?: string[]
  top_n?: number
}

export interface FakeRequest {
  path: string
  query: string
  headers: IncomingMessage['headers']
  body: RequestBody
  /** the raw body */
  raw: Buffer
  /** milliseconds since the epoch */
  receivedAt: number
  /** false until the response is complete or the client has disconnected */
  isClosed: boolean
  /** the client disconnected before the response was complete */
  isAborted: boolean
}

export interface FakeOpenAi {
  /** without `/v1` */
  url: string
  requests: FakeRequest[]
  /** appends to the fault script */
  script(...faults: Fault[]): void
  /** sets the fault of every request that has none in the script; follows the protocol if absent */
  always(fault?: Fault): void
  /** clears the unused faults */
  clear(): void
  /** sockets connected now, and in total */
  sockets(): number
  connections(): number
  /** maximal number of concurrent requests */
  peak(): number
  close(): Promise<void>
}

export interface FakeOptions {
  /** refuses requests without this key */
  apiKey?: string
  /** refuses other models with 404 */
  models?: string[]
  /** refuses texts that contain this word with 400 */
  poison?: string
  /** the model that responses name; by default the requested name with a date */
  responseModel?: string
  dimension?: number
  /** vector of a text, not of unit length; by default hashed words */
  vector?: (text: string, dimension: number) => number[]
  /** the answer of a chat request; by default it repeats the last message */
  answer?: (messages: { role: string; content: string }[]) => string
  /** splits an answer into deltas; by default each word with the space before it */
  deltaPattern?: RegExp
  /** tool calls of a chat answer instead of text; by default none */
  toolCalls?: (messages: { role: string; content: string }[]) => { name: string; arguments: string }[]
  /** returns the transcript of a form with audio */
  transcribe?: (form: Buffer) => string | FakeTranscript | Promise<string | FakeTranscript>
  /** delay between two deltas */
  deltaMs?: number
  /** fields that it refuses with 400, like servers without them; `times` are those of transcripts */
  refuses?: ('stream' | 'stream_options' | 'max_tokens' | 'temperature' | 'encoding_format' | 'top_n' | 'times')[]
  port?: number
}

/** A transcript with times, for requests with `verbose_json`. */
export interface FakeTranscript {
  text: string
  segments: { start: number; end: number; text: string }[]
}

/** A model server on loopback with the public API of embeddings, chat completions and rerank. */
export async function startFakeOpenAi(options: FakeOptions = {}): Promise<FakeOpenAi> {
  const requests: FakeRequest[] = []
  const faults: Fault[] = []
  let defaultFault: Fault = { kind: 'ok' }
  const sockets = new Set<Socket>()
  let connections = 0
  let running = 0
  let peak = 0

  const server = createServer(async (incoming, response) => {
    const request: FakeRequest = {
      path: (incoming.url ?? '').split('?')[0] ?? '',
      query: (incoming.url ?? '').split('?')[1] ?? '',
      headers: incoming.headers,
      body: {},
      raw: Buffer.alloc(0),
      receivedAt: Date.now(),
      isClosed: false,
      isAborted: false,
    }
    requests.push(request)
    peak = Math.max(peak, ++running)
    response.on('close', () => {
      running--
      request.isClosed = true
      request.isAborted = !response.writableFinished
    })
    const fault = faults.shift() ?? defaultFault
    request.raw = await readRaw(incoming)
    request.body = readBody(request.raw)
    try {
      await handle(request, response, fault, options)
    } catch {
      response.destroy()
    }
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script: (...more) => void faults.push(...more),
    always: (fault = { kind: 'ok' }) => {
      defaultFault = fault
    },
    clear: () => void faults.splice(0),
    sockets: () => sockets.size,
    connections: () => connections,
    peak: () => peak,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

async function readRaw(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function readBody(raw: Buffer): RequestBody {
  try {
    const body = JSON.parse(raw.toString('utf8'))
    for (const message of body.messages ?? []) {
      if (!Array.isArray(message.content)) continue
      const parts: { type: string; text?: string; image_url?: { url: string } }[] = message.content
      message.images = parts.flatMap(({ image_url }) => (image_url === undefined ? [] : [image_url.url]))
      message.content = parts.flatMap(({ text }) => (text === undefined ? [] : [text])).join('')
    }
    return body
  } catch {
    return {}
  }
}

async function handle(
  request: FakeRequest,
  response: ServerResponse,
  fault: Fault,
  options: FakeOptions,
): Promise<void> {
  if (fault.kind === 'hang') return
  if (fault.kind === 'reset') return void response.destroy()
  if (fault.kind === 'slow') await delay(fault.ms)
  if (fault.kind === 'status') {
    if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
    return send(response, fault.status, fault.body ?? apiError(`status ${fault.status}`), fault.mediaType)
  }
  if (fault.kind === 'echo-key') {
    const message = `bad key ${request.headers.authorization} at ${request.path}?${request.query}: ${JSON.stringify(request.body)}`
    return send(response, 401, apiError(message))
  }
  if (fault.kind === 'malformed') return send(response, 200, '{"data": [{"embedding": [0.1, ')
  if (fault.kind === 'huge') return send(response, 200, `{"pad": "${'x'.repeat(fault.bytes)}"}`)
  if (options.apiKey && request.headers.authorization !== `Bearer ${options.apiKey}`) {
    return send(response, 401, apiError('Incorrect API key provided'))
  }
  if (options.models && !options.models.includes(request.body.model ?? '')) {
    return send(response, 404, apiError(`The model ${request.body.model} does not exist`))
  }
  if (request.path.endsWith('/v1/embeddings')) return sendEmbeddings(request.body, response, fault, options)
  if (request.path.endsWith('/v1/chat/completions')) return sendChat(request.body, response, fault, options)
  if (request.path.endsWith('/v1/rerank')) return sendRerank(request.body, response, fault, options)
  if (request.path.endsWith('/v1/audio/speech')) {
    // No sound, but it begins like MP3 and contains its text.
    const audio = Buffer.from(`ID3(${[request.body.input].flat().join()})`)
    return void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio)
  }
  if (request.path.endsWith('/v1/audio/transcriptions')) {
    return await sendTranscript(request, response, options)
  }
  send(response, 404, apiError(`no route ${request.path}`))
}

async function sendTranscript({ raw }: FakeRequest, response: ServerResponse, options: FakeOptions): Promise<void> {
  const wantsTimes = raw.includes('verbose_json')
  if (wantsTimes && options.refuses?.includes('times') === true)
    return send(response, 400, apiError("response_format 'verbose_json' is not compatible with this model"))
  const transcript = (await options.transcribe?.(raw)) ?? ' nothing was said '
  const { text, segments } = typeof transcript === 'string' ? { text: transcript, segments: [] } : transcript
  const more = wantsTimes ? { task: 'transcribe', language: 'english', duration: 1, segments } : {}
  send(response, 200, JSON.stringify({ text, ...more }))
}

function sendEmbeddings(body: RequestBody, response: ServerResponse, fault: Fault, options: FakeOptions): void {
  const input = [body.input ?? []].flat()
  if (options.refuses?.includes('encoding_format') === true && body.encoding_format !== undefined)
    return void send(response, 400, apiError("Argument 'encoding_format' is not supported"))
  if (input.includes('')) return void send(response, 400, apiError('input must not be empty'))
  const { poison } = options
  if (poison !== undefined && input.some((text) => text.includes(poison)))
    return void send(response, 400, apiError('input is too long'))
  const dimension = fault.kind === 'dimension' ? fault.dimension : (options.dimension ?? 8)
  let data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding:
      fault.kind === 'zero' ? Array<number>(dimension).fill(0) : (options.vector ?? hashVector)(text, dimension),
  }))
  if (fault.kind === 'fewer') data = data.slice(0, -1)
  if (fault.kind === 'duplicate') data[0] = { ...data[0]!, index: data.length - 1 }
  if (fault.kind === 'shuffled') data.reverse()
  const tokens = input.reduce((sum, text) => sum + countTokens(text), 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  let text = JSON.stringify({ object: 'list', data, model: body.model, usage, unknown_field: { deep: [1] } })
  if (fault.kind === 'number') text = text.replace(/("embedding":\[)[^,\]]+/, `$1${fault.text}`)
  send(response, 200, text)
}

/** Makes a vector of hashed words: texts with common words have similar vectors. It has no unit length. */
export function hashVector(text: string, dimension: number): number[] {
  const vector = Array<number>(dimension).fill(0.01)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 2166136261
    for (const char of word) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0
    vector[hash % dimension]! += hash & 1024 ? 1 : 2
  }
  return vector
}

async function sendChat(
  body: RequestBody,
  response: ServerResponse,
  fault: Fault,
  options: FakeOptions,
): Promise<void> {
  for (const field of options.refuses ?? []) {
    if (field === 'times' || body[field] === undefined) continue
    const hint = field === 'max_tokens' ? "; use 'max_completion_tokens' instead" : ''
    return send(response, 400, apiError(`Unsupported parameter: '${field}'${hint}`))
  }
  const last = body.messages?.at(-1)?.content ?? ''
  const limit = body.max_tokens ?? body.max_completion_tokens ?? Number.POSITIVE_INFINITY
  const words =
    (options.answer?.(body.messages ?? []) ?? `You said: ${last}`).match(options.deltaPattern ?? /\s*\S+/g) ?? []
  const deltas = words.slice(0, limit)
  const finish = deltas.length < words.length ? 'length' : 'stop'
  const prompt = (body.messages ?? []).reduce((sum, { content }) => sum + countTokens(content), 0)
  const usage = { prompt_tokens: prompt, completion_tokens: deltas.length, total_tokens: prompt + deltas.length }
  const common = {
    id: 'chatcmpl-fake',
    created: Math.floor(Date.now() / 1000),
    model: options.responseModel ?? `${body.model}-2025`,
  }
  const calls = (body.tools === undefined ? [] : (options.toolCalls?.(body.messages ?? []) ?? [])).map(
    (call, index) => ({
      index,
      id: `call_${(body.messages ?? []).length}_${index}`,
      type: 'function',
      function: call,
    }),
  )
  if (!body.stream || fault.kind === 'whole') {
    const tool_calls = calls.length === 0 ? {} : { tool_calls: calls }
    const message = { role: 'assistant', content: deltas.join(''), refusal: null, ...tool_calls }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    return send(response, 200, JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
  }

  await streamChat({ common, deltas, finish, usage, body, last, calls }, response, fault, options.deltaMs ?? 0)
}

interface Completion {
  common: object
  deltas: string[]
  finish: string
  usage: object
  body: RequestBody
  last: string
  calls: { index: number; id: string; type: string; function: { name: string; arguments: string } }[]
}

async function streamChat(completion: Completion, response: ServerResponse, fault: Fault, ms: number): Promise<void> {
  const { common, deltas, finish, usage, body, last, calls } = completion
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  response.flushHeaders()
  const write = (data: unknown) => void response.write(`data: ${JSON.stringify(data)}\n\n`)
  const chunk = (delta: object, finish_reason: string | null = null) =>
    write({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason }] })

  if (fault.kind === 'long-line') return void response.end(`data: {"pad":"${'x'.repeat(fault.chars)}"}\n\n`)
  while (fault.kind === 'comments' && !response.destroyed) {
    response.write(': ping\n\n')
    await delay(fault.ms)
  }
  chunk({ role: 'assistant', content: '' })
  for (let times = fault.kind === 'thinks' ? fault.times : 0; times > 0; times--) {
    if (fault.kind === 'thinks') await delay(fault.ms)
    chunk({ reasoning_content: 'hm' })
  }
  const stopAt = 'deltas' in fault ? fault.deltas : Number.POSITIVE_INFINITY
  for (const [index, content] of deltas.entries()) {
    if (index >= stopAt) break
    if (ms) await delay(ms)
    if (response.destroyed) return
    chunk({ content })
  }
  switch (fault.kind) {
    case 'reset-after':
      // Flushes the deltas before the connection closes.
      await delay(20)
      return void response.destroy()
    case 'stall-after':
      return
    case 'cut-after':
      return void response.end()
    case 'error-after':
      write({ error: { message: `overloaded while reading ${last}`, type: 'server_error' } })
      return void response.end()
  }
  // Arguments arrive in several deltas, as from real servers.
  for (const { index, id, type, function: called } of calls) {
    chunk({ tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] })
    for (const piece of called.arguments.match(/.{1,5}/gsu) ?? [])
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  chunk({}, calls.length > 0 ? 'tool_calls' : finish)
  if (body.stream_options?.include_usage) write({ ...common, object: 'chat.completion.chunk', choices: [], usage })
  response.write('data: [DONE]\n\n')
  if (fault.kind !== 'lingers') response.end()
}

function sendRerank(body: RequestBody, response: ServerResponse, fault: Fault, { refuses }: FakeOptions): void {
  const isPlain = refuses?.includes('top_n') === true
  if (isPlain && body.top_n !== undefined)
    return void send(response, 400, apiError("Argument 'top_n' is not supported"))
  const documents = body.documents ?? []
  const queryWords = new Set((body.query ?? '').toLowerCase().split(/\W+/))
  let results = documents.map((document, index) => {
    const words = document.toLowerCase().split(/\W+/)
    const fraction = words.filter((word) => queryWords.has(word)).length / words.length
    return { index, relevance_score: fault.kind === 'scores' ? fault.scores[index] : fraction }
  })
  results.sort((a, b) => (b.relevance_score ?? 0) - (a.relevance_score ?? 0))
  results = results.slice(0, body.top_n ?? results.length)
  if (fault.kind === 'fewer') results.pop()
  if (fault.kind === 'duplicate') results.push(results[0]!)
  // Services without this field use another name for results, too.
  if (isPlain) return void send(response, 200, JSON.stringify({ object: 'list', data: results }))
  send(response, 200, JSON.stringify({ id: 'rr-fake', results, meta: { billed_units: { search_units: 1 } } }))
}

function send(response: ServerResponse, status: number, body: string, mediaType = 'application/json'): void {
  response.writeHead(status, { 'content-type': mediaType, 'content-length': Buffer.byteLength(body) }).end(body)
}

function apiError(message: string): string {
  return JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })
}

function countTokens(text: string): number {
  return (text.match(/\S+/g) ?? []).length
}
