import { createHash } from 'node:crypto'
import { readdirSync, renameSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { bodyOf } from '../../helpers/daemon.js'
import { rowsOf } from '../../helpers/databases.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'
import { type ChatEdge, startChat } from './helpers.js'
import { GIF, JPEG, PNG, pngOf, SVG, WEBP } from './images.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const MODEL = { ...PROVIDER, model: 'seer' }
const UNKNOWN = '01890000-0000-7000-8000-000000000000'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const MB = 1024 * 1024

interface Uploaded {
  id: string
  name: string
  size: number
  extension: string
  mime_type: string
  created_by: string
  created_at: number
}
interface Refusal {
  code: string
  message: string
  status: number
  params?: string
}
interface Shown {
  id: string
  url: string
  upload_file_id: string | null
}

let clock = Date.now()
let model: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
/** key of an application with vision and without a space */
let key: string
let appId: string
let web: Server
let webUrl: string

beforeAll(async () => {
  model = await startFakeOpenAi({ answer: (messages) => `seen: ${messages.at(-1)?.content ?? ''}` })
  running = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: `${model.url}/v1` }],
    defaultGenerator: MODEL,
    sources: { egressAllow: ['127.0.0.1'] },
    now: () => clock,
  })
  chat = await startChat({}, { engine: running.engine })
  ;({ key, appId } = await appWith({ vision: { enabled: true, numberLimits: 2, detail: 'low' } }))
  web = createServer((request, response) => {
    if (request.url === '/cat.gif') return response.setHeader('content-type', 'text/plain').end(GIF)
    if (request.url === '/page') return response.setHeader('content-type', 'image/png').end('<html></html>')
    if (request.url === '/inside') return response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
    if (request.url === '/big') return response.end(pngOf(10 * MB + 1))
    response.writeHead(404).end()
  })
  await new Promise<void>((done) => web.listen(0, '127.0.0.1', done))
  webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
})
afterAll(async () => {
  web.close()
  await chat.end()
  await running.end()
  await model.close()
})

async function appWith(fields: object): Promise<{ key: string; appId: string }> {
  const { edge, token } = chat
  const app = await bodyOf<{ id: string }>(
    await edge.send('POST', '/chat-apps', { token, json: { name: 'A', ...fields } }),
  )
  const made = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
  return { key: made.key, appId: app.id }
}

/** A form with the file before the user, as browsers and SDKs send it. */
function form(parts: [name: string, value: string | Buffer, filename?: string][]): FormData {
  const data = new FormData()
  for (const [name, value, filename] of parts)
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new File([value], filename ?? 'cat.png'))
  return data
}

const post = (body: FormData | Uint8Array, token = key, headers = {}) =>
  chat.edge.send('POST', '/v1/files/upload', { token, body, headers })

async function upload(bytes: Buffer, user = 'u1', name = 'cat.PNG', token = key): Promise<Uploaded> {
  const response = await post(
    form([
      ['file', bytes, name],
      ['user', user],
    ]),
    token,
  )
  expect(response.status).toBe(200)
  return bodyOf<Uploaded>(response)
}

/**
 * Sends a message without generating a name: such a request to the model could arrive before a test looks at its own.
 */
async function send(files: unknown, more: object = {}, token = key): Promise<Response> {
  const how = { user: 'u1', response_mode: 'blocking', auto_generate_name: false }
  const json = { query: 'What is this?', ...how, files, ...more }
  return chat.edge.send('POST', '/v1/chat-messages', { token, json })
}

const local = (id: string) => ({ type: 'image', transfer_method: 'local_file', upload_file_id: id, url: '' })
const remote = (url: string) => ({ type: 'image', transfer_method: 'remote_url', url, upload_file_id: '' })

async function sent(file: object, user = 'u1', token = key): Promise<{ conversation: string; shown: Shown }> {
  const done = await bodyOf<{ conversation_id: string }>(await send([file], { user }, token))
  const [shown] = await filesIn(done.conversation_id, user, token)
  return { conversation: done.conversation_id, shown: shown! }
}

