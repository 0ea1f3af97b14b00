import type { Readable } from 'node:stream'
import { ChatClient } from 'dify-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, type DaemonProcess, startKsd, temporaryDir } from '../../helpers/daemon.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { createTestTokens } from '../../helpers/tokens.js'
import { PNG } from './images.js'

/** The published client library of such applications, against a daemon. */

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const UNKNOWN = '01890000-0000-7000-8000-000000000000'
const user = 'user_app:1' // Colons in a user name must pass.

const dir = temporaryDir()
let server: FakeOpenAi
let daemon: DaemonProcess
let client: ChatClient

beforeAll(async () => {
  server = await startFakeOpenAi({
    deltaMs: 10,
    answer: (messages) => {
      const last = messages.at(-1)?.content ?? ''
      if (last.includes('"user"')) return '["When?", "Where?", "Why?"]'
      if (last === 'long') return Array.from({ length: 300 }, (_, n) => `word${n}`).join(' ')
      return `You asked: ${last}`
    },
  })
  daemon = await startKsd(dir.path, [], {
    KS_DAEMON_PROVIDERS: JSON.stringify([{ ...PROVIDER, baseUrl: `${server.url}/v1` }]),
    KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/fake/talker',
  })
  const { ada } = await createTestTokens(dir.path)
  const manage = async <T>(path: string, json: object): Promise<T> => {
    const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json' }
    return bodyOf<T>(await fetch(`${daemon.ready.url}${path}`, { method: 'POST', headers, body: JSON.stringify(json) }))
  }
  const fields = {
    openingStatement: 'Hello {{city}}',
    userInputForm: [{ 'text-input': { label: 'City', variable: 'city', required: true } }],
    suggestedQuestionsAfterAnswer: true,
    vision: { enabled: true },
  }
  const { id } = await manage<{ id: string }>('/chat-apps', { name: 'App', ...fields })
  const { key } = await manage<{ key: string }>(`/chat-apps/${id}/keys`, {})
  client = new ChatClient(key, `${daemon.ready.url}/v1`)
})
afterAll(async () => {
  await daemon?.end('SIGTERM')
  await server?.close()
  dir.remove()
})

const inputs = { city: 'Oslo' }

interface Frame {
  event: string
  task_id: string
  message_id: string
  conversation_id: string
  answer?: string
}

/** The frames of a stream; `seen` gets each one as it arrives. */
async function framesOf(stream: Readable, seen: (frame: Frame) => void = () => {}): Promise<Frame[]> {
  const frames: Frame[] = []
  let rest = ''
  for await (const chunk of stream) {
    rest += String(chunk)
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      expect(block.startsWith('data: ')).toBe(true)
      const frame: Frame = JSON.parse(block.slice(6))
      frames.push(frame)
      seen(frame)
    }
  }
  return frames
}

/** The error of a refused request. */
async function refusal(work: Promise<unknown>): Promise<unknown> {
  const { response } = await work.then(
    () => expect.fail('nothing was refused'),
    (error: { response: { status: number; data: object } }) => error,
  )
  return { ...response.data, httpStatus: response.status }
}

async function say(query: string, conversation: string | null = null) {
  const { status, data } = await client.createChatMessage(inputs, query, user, false, conversation)
  expect(status).toBe(200)
  return data as { answer: string; conversation_id: string; message_id: string; task_id: string; metadata: object }
}

test('the client library reads the parameters of the application', async () => {
  const { data } = await client.getApplicationParameters(user)
  expect(data).toMatchObject({
    opening_statement: 'Hello {{city}}',
    user_input_form: [{ 'text-input': { variable: 'city' } }],
    suggested_questions_after_answer: { enabled: true },
    file_upload: { enabled: true, image: { enabled: true } },
  })
})

test('the client library sends a blocking message, continues, reads back, renames and deletes the conversation', async () => {
  const first = await say('one?')
  expect(first).toMatchObject({ event: 'message', mode: 'chat', answer: 'You asked: one?' })
  const second = await say('two?', first.conversation_id)
  expect(second.conversation_id).toBe(first.conversation_id)
  const history = await client.getConversationMessages(user, first.conversation_id, null, 1)
  expect(history.data).toMatchObject({ limit: 1, has_more: true, data: [{ query: 'two?', inputs, feedback: null }] })
  const older = await client.getConversationMessages(user, first.conversation_id, history.data.data[0].id, 5)
  expect(older.data).toMatchObject({ has_more: false, data: [{ query: 'one?', answer: 'You asked: one?' }] })
  const listed = await client.getConversations(user, null, null, null)
  expect(listed.data.data[0]).toMatchObject({ id: first.conversation_id, introduction: 'Hello Oslo', status: 'normal' })
  const renamed = await client.renameConversation(first.conversation_id, 'Mine', user)
  expect(renamed.data).toMatchObject({ id: first.conversation_id, name: 'Mine' })
  const gone = await client.deleteConversation(first.conversation_id, user)
  expect([gone.status, gone.data]).toEqual([204, ''])
  expect(await refusal(client.getConversationMessages(user, first.conversation_id))).toMatchObject({
    httpStatus: 404,
    message: 'Conversation Not Exists.',
  })
})

