import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'
import { type ChatEdge, startChat } from './helpers.js'
import { PNG } from './images.js'

const LEASE = [
  '# Lease of the boathouse',
  '## Notice period',
  'Either party may end the lease of the boathouse with a notice period of seven weeks to the end of a quarter.',
  '## Deposit',
  'The deposit for the boathouse is nine hundred crowns.',
].join('\n\n')
const FIXTURES = new URL('../../fixtures/docs/', import.meta.url)

interface Reply {
  answer: string
  conversation_id: string
  message_id: string
  metadata: {
    retriever_resources: {
      dataset_name: string
      document_id: string
      document_name: string
      section_path?: string[]
      page?: number
      cited?: boolean
    }[]
  }
}

interface Refusal {
  status: number
  code: string
  message: string
}

let chat: ChatEdge
beforeAll(async () => {
  chat = await startChat({ documents: { enabled: true } })
})
afterAll(() => chat.end())

function toForm(bytes: Buffer | string, name: string, user: string): FormData {
  const data = new FormData()
  data.append('file', new File([bytes], name))
  data.append('user', user)
  return data
}

const post = (bytes: Buffer | string, name: string, { user = 'u1', by = chat } = {}) =>
  by.chat('POST', '/files/upload', { body: toForm(bytes, name, user) })

async function upload(bytes: Buffer | string, name: string, options = {}): Promise<string> {
  const response = await post(bytes, name, options)
  const body = await bodyOf<{ id: string; message?: string }>(response)
  expect(response.status, body.message).toBe(200)
  return body.id
}

const toInput = (id: string, type = 'document') => ({ type, transfer_method: 'local_file', upload_file_id: id })

const send = (
  query: string,
  { user = 'u1', by = chat, ...more }: { user?: string; by?: ChatEdge } & Record<string, unknown> = {},
) =>
  by.chat('POST', '/chat-messages', {
    json: { query, user, response_mode: 'blocking', auto_generate_name: false, ...more },
  })

const ask = async (query: string, more = {}) => bodyOf<Reply>(await send(query, more))
const refusal = async (response: Response) => bodyOf<Refusal>(response)
const citedNames = ({ metadata }: Reply) =>
  metadata.retriever_resources.filter(({ cited }) => cited).map(({ document_name: name }) => name)

describe('a document in a message', () => {
  test('answers the question with its section, and a later question of the same conversation', async () => {
    const id = await upload(LEASE, 'lease.md')
    const first = await ask('What is the notice period of the boathouse?', { files: [toInput(id)] })
    expect(first.answer).toContain('seven weeks')
    expect(first.metadata.retriever_resources.find(({ cited }) => cited)).toMatchObject({
      dataset_name: 'Uploaded documents',
      document_id: id,
      document_name: 'lease.md',
      section_path: ['Lease of the boathouse'],
    })
    const { conversation_id } = first
    const later = await ask('How much is the deposit for the boathouse?', { conversation_id })
    expect([later.answer.includes('nine hundred crowns'), citedNames(later)]).toEqual([true, ['lease.md']])
    const ofSpace = await ask('When does the shop open?', { conversation_id })
    expect([ofSpace.answer.includes('nine in the morning'), citedNames(ofSpace)]).toEqual([true, ['hours.md']])
    const query = `/messages?conversation_id=${conversation_id}&user=u1`
    const { data } = await bodyOf<{ data: { answer: string; message_files: object[] }[] }>(
      await chat.chat('GET', query),
    )
    expect(data[0]?.answer).toBe(first.answer)
    expect(data[0]?.message_files).toMatchObject([
      { type: 'document', filename: 'lease.md', mime_type: 'text/markdown' },
    ])
  })

  test('can be a PDF or an office document, cited with its page', async () => {
    const memo = await upload(readFileSync(new URL('fake-memo.pdf', FIXTURES)), 'memo.pdf')
    const { metadata } = await ask('What is the purpose of the memo?', { files: [toInput(memo)] })
    expect(metadata.retriever_resources.find(({ document_name: name }) => name === 'memo.pdf')).toMatchObject({
      page: 1,
    })
    await upload(readFileSync(new URL('simple.docx', FIXTURES)), 'simple.docx')
  })

  test('gives no passage to another conversation, and none to another user', async () => {
    const id = await upload(LEASE, 'lease.md')
    await ask('What is the notice period of the boathouse?', { files: [toInput(id)] })
    for (const user of ['u1', 'u2']) {
      const other = await ask('What is the notice period of the boathouse?', { user })
      expect(other.answer).not.toContain('seven weeks')
      expect(other.metadata.retriever_resources.map(({ document_name: name }) => name)).not.toContain('lease.md')
    }
    const foreign = await send('What is the notice period?', { user: 'u2', files: [toInput(id)] })
    expect(await refusal(foreign)).toMatchObject({
      status: 400,
      code: 'invalid_param',
      message: expect.stringContaining('is not a document that this user uploaded'),
    })
  })

  test('must be sent as what it is, and in limited number', async () => {
    const id = await upload(LEASE, 'lease.md')
    const image = await upload(PNG, 'cat.png')
    for (const files of [
      [toInput(image)],
      [toInput(id, 'image')],
      [{ type: 'document', transfer_method: 'remote_url', url: 'https://example.com/lease.md' }],
      [toInput(id), toInput(id), toInput(id), toInput(id)],
    ])
      expect(await refusal(await send('What is this?', { files }))).toMatchObject({
        status: 400,
        code: 'invalid_param',
      })
  })

  test('gets removed with its conversation', async () => {
    const id = await upload(LEASE, 'lease.md')
    const { conversation_id } = await ask('What is the notice period?', { files: [toInput(id)] })
    const preview = () => chat.chat('GET', `/files/${id}/preview`)
    const shown = await preview()
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    expect(shown.headers.get('content-disposition')).toMatch(/^attachment; /)
    await chat.chat('DELETE', `/conversations/${conversation_id}`, { json: { user: 'u1' } })
    await until(async () => (await preview()).status === 404)
  })
})

