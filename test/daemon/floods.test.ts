import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { listenTcp, type TcpServer } from '../../src/daemon/listen.js'
import { startEdge, type TestEdge } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

let edge: TestEdge
let tcp: TcpServer
let port = 0
const sockets: Socket[] = []

beforeAll(async () => {
  edge = await startEdge()
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  port = Number(new URL(tcp.url).port)
})
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.end()
})

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}
const head = (line: string, headers: string[] = []) =>
  `${[line, `host: 127.0.0.1:${port}`, ...headers].join('\r\n')}\r\n\r\n`

test('the API description is built once, supports its ETag, and is compressed for clients that accept gzip', async () => {
  const first = await edge.send('GET', '/openapi.json')
  const etag = first.headers.get('etag') ?? ''
  const text = await first.text()
  const packed = await edge.send('GET', '/openapi.json', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(text)
  const known = await edge.send('GET', '/openapi.json', { headers: { 'if-none-match': `"x", ${etag}` } })
  expect([known.status, await known.text()]).toEqual([304, ''])
  const refused = await edge.send('GET', '/openapi.json', { headers: { 'accept-encoding': 'gzip;q=0' } })
  expect(refused.headers.get('content-encoding')).toBeNull()
  const written = vi.spyOn(JSON, 'stringify')
  for (let n = 0; n < 20; n++) await (await edge.send('GET', '/openapi.json')).body?.cancel()
  expect(written.mock.calls.filter(([value]) => Object(value).openapi !== undefined)).toEqual([])
  written.mockRestore()
})

test('4,800 pipelined requests of clients that read nothing use less than 300 MB, and other clients are answered', async () => {
  const request = head('GET /openapi.json HTTP/1.1')
  const before = process.memoryUsage()
  const idle = await Promise.all(Array.from({ length: 60 }, open))
  for (const socket of idle) {
    socket.pause()
    socket.write(request.repeat(80))
  }
  await sleep(500)
  const health = await open()
  health.write(head('GET /health HTTP/1.1', ['connection: close']))
  let answer = ''
  health.on('data', (data) => {
    answer += data
  })
  await once(health, 'close')
  expect(answer).toContain('200 OK')
  const after = process.memoryUsage()
  // Sixty times eighty responses would need more than a gigabyte.
  expect(after.rss - before.rss).toBeLessThan(300 * 1024 * 1024)
})

test('pipelined requests of a connection are answered in order, and a flood of them closes it', async () => {
  const socket = await open()
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  socket.write(head('GET /health HTTP/1.1', ['x-trace-id: a']) + head('GET /nowhere HTTP/1.1', ['x-trace-id: b']))
  socket.write(head('GET /health HTTP/1.1', ['x-trace-id: c', 'connection: close']))
  await once(socket, 'close')
  expect([...text.matchAll(/x-trace-id: (\w)/g)].map(([, id]) => id)).toEqual(['a', 'b', 'c'])
  const flood = await open()
  flood.resume()
  flood.write(head('GET /health HTTP/1.1').repeat(500))
  await once(flood, 'close')
})

test.each([
  ['JSON', ['content-type: application/json', 'content-length: 900'], '{"name": "'],
  ['a form', ['content-type: multipart/form-data; boundary=x', 'content-length: 900'], '--x\r\n'],
])('a body of %s that arrives too slowly is refused with the minimal rate', async (_what, headers, start) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const socket = await open()
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  const path = start.startsWith('{') ? '/knowledge-spaces' : `/knowledge-spaces/${await space()}/documents`
  const open0 = edge.work.count()
  socket.write(head(`POST ${path} HTTP/1.1`, [`authorization: Bearer ${edge.tokens.ada}`, ...headers]) + start)
  await until(() => edge.work.count() > open0)
  await sleep(100)
  for (let second = 0; second < 58; second += 2) {
    socket.write('x')
    vi.advanceTimersByTime(2000)
  }
  await sleep(50)
  expect(text).toBe('')
  socket.write('x')
  vi.advanceTimersByTime(4000)
  await until(() => text.includes('\r\n\r\n'))
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  expect(text).toContain('at least 10240 bytes every 60 seconds')
})

async function space(): Promise<string> {
  const { id } = await edge.engine.spaces.create({ tenant: 'tenant-a', subject: 'ada' }, { name: 'Drip', slug: 'drip' })
  return id
}
