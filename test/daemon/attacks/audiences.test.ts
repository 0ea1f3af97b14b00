import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NewChatAppKey } from '../../../src/contract/chat/apps.js'
import { loadSigningKey } from '../../../src/local/keys.js'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { signedToken } from '../../helpers/tokens.js'
import { type ChatEdge, startChat } from '../chat/helpers.js'

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const USER = 'u1'
const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'sees' }

let model: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
/** a link that opens one file without a key */
let link: URL
beforeAll(async () => {
  model = await startFakeOpenAi()
  running = await startEngine({
    providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: `${model.url}/v1` }],
    defaultGenerator: MODEL,
  })
  chat = await startChat({ vision: { enabled: true, numberLimits: 2, detail: 'low' } }, { engine: running.engine })
  const form = new FormData()
  form.append('file', new File([GIF], 'dot.gif', { type: 'image/gif' }))
  form.append('user', USER)
  const answer = await chat.edge.send('POST', '/v1/files/upload', { token: chat.key, body: form })
  const { id } = await bodyOf<{ id: string }>(answer)
  const file = { type: 'image', transfer_method: 'local_file', upload_file_id: id, url: '' }
  const json = { query: 'When does the shop open?', user: USER, response_mode: 'blocking', files: [file] }
  const done = await bodyOf<{ conversation_id: string }>(await chat.chat('POST', '/chat-messages', { json }))
  const page = await chat.chat('GET', `/messages?conversation_id=${done.conversation_id}&user=${USER}`)
  const { data } = await bodyOf<{ data: { message_files: { url: string }[] }[] }>(page)
  link = new URL(data[0]?.message_files[0]?.url ?? '')
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await model.close()
})

/** Some guarded operations of the gateway, by method and path. */
const GATEWAY: [string, string][] = [
  ['GET', '/knowledge-spaces'],
  ['POST', '/knowledge-spaces'],
  ['GET', '/jobs'],
  ['POST', '/queries'],
  ['GET', '/chat-apps'],
  ['GET', '/daemon/status'],
]
const CHAT: [string, string][] = [
  ['GET', '/v1/info'],
  ['GET', '/v1/parameters'],
  ['GET', `/v1/conversations?user=${USER}`],
  ['POST', '/v1/chat-messages'],
]

async function statuses(calls: [string, string][], token: string | undefined): Promise<number[]> {
  const json = { query: 'x', user: USER, knowledgeSpaceId: chat.spaceId, name: 'x', slug: 'x' }
  return await Promise.all(
    calls.map(async ([method, path]) => {
      const answer = await chat.edge.send(method, path, { token, ...(method === 'POST' ? { json } : {}) })
      await answer.text()
      return answer.status
    }),
  )
}

test('A11: an application key gets 401 from the gateway, and a gateway token gets 401 from an application', async () => {
  expect(await statuses(CHAT.slice(0, 2), chat.key)).toEqual([200, 200])
  expect(await statuses(GATEWAY.slice(0, 1), chat.token)).toEqual([200])
  expect(await statuses(GATEWAY, chat.key)).toEqual(GATEWAY.map(() => 401))
  const forChat = await signedToken(chat.edge.dataDir, { aud: 'chat' })
  for (const token of [chat.token, chat.edge.tokens.operator, forChat])
    expect(await statuses(CHAT, token)).toEqual(CHAT.map(() => 401))
  expect(await statuses(GATEWAY, forChat)).toEqual(GATEWAY.map(() => 401))
})

test('A11: no part of a file link works as a key or token, and the link opens no other file', async () => {
  const shown = await chat.edge.send('GET', `${link.pathname}${link.search}`)
  expect(shown.status).toBe(200)
  await shown.arrayBuffer()
  const sign = link.searchParams.get('sign') ?? ''
  expect(sign.length).toBeGreaterThan(20)
  for (const token of [sign, `app-${sign}`, link.search.slice(1), link.href, `x.${sign}.y`]) {
    expect(await statuses(GATEWAY, token)).toEqual(GATEWAY.map(() => 401))
    expect(await statuses(CHAT, token)).toEqual(CHAT.map(() => 401))
  }
  const other = link.pathname.replace(/[0-9a-f]{12}\/preview$/, '000000000000/preview')
  const paths = [other, '/v1/info', '/knowledge-spaces']
  const answers = await Promise.all(paths.map((path) => chat.edge.send('GET', `${path}${link.search}`)))
  // The file route refuses an invalid signature with 403; other routes ignore it.
  expect(answers.map(({ status }) => status)).toEqual([403, 401, 401])
})

test('A11: no application key is derived from another key or from the signing key', async () => {
  const more = await Promise.all(
    [1, 2, 3].map(async () => {
      const answer = await chat.edge.send('POST', `/chat-apps/${chat.app.id}/keys`, { token: chat.token })
      return (await bodyOf<NewChatAppKey>(answer)).key ?? ''
    }),
  )
  const keys = [chat.key, ...more]
  expect(new Set(keys).size).toBe(4)
  const signingKey = loadSigningKey(chat.edge.dataDir)
  const made = [chat.app.id, USER, chat.spaceId, 'app', ...keys].flatMap((text) => {
    const bytes = createHmac('sha256', signingKey).update(text).digest()
    return [bytes.toString('hex'), bytes.toString('base64url')]
  })
  for (const text of made) expect(keys.filter((key) => key.includes(text.slice(0, 16)))).toEqual([])
  // Nor does anything derived from the signing key open an application.
  for (const text of made) expect(await statuses(CHAT.slice(0, 1), `app-${text.slice(0, 40)}`)).toEqual([401])
})
