import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenSocket, listenTcp, type TcpServer } from '../../src/daemon/listen.js'
import type { Engine } from '../../src/engine/index.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'

let edge: TestEdge
let tcp: TcpServer
let port = 0

beforeAll(async () => {
  edge = await startEdge({ settings: { allowedOrigins: ['https://app.example'], allowedHosts: ['ks.example'] } })
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  port = Number(new URL(tcp.url).port)
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.end()
})

interface RawAnswer {
  status: number
  headers: Headers
  body: string
}

/** Sends raw bytes. @returns the first response */
function raw(request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data
      const answer = parse(text)
      if (answer === undefined) return
      socket.destroy()
      resolve(answer)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)))
    socket.write(request)
  })
}

function parse(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = text.slice(end + 4)
  if (body.length < Number(headers.get('content-length') ?? 0)) return undefined
  return { status: Number(first.split(' ')[1]), headers, body }
}

const get = (target: string, headers: string[] = []) =>
  raw(
    [
      `GET ${target} HTTP/1.1`,
      ...(headers.some((each) => /^host:/i.test(each)) ? [] : [`host: 127.0.0.1:${port}`]),
      ...headers,
      '',
      '',
    ].join('\r\n'),
  )
const bearer = (token: string) => `authorization: Bearer ${token}`