async function filesIn(conversation: string, user = 'u1', token = key): Promise<Shown[]> {
  const page = await chat.edge.send('GET', `/v1/messages?conversation_id=${conversation}&user=${user}`, { token })
  return (await bodyOf<{ data: { message_files: Shown[] }[] }>(page)).data.flatMap(({ message_files }) => message_files)
}

const preview = (id: string, query = '', token: string | undefined = key) =>
  chat.edge.send('GET', `/v1/files/${id}/preview${query}`, { token })

async function refusal(response: Response): Promise<Refusal> {
  const body = await bodyOf<Refusal>(response)
  expect(body.status).toBe(response.status)
  return body
}

describe('POST /files/upload', () => {
  test('A42: recognizes an image by its bytes, whatever its name and declared type', async () => {
    const now = Math.floor(clock / 1000)
    const file = await upload(PNG)
    expect(file).toEqual({
      id: expect.stringMatching(UUID),
      name: 'cat.PNG',
      size: PNG.length,
      extension: 'png',
      mime_type: 'image/png',
      created_by: expect.stringMatching(UUID),
      created_at: now,
    })
    expect(await upload(GIF, 'u1', 'x.html')).toMatchObject({
      name: 'x.html',
      extension: 'gif',
      mime_type: 'image/gif',
    })
    expect(await upload(WEBP)).toMatchObject({ extension: 'webp', mime_type: 'image/webp' })
    expect(await upload(JPEG, 'u1', 'a.JPEG')).toMatchObject({ extension: 'jpeg', mime_type: 'image/jpeg' })
    expect(await upload(JPEG, 'u1', 'a')).toMatchObject({ extension: 'jpg' })
    expect((await upload(PNG)).created_by).toBe(file.created_by)
    expect((await upload(PNG, 'u2')).created_by).not.toBe(file.created_by)
  })

  test('accepts the fields of the form in any order, among unknown fields and files', async () => {
    const data = form([
      ['user', 'u1'],
      ['other', SVG, 'a.svg'],
      ['type', 'image'],
      ['file', PNG],
    ])
    expect((await post(data)).status).toBe(200)
  })

  test('truncates a long name before its extension, and keeps names in any script', async () => {
    const { name } = await upload(PNG, 'u1', `${'ä'.repeat(300)}.png`)
    expect([...name]).toHaveLength(200)
    expect(name.endsWith('ä.png')).toBe(true)
    expect((await upload(PNG, 'u1', '猫 1.png')).name).toBe('猫 1.png')
  })

  test.each([
    ['no file', form([['user', 'u1']]), 400, 'no_file_uploaded'],
    [
      'a file that is text',
      form([
        ['file', 'text'],
        ['user', 'u1'],
      ]),
      400,
      'no_file_uploaded',
    ],
    ['a body that is no form', Buffer.from('{}'), 400, 'no_file_uploaded'],
    [
      'two files',
      form([
        ['file', PNG],
        ['file', GIF],
        ['user', 'u1'],
      ]),
      400,
      'too_many_files',
    ],
    [
      'a folder in the name',
      form([
        ['file', PNG, 'a/cat.png'],
        ['user', 'u1'],
      ]),
      400,
      'invalid_param',
    ],
    [
      'a backslash in the name',
      form([
        ['file', PNG, 'a\\cat.png'],
        ['user', 'u1'],
      ]),
      400,
      'invalid_param',
    ],
    ['no user', form([['file', PNG]]), 400, 'invalid_param'],
    [
      'a blank user',
      form([
        ['file', PNG],
        ['user', ' '],
      ]),
      400,
      'invalid_param',
    ],
    [
      'a picture with scripts',
      form([
        ['file', SVG, 'cat.png'],
        ['user', 'u1'],
      ]),
      415,
      'unsupported_file_type',
    ],
    [
      'text',
      form([
        ['file', Buffer.from('hello'), 'cat.png'],
        ['user', 'u1'],
      ]),
      415,
      'unsupported_file_type',
    ],
    [
      'nothing',
      form([
        ['file', Buffer.alloc(0), 'cat.png'],
        ['user', 'u1'],
      ]),
      415,
      'unsupported_file_type',
    ],
  ])('refuses %s', async (_what, body, status, code) => {
    expect(await refusal(await post(body))).toMatchObject({ status, code })
  })

  test.each([
    ['the name is empty', 'filename=""\r\ncontent-type: application/octet-stream'],
    ['the name is empty and the type is image/png', 'filename=""\r\ncontent-type: image/png'],
    ['the name is empty and the type is missing', 'filename=""'],
  ])('refuses a file without a name: %s', async (_what, more) => {
    const head = `--b\r\ncontent-disposition: form-data; name="file"; ${more}\r\n\r\n`
    const body = Buffer.concat([Buffer.from(head), PNG, Buffer.from('\r\n--b--\r\n')])
    const response = await post(body, key, { 'content-type': 'multipart/form-data; boundary=b' })
    expect(await refusal(response)).toMatchObject({ status: 400, code: 'filename_not_exists_error' })
  })

  test('refuses a truncated form', async () => {
    const body = Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\nabc')
    const response = await post(body, key, { 'content-type': 'multipart/form-data; boundary=b' })
    expect((await refusal(response)).status).toBe(400)
  })

  test('accepts a file of 10 MB and refuses one more byte with 413', async () => {
    expect((await upload(pngOf(10 * MB))).size).toBe(10 * MB)
    const over = form([
      ['file', pngOf(10 * MB + 1)],
      ['user', 'u1'],
    ])
    expect(await refusal(await post(over))).toMatchObject({ status: 413, code: 'file_too_large' })
  })

  test('refuses requests without a valid key', async () => {
    expect(
      (
        await post(
          form([
            ['file', PNG],
            ['user', 'u1'],
          ]),
          'app-wrong',
        )
      ).status,
    ).toBe(401)
  })

  test('answers 503 storage_connection_failed if the object cannot be stored', async () => {
    const objects = join(running.dataDir, 'objects')
    renameSync(join(objects, 'tmp'), join(objects, 'away'))
    const response = await post(
      form([
        ['file', pngOf(64 * 1024, 3)],
        ['user', 'u1'],
      ]),
    )
    removeFolder(join(objects, 'tmp'))
    renameSync(join(objects, 'away'), join(objects, 'tmp'))
    expect(await refusal(response)).toMatchObject({ status: 503, code: 'storage_connection_failed' })
  })
})

