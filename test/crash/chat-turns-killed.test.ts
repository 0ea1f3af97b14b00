import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { crashSeed, seededRandom } from './random.js'

/**
 * A round of the crash run has three turns: one is stopped, one is abandoned by its client, and one dies with the
 * daemon.
 */
const TURNS = 3 * Number(process.env['KS_CRASH_ROUNDS'] ?? 5)
const WORDS = 40
const DELTA_MS = 10
const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }

const home = temporaryFolder('crash-chat')
const seed = crashSeed()
const random = seededRandom(seed)
let server: FakeOpenAi
let daemon: BenchDaemon
let key = ''

beforeAll(async () => {
  server = await startFakeOpenAi({
    deltaMs: DELTA_MS,
    answer: (messages) => {
      const asked = messages.at(-1)?.content ?? ''
      return Array.from({ length: WORDS }, (_, n) => `${asked}-${n}`).join(' ')
    },
  })
  daemon = await start()
  const app = await daemon.client.request('POST /chat-apps', { body: { name: 'App' } })
  key = (await daemon.client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })).key ?? ''
})

afterAll(async () => {
  await daemon?.kill()
  await server?.close()
  home.remove()
})

function start(): Promise<BenchDaemon> {
  return startDaemon(home.path, {
    KS_DAEMON_PROVIDERS: JSON.stringify([{ ...PROVIDER, baseUrl: `${server.url}/v1` }]),
    KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/fake/talker',
  })
}

function call(method: string, path: string, json?: object): Promise<Response> {
  return fetch(`${daemon.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
}

type End = 'stopped' | 'left' | 'killed'

interface Sent {
  query: string
  end: End
  /** the text that the client received before the end */
  seen: string
  /** `message_end` arrived before the interruption */
  ended: boolean
}

interface Message {
  query: string
  answer: string
  status: string
  error: string | null
}

test(`F11: ${TURNS} turns that are stopped, abandoned or killed lose no answer and leave no partial message`, {
  timeout: TURNS * 30_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  const sent: Sent[] = []
  const complete = new Map<string, string>()
  const findings = { lost: [] as string[], changed: [] as string[], half: [] as string[], running: [] as string[] }
  let conversation = ''
  for (let turn = 0; turn < TURNS; turn++) {
    const end = (['stopped', 'left', 'killed'] as const)[turn % 3] ?? 'left'
    const done = await oneTurn(`q${turn}`, end, conversation)
    conversation = done.conversation
    sent.push(done.sent)
    if (end === 'killed') {
      await daemon.kill()
      daemon = await start()
    }
    const messages = await settledHistory(conversation, sent)
    compare(messages, sent, complete, findings)
  }
  process.stdout.write(
    `FIGURE crash-chat: turns ${TURNS}, lost ${findings.lost.length}, changed ${findings.changed.length}, ` +
      `half written ${findings.half.length}, left running ${findings.running.length}, seed ${seed}\n`,
  )
  expect(findings).toEqual({ lost: [], changed: [], half: [], running: [] })
})

/** Sends a message and interrupts its answer at a random moment. */
async function oneTurn(
  query: string,
  end: End,
  conversation_id: string,
): Promise<{ sent: Sent; conversation: string }> {
  const json = { query, user: 'u', conversation_id, auto_generate_name: false }
  const response = await call('POST', '/chat-messages', json)
  expect(response.status).toBe(200)
  const sent: Sent = { query, end, seen: '', ended: false }
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let conversation = conversation_id
  let task = ''
  let rest = ''
  const take = (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const frame = JSON.parse(block.slice(6))
      conversation = frame.conversation_id
      task = frame.task_id
      if (frame.event === 'message') sent.seen += frame.answer
      if (frame.event === 'message_end') sent.ended = true
    }
  }
  const reading = (async () => {
    for (;;) {
      const chunk = await reader?.read()
      if (chunk === undefined || chunk.done) return
      take(decoder.decode(chunk.value, { stream: true }))
    }
  })()
  reading.catch(() => {}) // The daemon dies during this read.
  await sleep(5 + random() * WORDS * DELTA_MS)
  while (task === '') await sleep(5)
  if (end === 'stopped') {
    expect((await call('POST', `/chat-messages/${task}/stop`, { user: 'u' })).status).toBe(200)
    await reading
  } else if (end === 'left') await reader?.cancel()
  return { sent, conversation }
}

/** The complete history, once no answer is being written. */
async function settledHistory(conversation: string, sent: Sent[]): Promise<Message[]> {
  for (let waited = 0; ; waited++) {
    const response = await call('GET', `/messages?user=u&limit=100&conversation_id=${conversation}`)
    expect(response.status).toBe(200)
    const { data } = (await response.json()) as { data: Message[] }
    // A pending answer is empty without an error, and so is one that was stopped before its first delta.
    const silent = new Set(sent.filter(({ end }) => end === 'stopped').map(({ query }) => query))
    const settled = data.every(({ query, answer, error }) => answer !== '' || error !== null || silent.has(query))
    if (settled || waited > 200) return data
    await sleep(20)
  }
}

function compare(
  messages: Message[],
  sent: Sent[],
  complete: Map<string, string>,
  findings: { lost: string[]; changed: string[]; half: string[]; running: string[] },
): void {
  for (const { query, end, seen, ended } of sent.slice(-100)) {
    const message = messages.find((one) => one.query === query)
    if (message === undefined) {
      findings.lost.push(query)
      continue
    }
    const whole = Array.from({ length: WORDS }, (_, n) => `${query}-${n}`).join(' ')
    const { answer, status, error } = message
    if (status === 'normal' && answer === '' && end !== 'stopped') findings.running.push(query)
    const known = complete.get(query)
    if (known !== undefined && known !== answer) findings.changed.push(`${query}: ${answer}`)
    complete.set(query, answer)
    // A killed turn has an error; the others are complete, or, if stopped, contain at least what the client saw.
    const right =
      status === 'error'
        ? end === 'killed' && !ended && answer === '' && error !== null
        : answer === whole || (end === 'stopped' && whole.startsWith(answer) && answer.startsWith(seen))
    if (!right) findings.half.push(`${query} (${end}): ${status} ${JSON.stringify(answer)}`)
  }
}