describe('A55: the Host header', () => {
  test.each(['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST'])('%s is accepted with any port or none', async (name) => {
    for (const host of [name, `${name}:${port}`, `${name}:1`])
      expect((await get('/health', [`host: ${host}`])).status).toBe(200)
  })

  test('a configured name is accepted with or without a port', async () => {
    for (const host of ['ks.example', 'KS.example:8443'])
      expect((await get('/health', [`host: ${host}`])).status).toBe(200)
  })

  test.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example:PORT',
    '192.168.0.1:PORT',
    '127.0.0.1.nip.io:PORT',
    '0.0.0.0:PORT',
  ])('%s is refused', async (host) => {
    const answer = await get('/health', [`host: ${host.replace('PORT', String(port))}`])
    expect(answer.status).toBe(403)
    expect(answer.headers.get('x-error-code')).toBe('host-refused')
    expect(answer.headers.get('x-trace-id')).toBeTruthy()
  })

  test('a missing, empty, duplicate or malformed header is refused', async () => {
    expect((await raw('GET /health HTTP/1.1\r\n\r\n')).status).toBe(400)
    expect((await raw('GET /health HTTP/1.0\r\n\r\n')).status).toBe(400)
    expect([400, 403]).toContain((await get('/health', ['host: '])).status)
    expect((await get('/health', [`host: 127.0.0.1:${port}`, 'host: evil.example'])).status).toBe(400)
    for (const host of ['a b', 'localhost:', 'localhost:x', 'localhost:1:1'])
      expect([400, 403]).toContain((await get('/health', [`host: ${host}`])).status)
    expect([400, 403]).toContain((await get('/health', ['host: user@127.0.0.1'])).status)
  })

  test('an absolute request target takes precedence over the header', async () => {
    expect((await get('http://evil.example/health')).status).toBe(403)
    expect((await get(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    expect((await get(`http://127.0.0.1:${port}/health`, ['host: evil.example'])).status).toBe(403)
  })
})

describe('A56: a request from a page of another site', () => {
  test.each<string[]>([
    ['origin: https://evil.example'],
    ['origin: null'],
    ['origin: file://'],
    ['origin: http://localhost:3000'],
    ['origin: http://127.0.0.1:1'],
    ['sec-fetch-site: cross-site'],
    ['sec-fetch-site: same-site'],
  ])('with %s is refused without CORS permission', async (...headers) => {
    const answer = await get('/health', headers)
    expect(answer.status).toBe(403)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('gets 403 for a preflight too', async () => {
    const preflight = `OPTIONS /queries HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\norigin: https://evil.example\r\naccess-control-request-method: POST\r\n\r\n`
    const answer = await raw(preflight)
    expect(answer.status).toBe(403)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('from the origin of the daemon or a configured origin is accepted', async () => {
    const same = await get('/health', [`origin: http://127.0.0.1:${port}`, 'sec-fetch-site: same-origin'])
    expect(same.status).toBe(200)
    expect(same.headers.get('access-control-allow-origin')).toBeNull()
    const listed = await get('/knowledge-spaces', ['origin: https://app.example', 'sec-fetch-site: cross-site'])
    expect(listed.status).toBe(401)
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(listed.headers.get('access-control-allow-credentials')).toBeNull()
    const preflight = await raw(
      `OPTIONS /queries HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\norigin: https://app.example\r\naccess-control-request-method: POST\r\n\r\n`,
    )
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
  })
})

describe('A09: spellings of a guarded path', () => {
  test.each([
    '//knowledge-spaces',
    '/./knowledge-spaces',
    '/x/../knowledge-spaces',
    '/%6bnowledge-spaces',
    '/%256bnowledge-spaces',
    '/knowledge-spaces/',
    '/knowledge-spaces/.',
    '/knowledge-spaces;a=b',
    '/KNOWLEDGE-SPACES',
    '/knowledge-spaces%2f',
    '/queries/%2e%2e/jobs',
    '/daemon/status',
    '/daemon',
    '/jobs/..%2fhealth',
    '/knowledge-spaces%00',
    '/%2fknowledge-spaces',
  ])('%s gets 401 without a token', async (path) => {
    expect((await get(path)).status).toBe(401)
  })

  test.each(['/\\knowledge-spaces', '/knowledge-spaces\\x', '*', 'knowledge-spaces'])(
    '%s is no valid target',
    async (target) => {
      expect([400, 401]).toContain((await get(target)).status)
    },
  )

  test.each(['/', '/nothing', '/v2', '/healthz', '/health/'])('%s is public and unknown: 404', async (path) => {
    expect((await get(path)).status).toBe(404)
  })
})

describe('a token', () => {
  test('A10: counts only in the Authorization header, and only once', async () => {
    const { ada, bob } = edge.tokens
    expect((await get('/knowledge-spaces', [bearer(ada)])).status).toBe(200)
    expect((await get(`/knowledge-spaces?token=${ada}&access_token=${ada}`)).status).toBe(401)
    for (const header of [
      `cookie: token=${ada}`,
      `x-authorization: Bearer ${ada}`,
      `proxy-authorization: Bearer ${ada}`,
    ])
      expect((await get('/knowledge-spaces', [header])).status).toBe(401)
    expect((await get('/knowledge-spaces', [bearer(ada), bearer(ada)])).status).toBe(401)
    expect((await get('/knowledge-spaces', [bearer(ada), bearer(bob)])).status).toBe(401)
    expect(JSON.stringify(edge.log)).not.toContain(ada)
  })

  test('gets 401 or 431 if it is excessively long', async () => {
    expect((await get('/knowledge-spaces', [bearer('a'.repeat(8_192))])).status).toBe(401)
    for (const size of [17_000, 1_000_000]) {
      const answer = await get('/knowledge-spaces', [bearer('a'.repeat(size))]).catch(() => undefined)
      if (answer !== undefined) expect(answer.status).toBe(431)
    }
  })
})

describe('request headers', () => {
  test('A61: above the size limit get 431 in the shape of every failure', async () => {
    const answer = await get('/health', [`x-long: ${'a'.repeat(17_000)}`])
    expect(answer.status).toBe(431)
    expect(Object.keys(JSON.parse(answer.body))).toEqual(['error'])
    expect(answer.headers.get('x-error-code')).toBe('headers-too-large')
    expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('that form no valid request get 400 with a correlation id and an error code', async () => {
    for (const request of ['nonsense\r\n\r\n', `GET /health HTTP/1.1\r\nhost: a@b:${port}\r\n\r\n`]) {
      const answer = await raw(request)
      expect(answer.status).toBe(400)
      expect(answer.headers.get('x-error-code')).toBe('invalid-request')
      expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test.each(['a\tb', 'x'.repeat(129), 'ü', 'a b', '<script>'])(
    'A72: with the invalid correlation id %j get a new one in the response',
    async (id) => {
      const answer = await get('/health', [`x-trace-id: ${id}`])
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test('with a valid correlation id get this id in the response, also with an error', async () => {
    for (const id of ['x', 'a.B_c-9', 'y'.repeat(128)]) {
      expect((await get('/health', [`x-trace-id: ${id}`])).headers.get('x-trace-id')).toBe(id)
      expect((await get('/nothing', [`x-trace-id: ${id}`])).headers.get('x-trace-id')).toBe(id)
    }
  })

  test('with duplicate or conflicting descriptions of the body are refused', async () => {
    const request = (extra: string[]) =>
      raw(
        [`POST /queries HTTP/1.1`, `host: 127.0.0.1:${port}`, bearer(edge.tokens.ada), ...extra, '', '{}'].join('\r\n'),
      )
    const types = ['content-type: application/json', 'content-type: text/plain']
    expect((await request([...types, 'content-length: 2'])).status).toBe(400)
    expect((await request(['content-type: application/json', 'content-length: 2', 'content-length: 3'])).status).toBe(
      400,
    )
    expect(
      (await request(['content-type: application/json', 'content-length: 2', 'transfer-encoding: chunked'])).status,
    ).toBe(400)
  })
})

describe('input that is not HTTP', () => {
  test('gets 400 with a JSON error', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET  /health HTTP/1.1\r\n\r\n',
      Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
    ]) {
      const answer = await raw(bytes)
      expect(answer.status).toBe(400)
      expect(Object.keys(JSON.parse(answer.body))).toEqual(['error'])
    }
  })

  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'get'])(
    'with the unsupported method %s gets 400 or 405',
    async (method) => {
      const answer = await raw(`${method} /health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`).catch(() => undefined)
      if (answer !== undefined) expect([400, 405]).toContain(answer.status)
    },
  )
})

describe('a HEAD request', () => {
  const ask = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n')

  /** The responses to pipelined requests; the last one closes the connection. */
  const conversation = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let heard = ''
      socket.on('data', (data) => {
        heard += data
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(heard))
      socket.write(text)
    })

  test('gets the headers of GET without a body, so the connection remains usable', async () => {
    const whole = await get('/knowledge-spaces?limit=7', [bearer(edge.tokens.ada)])
    const heard = await conversation(
      ask('HEAD /knowledge-spaces?limit=7', bearer(edge.tokens.ada)) + ask('GET /nothing', 'connection: close'),
    )
    const [head = '', rest = ''] = heard.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 /)
    expect(head).toContain('content-type: application/json')
    expect(head.toLowerCase()).toContain(`content-length: ${whole.body.length}`)
    expect(rest).toMatch(/^HTTP\/1\.1 404 /)
  })

  test.each([
    ['/knowledge-spaces', [], 401],
    ['/knowledge-spaces/nothing', ['TOKEN'], 404],
    ['/knowledge-spaces?limit=0', ['TOKEN'], 400],
    ['/queries', ['TOKEN'], 405],
    ['/v1/info', [], 401],
    ['/v1/', [], 200],
    ['/health', [], 200],
    ['/openapi.json', [], 200],
  ])('for %s with %j gets %i', async (target, headers, status) => {
    const sent = headers.map(() => bearer(edge.tokens.ada))
    const heard = await conversation(ask(`HEAD ${target}`, ...sent, 'connection: close'))
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(heard.endsWith('\r\n\r\n')).toBe(true)
    expect(heard.split('\r\n\r\n')).toHaveLength(2)
  })

  test('no longer counts as work in progress after its response', async () => {
    await expect.poll(() => edge.work.count()).toBe(0)
  })
})

describe('the listener', () => {
  const listen = (address: string) => listenTcp(edge.app, { listen: address, insecure: false, anyPort: false })

  test.each(['0.0.0.0:0', '[::]:0', '192.0.2.1:0'])(
    'A58: refuses %s without TLS or insecureListen',
    async (address) => {
      await expect(listen(address)).rejects.toThrow(
        `listen ${address} is not a loopback address: set tlsCert and tlsKey, or insecureListen`,
      )
    },
  )

  test('refuses a port in use, or selects a free port if anyPort is set', async () => {
    const address = `127.0.0.1:${port}`
    await expect(listen(address)).rejects.toThrow(`${address} is already in use by node`)
    const other = await listenTcp(edge.app, { listen: address, insecure: false, anyPort: true })
    expect(new URL(other.url).port).not.toBe(String(port))
    other.server.close()
  })

  test('skips a unix socket whose path is too long', async () => {
    expect(await listenSocket(edge.app, `/tmp/${'x'.repeat(101)}`)).toBeUndefined()
  })
})

test('a client above the request rate gets 429 with Retry-After', async () => {
  const limited = await startEdge({ settings: { rateLimit: 3 }, engine: edge.engine })
  const ask = (token: string) => limited.send('GET', '/knowledge-spaces', { token })
  expect((await Promise.all([1, 2, 3].map(() => ask(limited.tokens.ada)))).map(({ status }) => status)).toEqual([
    200, 200, 200,
  ])
  const refused = await ask(limited.tokens.ada)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect((await ask(limited.tokens.bob)).status).toBe(200)
  await limited.end()
})

test('only the operator can revoke a token, which is refused from then on', async () => {
  const { operator, ada, readOnly } = edge.tokens
  const jti = JSON.parse(Buffer.from(readOnly.split('.')[1] ?? '', 'base64url').toString()).jti
  expect((await edge.send('GET', '/knowledge-spaces', { token: readOnly })).status).toBe(200)
  expect((await edge.send('DELETE', `/daemon/tokens/${jti}`, { token: ada })).status).toBe(403)
  expect((await edge.send('DELETE', `/daemon/tokens/${jti}`, { token: operator })).status).toBe(204)
  expect((await edge.send('GET', '/knowledge-spaces', { token: readOnly })).status).toBe(401)
})

test('a stopping daemon answers 503 with Retry-After', async () => {
  const stopping = await startEdge({ engine: edge.engine })
  stopping.work.stop()
  const answer = await stopping.send('GET', '/health')
  expect({ status: answer.status, wait: answer.headers.get('retry-after') }).toEqual({ status: 503, wait: '5' })
  await stopping.end()
})

describe('an unexpected failure', () => {
  const broken = async (health: () => unknown) => {
    const other = await startEdge({ engine: { ...edge.engine, health: health as Engine['health'] } })
    const answer = await other.send('GET', '/health', { headers: { 'x-trace-id': 'trace-1' } })
    const told = { status: answer.status, code: answer.headers.get('x-error-code'), body: await answer.text() }
    await other.end()
    return { told, log: other.log }
  }
  const told = {
    status: 500,
    code: 'internal',
    body: '{"error":"the request failed unexpectedly; see the log for the trace id trace-1"}',
  }

  test('shows only a trace id to the client; the log contains the details', async () => {
    const failed = await broken(() => {
      throw new Error('a secret detail')
    })
    expect(failed.told).toEqual(told)
    expect(failed.log).toMatchObject([{ traceId: 'trace-1', err: { message: 'a secret detail' }, path: '/health' }])
  })

  test('results from a reply that does not match its documented schema', async () => {
    const failed = await broken(() => ({ ok: 'yes' }))
    expect(failed.told).toEqual(told)
    expect(JSON.stringify(failed.log)).toContain('getHealth 200 does not match its schema')
  })
})

test('an upload to a daemon with inline compilation gets 201 after its document is published', async () => {
  const inline = await startEdge({ settings: { compilation: 'inline' } })
  const { ada } = inline.tokens
  const made = await inline.send('POST', '/knowledge-spaces', { token: ada, json: { name: 'A', slug: 'a' } })
  const path = `/knowledge-spaces/${(await bodyOf<{ id: string }>(made)).id}/documents`
  const form = new FormData()
  form.append('file', new File(['# One\n\nSome text.'], 'one.md'))
  const answer = await inline.send('POST', path, { token: ada, body: form })
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({ filename: 'one.md', parserStatus: 'parsed' })
  await inline.end()
})

describe('the gateway and the chat service', () => {
  test.each([
    ['/health', 'POST', 405],
    ['/v1', 'POST', 405],
    ['/jobs', 'POST', 401],
    ['/v1/info', 'POST', 401],
  ])('close the connection after a refusal at %s while the body is still arriving', async (path, method, status) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: `
    const begun = await raw(`${head}1000000\r\n\r\nx`)
    expect([begun.status, begun.headers.get('connection')]).toEqual([status, 'close'])
    const whole = await raw(`${head}1\r\n\r\nx`)
    expect(whole.status).toBe(status)
  })

  test('log an unexpected failure under the trace id of the response, without details in the response', async () => {
    const { chat } = edge.engine
    const kept = { authenticate: chat.authenticate, health: edge.engine.health }
    const broken = () => {
      throw new Error('a secret of the inside')
    }
    chat.authenticate = broken
    edge.engine.health = broken
    try {
      for (const path of ['/v1/info', '/health']) {
        // A token with a dot would not count as an application key.
        const token = path === '/v1/info' ? 'app-example' : edge.tokens.ada
        const response = await edge.send('GET', path, { token })
        expect(response.status, path).toBe(500)
        expect(await response.text()).not.toContain('secret')
        const traceId = response.headers.get('x-trace-id')
        expect(edge.log.find((line) => line.traceId === traceId)).toMatchObject({ msg: 'request failed', path })
      }
    } finally {
      chat.authenticate = kept.authenticate
      edge.engine.health = kept.health
    }
  })
})