describe('messages with images', () => {
  test('reach the model, and the history lists the image', async () => {
    const file = await upload(PNG)
    const done = await bodyOf<{ conversation_id: string; answer: string }>(await send([local(file.id)]))
    expect(done.answer).toBe('seen: What is this?')
    const asked = model.requests.at(-1)?.body.messages?.at(-1)
    expect(asked).toEqual({
      role: 'user',
      content: 'What is this?',
      images: [`data:image/png;base64,${PNG.toString('base64')}`],
    })
    const [shown] = await filesIn(done.conversation_id)
    expect(shown).toEqual({
      id: expect.stringMatching(UUID),
      type: 'image',
      url: expect.stringMatching(/^http:\/\/localhost\/v1\/files\//),
      belongs_to: 'user',
      filename: 'cat.PNG',
      mime_type: 'image/png',
      size: PNG.length,
      transfer_method: 'local_file',
      upload_file_id: file.id,
    })
    expect(shown?.id).not.toBe(file.id)
    // A follow-up question includes the image again.
    await send([], { query: 'And its colour?', conversation_id: done.conversation_id })
    expect(model.requests.at(-1)?.body.messages?.at(-1)?.images).toHaveLength(1)
  })

  test('reach the model with passages and image if the application has a space', async () => {
    const { key: bound } = await appWith({ knowledgeSpaceIds: [chat.spaceId], vision: { enabled: true } })
    const file = await upload(GIF, 'u1', 'a.gif', bound)
    const ask = async (query: string) => {
      const response = await send([local(file.id)], { query }, bound)
      expect(response.status).toBe(200)
      return model.requests.at(-1)?.body.messages?.at(-1)
    }
    const known = await ask('When does the shop in Oslo open?')
    expect(known?.content).toContain('<source 1>')
    expect(known?.images).toHaveLength(1)
    const unknown = await ask('xyzzy plugh?')
    expect(unknown).toMatchObject({ content: 'xyzzy plugh?', images: [expect.any(String)] })
  })

  test('fetch a remote image, recognize it by its bytes, and list it under its original URL', async () => {
    const { shown } = await sent(remote(`${webUrl}/cat.gif`))
    expect(shown).toMatchObject({
      url: `${webUrl}/cat.gif`,
      transfer_method: 'remote_url',
      filename: 'cat.gif',
      mime_type: 'image/gif',
      upload_file_id: null,
    })
    expect(model.requests.at(-1)?.body.messages?.at(-1)?.images).toEqual([
      `data:image/gif;base64,${GIF.toString('base64')}`,
    ])
    expect(Buffer.from(await (await preview(shown.id)).arrayBuffer()).equals(GIF)).toBe(true)
  })

  test.each([
    ['http://169.254.169.254/latest/meta-data', 'cannot be fetched'],
    ['http://[::ffff:10.0.0.1]/a.png', 'cannot be fetched'],
    ['http://192.168.0.1/a.png', 'cannot be fetched'],
    ['file:///etc/passwd', 'cannot be fetched'],
    ['nonsense', 'cannot be fetched'],
    ['/inside', 'cannot be fetched'],
    ['/missing', 'status 404'],
    ['/page', 'is not a PNG'],
    ['/big', 'cannot be fetched'],
  ])('cause a refusal before the stream starts for a remote image at %s', async (place, reason) => {
    const url = place.startsWith('/') ? webUrl + place : place
    const body = await refusal(await send([remote(url)], { response_mode: 'streaming' }))
    expect(body).toMatchObject({ status: 400, params: 'files' })
    expect(body.message).toContain(reason)
  })

  test('A24: need valid files: unknown, foreign, ambiguous or too many files are refused with a reason', async () => {
    const mine = await upload(PNG)
    const theirs = await upload(PNG, 'u2')
    const { key: other } = await appWith({ vision: { enabled: true } })
    const foreign = await upload(PNG, 'u1', 'cat.png', other)
    for (const id of [theirs.id, foreign.id, UNKNOWN, 'nonsense'])
      expect((await refusal(await send([local(id)]))).message).toContain(`Invalid upload file: "${id}"`)
    const both = { ...local(mine.id), url: 'http://example.com/a.png' }
    for (const files of [
      [both],
      [{ ...local(mine.id), upload_file_id: '' }],
      [{ type: 'image', transfer_method: 'remote_url' }],
      [{ ...local(mine.id), type: 'document' }],
      [{ ...local(mine.id), transfer_method: 'pigeon' }],
      [local(mine.id), local(mine.id), local(mine.id)],
    ])
      expect(await refusal(await send(files))).toMatchObject({ status: 400, code: 'invalid_param' })
  })

  test('need vision for an image, and an enabled transfer method', async () => {
    const file = await upload(PNG)
    const ways = [
      [{}, 'invalid_param', 'vision is disabled'],
      [{ vision: { enabled: true, transferMethods: ['remote_url'] } }, 'invalid_param', 'local_file'],
    ] as const
    for (const [fields, code, sentence] of ways) {
      const body = await refusal(await send([local(file.id)], {}, (await appWith(fields)).key))
      expect(body.code).toBe(code)
      expect(body.message).toContain(sentence)
    }
  })

  test('need a model for an image; without a model /parameters reports file_upload as off', async () => {
    const blind = await startChat({ vision: { enabled: true } })
    try {
      const body = form([
        ['file', PNG],
        ['user', 'u1'],
      ])
      const { id } = await bodyOf<Uploaded>(await blind.chat('POST', '/files/upload', { body }))
      const json = { query: 'What is this?', user: 'u1', files: [local(id)] }
      const refused = await refusal(await blind.chat('POST', '/chat-messages', { json }))
      expect(refused).toMatchObject({ status: 400, code: 'model_currently_not_support' })
      const parameters = await bodyOf<object>(await blind.chat('GET', '/parameters?user=u1'))
      expect(parameters).toMatchObject({ file_upload: { enabled: false, image: { enabled: false } } })
    } finally {
      await blind.end()
    }
  })

  test('follow the vision settings that /parameters shows; a PATCH keeps the fields that it does not name', async () => {
    const { edge, token } = chat
    const upload = async () =>
      (await bodyOf<{ file_upload: object }>(await edge.send('GET', '/v1/parameters?user=u', { token: key })))
        .file_upload
    const methods = ['remote_url', 'local_file']
    expect(await upload()).toEqual({
      enabled: true,
      allowed_file_types: ['image'],
      allowed_file_extensions: [],
      allowed_file_upload_methods: methods,
      number_limits: 2,
      image: { enabled: true, number_limits: 2, detail: 'low', transfer_methods: methods },
    })
    const change = (json: object) => edge.send('PATCH', `/chat-apps/${appId}`, { token, json })
    await change({ vision: { enabled: false } })
    expect(await upload()).toMatchObject({ enabled: false, image: { enabled: false, number_limits: 2, detail: 'low' } })
    await change({ vision: { enabled: true } })
    expect((await change({ vision: { numberLimits: 11 } })).status).toBe(400)
    expect((await change({ vision: { colour: 'red' } })).status).toBe(400)
  })
})

describe('GET /files/{file_id}/preview', () => {
  test('A60: sends headers that prevent the bytes from running as a page', async () => {
    const { shown } = await sent(local((await upload(PNG, 'u1', "chat é'.png")).id))
    for (const id of [shown.id, shown.upload_file_id ?? '', shown.id.toUpperCase()]) {
      const response = await preview(id, '?user=anyone')
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(PNG.length),
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'access-control-allow-origin': '*',
        vary: 'Authorization',
      })
      expect(response.headers.get('content-disposition')).toMatch(/^inline/)
      expect(response.headers.has('accept-ranges')).toBe(false)
      expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true)
    }
    for (const yes of ['true', 'True', '1']) {
      const response = await preview(shown.id, `?as_attachment=${yes}`)
      expect(response.headers.get('content-type')).toBe('application/octet-stream')
      expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''chat%20%C3%A9%27.png")
      await response.body?.cancel()
    }
    for (const no of ['false', '0', '']) {
      const response = await preview(shown.id, `?as_attachment=${no}`)
      expect(response.headers.get('content-type')).toBe('image/png')
      await response.body?.cancel()
    }
    expect(await refusal(await preview(shown.id, '?as_attachment=perhaps'))).toMatchObject({ code: 'invalid_param' })
  })

  test('A66: supports one range, If-Range, and If-None-Match with 304', async () => {
    const { shown } = await sent(local((await upload(PNG, 'u1', 'part.png')).id))
    const size = PNG.length
    const ask = (headers: Record<string, string>) =>
      chat.edge.send('GET', `/v1/files/${shown.id}/preview`, { token: key, headers })
    const whole = await ask({})
    const etag = whole.headers.get('etag') ?? ''
    await whole.body?.cancel()
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=2-5', 2, 5],
      [`bytes=${size - 3}-`, size - 3, size - 1],
      ['bytes=-4', size - 4, size - 1],
      ['bytes=0-99999999999999', 0, size - 1],
      ['bytes=0-3,2-9,10-11', 0, 11],
    ] as const) {
      const response = await ask({ range })
      expect([response.status, response.headers.get('content-range')], range).toEqual([
        206,
        `bytes ${start}-${end}/${size}`,
      ])
      expect(response.headers.get('content-length')).toBe(String(end - start + 1))
      expect(Buffer.from(await response.arrayBuffer()).equals(PNG.subarray(start, end + 1))).toBe(true)
    }
    for (const range of [`bytes=${size}-`, 'bytes=-0', 'bytes=0-1,5-6', 'bytes=9-3']) {
      const response = await ask({ range })
      expect(response.headers.get('content-range'), range).toBe(`bytes */${size}`)
      expect(await refusal(response)).toMatchObject({ status: 416, code: 'range_not_satisfiable' })
    }
    for (const headers of <Record<string, string>[]>[
      { range: 'lines=1-2' },
      { range: 'nonsense' },
      { range: 'bytes=0-1', 'if-range': '"another"' },
      { range: 'bytes=0-1', 'if-range': `W/${etag}` },
      { 'if-none-match': '"another"' },
    ]) {
      const response = await ask(headers)
      expect([response.status, (await response.arrayBuffer()).byteLength], JSON.stringify(headers)).toEqual([200, size])
    }
    expect((await ask({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206)
    for (const list of [etag, `"another", W/${etag}`, '*']) {
      const response = await ask({ 'if-none-match': list })
      expect([response.status, await response.text()]).toEqual([304, ''])
    }
    await expect.poll(() => chat.edge.work.count()).toBe(0)
  })

  test('answers HEAD with the headers, without reading the file', async () => {
    const { shown } = await sent(local((await upload(PNG, 'u1', 'head.png')).id))
    const head = await chat.edge.send('HEAD', `/v1/files/${shown.id}/preview`, { token: key })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String(PNG.length))
    await expect.poll(() => chat.edge.work.count()).toBe(0)
  })

  test('serves only files of messages, and only to their application', async () => {
    const file = await upload(PNG)
    expect(await refusal(await preview(file.id))).toMatchObject({ status: 404, code: 'file_not_found' })
    expect(await refusal(await preview(UNKNOWN))).toMatchObject({ status: 404, code: 'file_not_found' })
    expect(await refusal(await preview('nonsense'))).toMatchObject({ status: 400, code: 'invalid_param' })
    const { shown } = await sent(local(file.id))
    const { key: other } = await appWith({})
    for (const id of [file.id, shown.id])
      expect(await refusal(await preview(id, '', other))).toMatchObject({ status: 403, code: 'file_access_denied' })
  })

  test('accepts the signed URL of the history without a key, for this file and until it expires', async () => {
    const { shown } = await sent(local((await upload(PNG)).id))
    const url = new URL(shown.url)
    const open = (path: string) => chat.edge.send('GET', path)
    const response = await open(url.pathname + url.search)
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true)
    const other = (await sent(local((await upload(GIF)).id))).shown
    for (const wrong of [
      `/v1/files/${other.id}/preview${url.search}`,
      url.pathname + url.search.replace(/expires=\d/, 'expires=9'),
      url.pathname + url.search.replace(/expires=\d+/, 'expires=1'),
      `${url.pathname}?expires=99999999999&sign=`,
    ])
      expect(await refusal(await open(wrong))).toMatchObject({ status: 403, code: 'file_access_denied' })
    expect((await open(url.pathname)).status).toBe(401)
    expect((await chat.edge.send('GET', `/v1/messages${url.search}`)).status).toBe(401)
    await chat.edge.send('PATCH', `/chat-apps/${appId}`, { token: chat.token, json: { enabled: false } })
    expect((await open(url.pathname + url.search)).status).toBe(403)
    await chat.edge.send('PATCH', `/chat-apps/${appId}`, { token: chat.token, json: { enabled: true } })
  })
})