describe('an upload', () => {
  test('fails with the reason if the document cannot be read', async () => {
    for (const [name, bytes, reason] of [
      ['noise.bin', Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251)), 'of a known type'],
      ['blank.md', '\n\n', 'has no text'],
      ['secret.pdf', readFileSync(new URL('password.pdf', FIXTURES)), 'protected by a password'],
    ] as const)
      expect(await refusal(await post(bytes as Buffer, name))).toMatchObject({
        status: 415,
        code: 'unsupported_file_type',
        message: expect.stringContaining(reason),
      })
  })

  test('names what the application takes, if it takes no documents or has no space', async () => {
    const { edge, token } = chat
    for (const fields of [{ knowledgeSpaceIds: [chat.spaceId] }, { documents: { enabled: true } }]) {
      const app = await bodyOf<{ id: string }>(
        await edge.send('POST', '/chat-apps', { token, json: { name: 'Images only', ...fields } }),
      )
      const { key } = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
      const refused = await edge.send('POST', '/v1/files/upload', { token: key, body: toForm(LEASE, 'lease.md', 'u1') })
      expect(await refusal(refused)).toMatchObject({
        status: 415,
        message:
          'File type not allowed: "lease.md" is not a PNG, JPEG, WebP or GIF image, and the application takes no documents.',
      })
    }
  })

  test('appears in the parameters of the application', async () => {
    const { file_upload } = await bodyOf<{ file_upload: object }>(await chat.chat('GET', '/parameters?user=u1'))
    expect(file_upload).toMatchObject({
      enabled: true,
      allowed_file_types: ['document'],
      allowed_file_upload_methods: ['local_file'],
      document: { enabled: true, number_limits: 3 },
    })
  })

  test('accepts a document that is larger than an image, up to a limit', async () => {
    const mb = 1024 * 1024
    const line = 'The tide table has one line for each day of the year.\n\n'
    const big = Buffer.concat([Buffer.from(line), Buffer.alloc(15 * mb, ' ')])
    expect(await refusal(await post(big, 'big.md'))).toMatchObject({
      status: 413,
      code: 'file_too_large',
      message: expect.stringContaining('a document at most 15728640'),
    })
    await upload(Buffer.concat([Buffer.from(line), Buffer.alloc(11 * mb, ' ')]), 'large.md')
  })
})

describe('with a model', () => {
  let model: FakeOpenAi
  let running: TestEngine
  let withModel: ChatEdge
  beforeAll(async () => {
    model = await startFakeOpenAi({ answer: () => 'It is seven weeks [1].' })
    const provider = { pluginId: 'openai-compatible', provider: 'fake' }
    running = await startEngine({
      providers: [{ ...provider, baseUrl: `${model.url}/v1` }],
      defaultGenerator: { ...provider, model: 'seer' },
    })
    withModel = await startChat({ documents: { enabled: true } }, { engine: running.engine })
  })
  afterAll(async () => {
    await withModel.end()
    await running.end()
    await model.close()
  })
  const lastPrompt = () => JSON.stringify(model.requests.at(-1)?.body)

  test('the prompt contains passages of the document, or its beginning if no word of the question is in it', async () => {
    const id = await upload(LEASE, 'lease.md', { by: withModel })
    const first = await ask('What is the notice period of the boathouse?', { by: withModel, files: [toInput(id)] })
    expect(lastPrompt()).toContain('notice period of seven weeks')
    expect(citedNames(first)).toEqual(['lease.md'])
    const { conversation_id } = first
    await ask('Please summarise it for me', { by: withModel, conversation_id })
    expect(lastPrompt()).toContain('nine hundred crowns')
  })
})
