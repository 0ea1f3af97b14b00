import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenTcp, type TcpServer } from '../../src/daemon/listen.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT = 2 * MIB

let edge: TestEdge
let tcp: TcpServer
let path = ''

beforeAll(async () => {
  edge = await startEdge({ settings: { uploadBytes: LIMIT, bulkBytes: 3 * MIB, bulkFiles: 50 } })
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  const made = await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json: { name: 'A', slug: 'a' } })
  path = `/knowledge-spaces/${(await bodyOf<{ id: string }>(made)).id}/documents`
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.end()
})

interface FormAnswer {
  error: string
  items: { asset: { filename: string } }[]
}

interface Part {
  head: string
  body?: string | Buffer
}

const file = (name: string, filename: string, body: string | Buffer = '# T\n\nText.'): Part => ({
  head: `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/markdown`,
  body,
})
const field = (name: string, body: string): Part => ({ head: `Content-Disposition: form-data; name="${name}"`, body })

function encode(parts: Part[], boundary = 'edge', end = `--${boundary}--\r\n`): Buffer {
  const chunks = parts.flatMap(({ head, body = '' }) => [`--${boundary}\r\n${head}\r\n\r\n`, body, '\r\n'])
  return Buffer.concat([...chunks, end].map((chunk) => Buffer.from(chunk)))
}

async function post(body: Buffer | string, to = path, type = 'multipart/form-data; boundary=edge') {
  const response = await fetch(`${tcp.url}${to}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${edge.tokens.ada}`, 'content-type': type },
    body,
  })
  const answer = await bodyOf<FormAnswer>(response)
  return { status: response.status, code: response.headers.get('x-error-code'), ...answer }
}

const stagedFiles = () => readdirSync(join(edge.dataDir, 'objects', 'tmp'))

describe('an upload', () => {
  test('keeps folders and all letters of the file name, and accepts fields before and after the file', async () => {
    const both = await post(encode([file('file', 'Straße/日本 "x".md'.replaceAll('"', '%22')), field('sourceId', '')]))
    expect(both).toMatchObject({ status: 400, error: 'sourceId must be a uuid, received ""' })
    const answer = await post(encode([file('file', 'Straße/日本.md')]))
    expect(answer).toMatchObject({ status: 202, asset: { filename: 'Straße/日本.md' } })
  })

  test('accepts the extended form of a file name', async () => {
    const head = 'Content-Disposition: form-data; name="file"; filename="x.md"; filename*=UTF-8\'\'%E6%BD%AE.md'
    expect(await post(encode([{ head, body: '# S' }]))).toMatchObject({ status: 202, asset: { filename: '潮.md' } })
  })

  test('A26: keeps every character of the file name, including spaces at its ends', async () => {
    const head = 'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%20a%07%1B%5B31mb.md%20'
    const answer = await post(encode([{ head, body: '# C' }]))
    expect(answer).toMatchObject({ status: 202, asset: { filename: ' a\u0007\u001b[31mb.md ' } })
  })

  test('with 50 files is acknowledged once all are stored', async () => {
    const parts = Array.from({ length: 50 }, (_, index) =>
      file('files', `n${index}.md`, `# ${index}\n\nText ${index}.`),
    )
    const answer = await post(encode(parts), `${path}/bulk`)
    expect(answer).toMatchObject({ status: 202, total: 50 })
    expect(new Set(answer.items.map((item) => item.asset.filename)).size).toBe(50)
  })
})