describe('the bytes of files uploaded to a chat', () => {
  const caller = { tenant: 'tenant-a', subject: 'ada' }
  const day = 24 * 60 * 60 * 1000
  const problems = async () =>
    (await running.engine.integrity.fsck(caller, chat.spaceId, { check: 'raw-objects', deep: false })).issues

  test('expire if no message uses them, else are removed with their conversation', async () => {
    const kept = await sent(local((await upload(pngOf(50_000, 5))).id))
    const unused = await upload(pngOf(50_001, 6))
    clock += day - 60_000
    expect((await send([local(unused.id)], { user: 'u1' })).status).toBe(200)
    const late = await upload(pngOf(50_002, 7))
    clock += day + 60_000
    expect((await refusal(await send([local(late.id)]))).message).toContain('has expired')
    expect((await preview(kept.shown.id)).status).toBe(200)
    expect(await problems()).toEqual([])
    const conversation = { token: key, json: { user: 'u1' } }
    expect((await chat.edge.send('DELETE', `/v1/conversations/${kept.conversation}`, conversation)).status).toBe(204)
    expect((await preview(kept.shown.id)).status).toBe(404)
    await until(async () => (await preview(kept.shown.upload_file_id ?? '')).status === 404)
    await until(async () => (await problems()).length === 0)
  })

  test('have limits by count and size while no message uses them, per end user and per application', async () => {
    const many = await appWith({ vision: { enabled: true } })
    const more = (user: string) =>
      post(
        form([
          ['file', PNG],
          ['user', user],
        ]),
        many.key,
      )
    const ids: string[] = []
    for (let count = 0; count < 100; count++) ids.push((await bodyOf<Uploaded>(await more('u1'))).id)
    const refused = await refusal(await more('u1'))
    expect(refused).toMatchObject({ status: 400, code: 'too_many_files' })
    expect(refused.message).toContain('100 uploads')
    expect((await more('u2')).status).toBe(200)
    // Neither can a remote image be fetched for a message that would exceed the limit.
    const fetched = await refusal(await send([remote(`${webUrl}/cat.gif`)], { user: 'u1' }, many.key))
    expect(fetched).toMatchObject({ status: 400, code: 'invalid_param', params: 'files' })
    expect(fetched.message).toContain('100 uploads')
    expect(readdirSync(join(running.dataDir, 'objects', 'tmp'))).toEqual([])
    // Sending one of them in a message frees a slot, and expiry frees all.
    expect((await send([local(ids[0]!)], { user: 'u1' }, many.key)).status).toBe(200)
    expect((await more('u1')).status).toBe(200)
    expect((await more('u1')).status).toBe(400)
    const grow = (bytes: number) =>
      rowsOf(running.dataDir).run(
        'UPDATE chat_files SET size_bytes = ? WHERE app_id = ? AND expires_at IS NOT NULL',
        bytes,
        many.appId,
      )
    await grow(10 * MB)
    expect((await more('u2')).status).toBe(200)
    await grow(11 * MB)
    const full = await refusal(await more('u2'))
    expect(full).toMatchObject({ status: 400, code: 'too_many_files' })
    expect(full.message).toContain(`${1024 * MB} bytes`)
    clock += day + 60_000
    expect((await more('u1')).status).toBe(200)
  })

  test('appear in the report of fsck if they are missing', async () => {
    const bytes = pngOf(50_003, 8)
    const { shown } = await sent(local((await upload(bytes)).id))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const objects = join(running.dataDir, 'objects')
    const path = readdirSync(objects, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(sha256)) ?? ''
    renameSync(join(objects, path), join(running.dataDir, 'away'))
    const gone = (await problems()).filter(({ target }) => target.id === shown.upload_file_id)
    expect(gone).toMatchObject([{ code: 'raw-object-missing', severity: 'critical' }])
    expect((await preview(shown.id)).status).toBe(404)
    renameSync(join(running.dataDir, 'away'), join(objects, path))
    await expect.poll(problems).toEqual([])
  })
})