test('the client library reads a stream up to message_end, and the connection closes', async () => {
  const { data: stream, headers } = await client.createChatMessage(inputs, 'stream?', user, true)
  expect(headers['content-type']).toContain('text/event-stream')
  const frames = await framesOf(stream)
  expect(frames[0]?.event).toBe('ping')
  expect(frames.at(-1)?.event).toBe('message_end')
  expect(frames.flatMap(({ event, answer }) => (event === 'message' ? [answer] : [])).join('')).toBe(
    'You asked: stream?',
  )
})

test('the client library stops a stream, and the history keeps the text up to there', async () => {
  const { data: stream } = await client.createChatMessage(inputs, 'long', user, true)
  let stopped: Promise<{ data: object }> | undefined
  const frames = await framesOf(stream, ({ event, task_id }) => {
    if (event === 'message') stopped ??= client.sendRequest('POST', `/chat-messages/${task_id}/stop`, { user })
  })
  expect((await stopped)?.data).toEqual({ result: 'success' })
  expect(frames.at(-1)?.event).toBe('message_end')
  const said = frames.flatMap(({ event, answer }) => (event === 'message' ? [answer] : [])).join('')
  expect(said.split(' ').length).toBeLessThan(300)
  const { data } = await client.getConversationMessages(user, frames[0]?.conversation_id)
  expect(data.data[0]).toMatchObject({ answer: said, status: 'normal' })
})

test('the client library rates a message, withdraws the rating, and gets suggested questions', async () => {
  const { message_id, conversation_id } = await say('rate me')
  // The library declares a rating as a number, but passes on any value.
  const rate = async (rating: unknown) => {
    const { data } = await client.messageFeedback(message_id, rating as number, user)
    expect(data).toEqual({ result: 'success' })
    return (await client.getConversationMessages(user, conversation_id)).data.data[0].feedback
  }
  expect(await rate('like')).toEqual({ rating: 'like' })
  expect(await rate(null)).toBeNull()
  const suggested = await client.sendRequest('GET', `/messages/${message_id}/suggested`, null, { user })
  expect(suggested.data).toEqual({ result: 'success', data: ['When?', 'Where?', 'Why?'] })
})

test('the client library uploads an image and sends it with a message', async () => {
  const form = new FormData()
  form.append('file', new Blob([PNG], { type: 'image/png' }), 'dot.png')
  form.append('user', user)
  const { data } = await client.fileUpload(form)
  expect(data).toMatchObject({ name: 'dot.png', extension: 'png', mime_type: 'image/png' })
  const files = [{ type: 'image', transfer_method: 'local_file', upload_file_id: data.id, url: '' }]
  const sent = await client.sendRequest('POST', '/chat-messages', {
    inputs,
    query: 'what is this?',
    user,
    response_mode: 'blocking',
    files,
  })
  const { data: page } = await client.getConversationMessages(user, sent.data.conversation_id)
  expect(page.data[0].message_files).toMatchObject([{ type: 'image', belongs_to: 'user' }])
})

test('the client library shows the code, message and status of a refusal', async () => {
  expect(await refusal(client.createChatMessage({}, 'hi', user))).toEqual({
    code: 'invalid_param',
    message: 'city is required in input form',
    params: 'inputs',
    status: 400,
    httpStatus: 400,
  })
  expect(await refusal(client.createChatMessage(inputs, 'hi', user, false, UNKNOWN))).toMatchObject({
    code: 'not_found',
    message: 'Conversation Not Exists.',
    httpStatus: 404,
  })
  const stranger = new ChatClient('app-unknown', `${daemon.ready.url}/v1`)
  expect(await refusal(stranger.getApplicationParameters(user))).toEqual({
    code: 'unauthorized',
    message: 'Access token is invalid',
    status: 401,
    httpStatus: 401,
  })
})
