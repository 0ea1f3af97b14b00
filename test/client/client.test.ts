import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { ApiError, ConnectionError } from '../../src/client/errors.js'
import { readBody, startTestServer, type TestServer } from '../helpers/cli.js'

let server: TestServer | undefined
let client: Client | undefined

afterEach(async () => {
  client?.close()
  await server?.end()
})

function connect(target: { url: string; token?: string; socketPath?: string }): Client {
  client = new Client(target)
  return client
}

describe('a call of the API client', () => {
  it('fills in the path, the query and the token, and parses the JSON response', async () => {
    let authorization: string | undefined
    server = await startTestServer((request, response) => {
      authorization = request.headers.authorization
      response.end('{"items":[]}')
    })
    const connected = connect({ url: server.url, token: 'secret' })
    expect(await connected.request('GET /knowledge-spaces', { query: { limit: 5 } })).toEqual({ items: [] })
    expect(server.seen).toEqual(['GET /knowledge-spaces?limit=5'])
    expect(authorization).toBe('Bearer secret')
  })

  it('percent-encodes path parts, so that an id with a slash remains one part', async () => {
    server = await startTestServer((_, response) => response.end('{}'))
    await connect({ url: server.url }).request('GET /jobs/{id}', { path: { id: 'a/b ?' } })
    expect(server.seen).toEqual(['GET /jobs/a%2Fb%20%3F'])
  })

  it('turns an error response into an ApiError with message, code, status, trace id and Retry-After', async () => {
    server = await startTestServer((_, response) => {
      response.writeHead(409, { 'x-error-code': 'slug-taken', 'x-trace-id': 't-1', 'retry-after': '7' })
      response.end('{"error":"slug \\"notes\\" is already used"}')
    })
    const call = connect({ url: server.url }).request('GET /health', {})
    await expect(call).rejects.toMatchObject({
      name: 'ApiError',
      code: 'slug-taken',
      status: 409,
      message: 'slug "notes" is already used',
      traceId: 't-1',
      retryAfter: 7,
    })
  })

  it('fails with the HTTP status if the response is not from the service', async () => {
    server = await startTestServer((_, response) => {
      response.writeHead(418)
      response.end('<html>')
    })
    const error = await connect({ url: server.url })
      .request('GET /health', {})
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'http-418', status: 418 })
  })

  it('repeats a GET after a broken connection, but no DELETE', async () => {
    let broken = 0
    server = await startTestServer((request, response) => {
      if (broken < 1) {
        broken += 1
        request.socket.destroy()
      } else response.end('{}')
    })
    const connected = connect({ url: server.url })
    await connected.request('GET /health', {})
    expect(server.seen).toEqual(['GET /health', 'GET /health'])
    broken = 0
    const write = connected.request('DELETE /jobs/{id}', { path: { id: 'x' } })
    await expect(write).rejects.toBeInstanceOf(ConnectionError)
    expect(server.seen.filter((line) => line.startsWith('DELETE'))).toHaveLength(1)
  })

  it('repeats a GET that got 503 with a short Retry-After after this time', async () => {
    let calls = 0
    server = await startTestServer((_, response) => {
      calls += 1
      if (calls === 1) response.writeHead(503, { 'retry-after': '1' })
      response.end(calls === 1 ? '{"error":"starting"}' : '{}')
    })
    const started = performance.now()
    await connect({ url: server.url }).request('GET /health', {})
    expect(performance.now() - started).toBeGreaterThan(900)
  })

  it('fails with code unreachable if nothing listens at the address', async () => {
    const call = connect({ url: 'http://127.0.0.1:9' }).request('POST /knowledge-spaces', {
      body: { name: 'x', slug: 'x' },
    })
    await expect(call).rejects.toMatchObject({ code: 'unreachable', errno: 'ECONNREFUSED' })
  })

  it('can be sent over a unix socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ks-sock-'))
    const socketPath = join(folder, 's')
    server = await startTestServer((_, response) => response.end('{"ok":true}'), socketPath)
    expect(await connect({ url: 'http://127.0.0.1:1', socketPath }).request('GET /health', {})).toEqual({ ok: true })
    rmSync(folder, { recursive: true })
  })
})

describe('an event stream of the API client', () => {
  it('yields frames as they arrive, wherever the bytes are split', async () => {
    server = await startTestServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-session-id': 's' })
      const text = ': ping\n\nevent: answer.delta\ndata: {"delta":"grün"}\n\nevent: answer.done\ndata: {}\n\n'
      const bytes = Buffer.from(text)
      // Between the two bytes of `ü`.
      const cut = bytes.indexOf(0xc3) + 1
      response.write(bytes.subarray(0, cut))
      setTimeout(() => response.end(bytes.subarray(cut)), 20)
    })
    const stream = await connect({ url: server.url }).stream('POST /queries', {
      body: { knowledgeSpaceId: 'x', query: 'q' },
    })
    const frames = []
    for await (const frame of stream.events) frames.push([frame.event, frame.data])
    expect(frames).toEqual([
      ['answer.delta', '{"delta":"grün"}'],
      ['answer.done', '{}'],
    ])
    expect(stream.headers['x-session-id']).toBe('s')
  })

  it('fails when the connection breaks in the middle', async () => {
    server = await startTestServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: answer.delta\ndata: {}\n\n')
      setTimeout(() => response.destroy(), 20)
    })
    const stream = await connect({ url: server.url }).stream('POST /queries', {
      body: { knowledgeSpaceId: 'x', query: 'q' },
    })
    const read = async () => {
      for await (const _ of stream.events);
    }
    await expect(read()).rejects.toBeInstanceOf(ConnectionError)
  })
})

describe('an upload of the API client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-upload-'))
  const big = join(folder, 'big.bin')
  writeFileSync(big, Buffer.alloc(3 * 1024 * 1024, 7))
  const input = (size: number) => ({
    path: { id: 'x' },
    field: 'files' as const,
    files: [{ filename: 'big.bin', content: { path: big, size } }],
  })

  it('sends its length, streams the file and counts its bytes', async () => {
    let length = 0
    let received = 0
    server = await startTestServer(async (request, response) => {
      length = Number(request.headers['content-length'])
      received = (await readBody(request)).byteLength
      response.writeHead(202)
      response.end('{"bulkJobId":"b","total":1,"items":[]}')
    })
    let counted = 0
    await connect({ url: server.url }).upload(
      'POST /knowledge-spaces/{id}/documents/bulk',
      input(3 * 1024 * 1024),
      (bytes) => {
        counted += bytes
      },
    )
    expect(received).toBe(length)
    expect(counted).toBe(3 * 1024 * 1024)
  })

  it('fails with the refusal that arrives while the file is being sent', async () => {
    server = await startTestServer((request, response) => {
      request.once('data', () => {
        response.writeHead(413, { 'x-error-code': 'upload-too-large' })
        response.end('{"error":"too large"}')
        request.resume()
      })
    })
    const upload = connect({ url: server.url }).upload(
      'POST /knowledge-spaces/{id}/documents/bulk',
      input(3 * 1024 * 1024),
    )
    await expect(upload).rejects.toMatchObject({ code: 'upload-too-large', message: 'too large' })
  })

  it('fails with the file name if the file becomes shorter while it is sent', async () => {
    server = await startTestServer((request) => {
      request.resume()
    })
    const upload = connect({ url: server.url }).upload('POST /knowledge-spaces/{id}/documents/bulk', input(2 ** 23))
    await expect(upload).rejects.toMatchObject({ name: 'UploadReadError', filename: 'big.bin', hasShrunk: true })
  })
})