describe('A62: an invalid form', () => {
  const cases: [string, Buffer | string, string][] = [
    ['without a file', encode([]), 'at least one file'],
    ['with nothing in it', '', 'Unexpected end of form'],
    ['with a file under another name', encode([file('data', 'a.md')]), 'unknown file field "data"'],
    ['with two files', encode([file('file', 'a.md'), file('file', 'b.md')]), 'exactly one file'],
    ['with an unknown field', encode([file('file', 'a.md'), field('other', 'x')]), 'unknown key "other"'],
    ['with a field twice', encode([field('sourceId', 'x'), field('sourceId', 'x')]), 'given more than once'],
    ['with the file as a field', encode([field('file', 'text')]), 'must be a file'],
    [
      'with a file without a name',
      encode([{ head: 'Content-Disposition: form-data; name="file"; filename=""', body: 'x' }]),
      'filename',
    ],
    [
      'with a file in a part without a name',
      encode([{ head: 'Content-Disposition: form-data; filename="a.md"', body: 'x' }]),
      'needs a name',
    ],
    [
      'with a file in a part with an empty name',
      encode([{ head: 'Content-Disposition: form-data; name=""; filename="a.md"', body: 'x' }]),
      'needs a name',
    ],
    [
      'with text in a part without a name',
      encode([{ head: 'Content-Disposition: form-data', body: 'x' }]),
      'needs a name',
    ],
    ['with a name of 1,025 characters', encode([file('file', `${'x'.repeat(1025)}`)]), 'at most 1024 characters'],
    [
      'with a field of a kibibyte more than it may have',
      encode([field('sourceId', 'x'.repeat(9 * KIB))]),
      'at most 8192 bytes',
    ],
    ['with a field called __proto__', encode([file('file', 'a.md'), field('__proto__', 'x')]), '__proto__'],
    [
      'with a huge part header',
      encode([{ head: `Content-Disposition: form-data; name="file"; filename="a"\r\nX: ${'y'.repeat(MIB)}` }]),
      'malformed',
    ],
    ['without its end', encode([file('file', 'a.md')], 'edge', ''), 'Unexpected end of form'],
    [
      'with line feeds alone',
      encode([file('file', 'a.md')])
        .toString()
        .replaceAll('\r\n', '\n'),
      'Unexpected end of form',
    ],
    [
      'with ten thousand fields',
      encode(Array.from({ length: 10_000 }, (_, index) => field(`f${index}`, 'x'))),
      'at most 20',
    ],
    ['with many empty parts', '--edge\r\n\r\n\r\n'.repeat(50_000), 'malformed'],
    [
      'with a form inside the form',
      encode([{ head: 'Content-Type: multipart/mixed; boundary=in', body: '--in--' }]),
      'file',
    ],
  ]
  test.each(cases)('%s is refused and leaves nothing', async (_what, body, sentence) => {
    const answer = await post(body)
    expect(answer).toMatchObject({ status: 400, code: 'invalid-request' })
    expect(answer.error).toContain(sentence)
    await until(() => stagedFiles().length === 0)
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/mixed; boundary=edge',
    'application/json',
    'text/plain',
  ])('with the content type %s is refused', async (type) => {
    expect(await post(encode([file('file', 'a.md')]), path, type)).toMatchObject({
      status: 400,
      code: 'invalid-request',
    })
  })

  test('A64: with compression is refused', async () => {
    const response = await edge.send('POST', path, {
      token: edge.tokens.ada,
      body: new Uint8Array(encode([file('file', 'a.md')])),
      headers: { 'content-type': 'multipart/form-data; boundary=edge', 'content-encoding': 'gzip' },
    })
    expect(response.status).toBe(400)
  })
})

describe('A67: an upload above a limit', () => {
  test('can use every byte up to the limit, and gets 413 for one more', async () => {
    const fits = await post(encode([file('file', 'big.txt', Buffer.alloc(LIMIT, 'a'))]))
    expect(fits.status).toBe(202)
    const over = await post(encode([file('file', 'big2.txt', Buffer.alloc(LIMIT + 1, 'a'))]))
    expect(over).toMatchObject({ status: 413, code: 'upload-too-large' })
    await until(() => stagedFiles().length === 0)
  })

  test('gets 413 for its declared length before the body is read', async () => {
    const answer = await rawUpload({ 'content-length': String(100 * MIB) }, [])
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
  })

  test('without a declared length is refused while it arrives', async () => {
    const chunk = Buffer.alloc(64 * KIB, 'a')
    const head = Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
    const answer = await rawUpload({ 'transfer-encoding': 'chunked' }, endless(head, chunk))
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    await until(() => stagedFiles().length === 0)
  })

  test('gets 413 for too many files or too many bytes in total', async () => {
    const many = Array.from({ length: 51 }, (_, index) => file('files', `m${index}.md`))
    expect(await post(encode(many), `${path}/bulk`)).toMatchObject({ status: 413, code: 'upload-too-large' })
    const large = [1, 2].map((index) => file('files', `l${index}.txt`, Buffer.alloc(1.75 * MIB, String(index))))
    expect(await post(encode(large), `${path}/bulk`)).toMatchObject({ status: 413, code: 'upload-too-large' })
    await until(() => stagedFiles().length === 0)
  })
})

describe('a client that disconnects during an upload', () => {
  test('leaves no staged file', async () => {
    const socket = connect(Number(new URL(tcp.url).port), '127.0.0.1')
    socket.write(requestHead({ 'content-length': '1000000' }))
    socket.write('--edge\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbeginning')
    await until(() => edge.work.count() > 0)
    socket.destroy()
    await until(() => edge.work.count() === 0 && stagedFiles().length === 0)
  })
})

test('the log contains no error after accepted, invalid and interrupted uploads', () => {
  expect(edge.log.filter(({ level }) => level === 'error' || Number(level) >= 50)).toEqual([])
})

function requestHead(headers: Record<string, string>): string {
  const lines = Object.entries({
    host: new URL(tcp.url).host,
    authorization: `Bearer ${edge.tokens.ada}`,
    'content-type': 'multipart/form-data; boundary=edge',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function* endless(first: Buffer, chunk: Buffer): Generator<Buffer> {
  yield first
  for (;;) yield chunk
}

/** Sends chunks until the daemon responds. @returns the beginning of the response */
function rawUpload(headers: Record<string, string>, chunks: Iterable<Buffer>): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(tcp.url).port), '127.0.0.1')
    const source = chunks[Symbol.iterator]()
    let answered = false
    const send = () => {
      while (!answered) {
        const next = source.next()
        if (next.done === true) return
        socket.write(`${next.value.length.toString(16)}\r\n`)
        socket.write(next.value)
        if (!socket.write('\r\n')) return void socket.once('drain', send)
      }
    }
    socket.once('data', (data) => {
      answered = true
      socket.destroy()
      resolve(data.toString())
    })
    socket.on('error', (error) => (answered ? undefined : reject(error)))
    socket.write(requestHead(headers))
    send()
  })
}
