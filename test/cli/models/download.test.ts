import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { download, type RemoteFile, requestFileInfo } from '../../../src/cli/models/pull/download.js'
import { openStage, verifyHash } from '../../../src/cli/models/pull/publish.js'
import { startRecordingProxy } from '../../helpers/recording-proxy.js'

const FILE = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))
const SHA256 = createHash('sha256').update(FILE).digest('hex')

/** Number of bytes that the server sends in each of the next requests before it closes the connection. */
let cuts: number[]
/** Closes the connection when the client has received these bytes; bytes in transit would be lost. */
let breakOff: (bytes: number) => unknown
let file: { bytes: Buffer; etag: string }
let seen: string[]
let closing: (() => Promise<unknown> | unknown)[]
let url: string
let models: string

/** A hub whose file addresses redirect to the bytes with their hash. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = request
  seen.push([method, path, headers.range].filter((one) => one !== undefined).join(' '))
  if (path === '/missing') return void response.writeHead(404).end()
  if (path === '/closed') return void response.writeHead(401).end()
  if (path === '/elsewhere') return void response.writeHead(302, { location: 'file:///etc/hosts' }).end()
  if (path === '/model') {
    const linked = { 'x-linked-etag': `"${SHA256}"`, 'x-linked-size': String(FILE.length) }
    return void response.writeHead(302, { location: '/bytes', ...linked }).end()
  }
  const isSame = headers['if-range'] === undefined || headers['if-range'] === file.etag
  const start = isSame ? Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0) : 0
  const body = file.bytes.subarray(start)
  const range = { 'content-range': `bytes ${start}-${file.bytes.length - 1}/${file.bytes.length}` }
  const head = { etag: file.etag, 'content-length': String(body.length), ...(start > 0 ? range : {}) }
  response.writeHead(start > 0 ? 206 : 200, head)
  if (method === 'HEAD') return void response.end()
  const cut = cuts.shift()
  if (cut === undefined) response.end(body)
  else if (cut === 0) response.destroy()
  else {
    response.write(body.subarray(0, cut))
    breakOff = (bytes) => bytes >= start + cut && response.destroy()
  }
}

beforeEach(async () => {
  cuts = []
  breakOff = () => {}
  seen = []
  closing = []
  file = { bytes: FILE, etag: '"one"' }
  models = mkdtempSync(join(tmpdir(), 'ks-download-'))
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  closing.push(
    () => removeFolder(models),
    () => server.close(),
  )
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of closing) await close()
})

const part = () => openStage(models, 'model').weights
const fetched = (path: string, expected: RemoteFile = {}) =>
  download({ url: url + path, expected, part: part(), onProgress: (bytes) => breakOff(bytes), wait: async () => {} })

it('reads size and hash of a model from the redirect of the hub, and does not follow it', async () => {
  expect(await requestFileInfo(`${url}/model`)).toEqual({ bytes: FILE.length, sha256: SHA256 })
  expect(await requestFileInfo(`${url}/bytes`)).toEqual({ bytes: FILE.length })
  expect(seen).toEqual(['HEAD /model', 'HEAD /bytes'])
})

it('continues a download after each broken connection at the byte where it stopped', async () => {
  cuts = [30_000, 20_000, 0, 10_000]
  await fetched('/model', { bytes: FILE.length, sha256: SHA256 })
  expect(readFileSync(part()).equals(FILE)).toBe(true)
  expect(seen.filter((line) => line.includes('/bytes'))).toEqual([
    'GET /bytes',
    'GET /bytes bytes=30000-',
    'GET /bytes bytes=50000-',
    'GET /bytes bytes=50000-',
    'GET /bytes bytes=60000-',
  ])
})

it('ends a download after five attempts without a byte; the next download continues the partial file', async () => {
  cuts = [30_000, 0, 0, 0, 0, 0]
  const failed = await fetched('/model', { sha256: SHA256 }).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'unavailable', exit: 8, hint: expect.stringContaining('29.3 KiB') })
  await fetched('/model', { sha256: SHA256 })
  expect(seen.at(-1)).toBe('GET /bytes bytes=30000-')
  expect(await verifyHash(openStage(models, 'model'), SHA256)).toBe(SHA256)
})

it('restarts a download without a stated hash if the file at its address has changed', async () => {
  cuts = [30_000, 0, 0, 0, 0, 0]
  await fetched('/bytes').catch(() => {})
  file = { bytes: Buffer.alloc(40_000, 1), etag: '"two"' }
  await fetched('/bytes')
  expect(readFileSync(part()).equals(file.bytes)).toBe(true)
})

it('restarts a download if the partial file came from a different address', async () => {
  writeFileSync(part(), 'of another file')
  await fetched('/bytes')
  expect(readFileSync(part()).equals(FILE)).toBe(true)
})

it('removes a downloaded model whose hash differs from the stated hash', async () => {
  await fetched('/bytes')
  const stage = openStage(models, 'model')
  await expect(verifyHash(stage, 'ab'.repeat(32))).rejects.toThrow(`the file has SHA-256 ${SHA256}, expected abab`)
  expect(existsSync(stage.path)).toBe(false)
})

it('removes a download whose size differs from the stated size, and stops reading it', async () => {
  await expect(fetched('/bytes', { bytes: 5 })).rejects.toThrow('bytes, expected 5')
  expect(existsSync(part())).toBe(false)
})

it.each([
  ['/missing', 'not-found', 5],
  ['/closed', 'not-allowed', 4],
  ['/elsewhere', 'unavailable', 8],
])('ends a download at the first refusal: %s is reported as %s', async (path, code, exit) => {
  await expect(requestFileInfo(url + path)).rejects.toMatchObject({ code, exit })
  await expect(fetched(path)).rejects.toMatchObject({ code, exit })
  expect(seen).toHaveLength(2)
})

it('reports an unreachable model host with the network error', async () => {
  await expect(requestFileInfo('http://127.0.0.1:1/model')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'cannot reach 127.0.0.1:1 (ECONNREFUSED)',
  })
})

it('downloads a model through the proxy that the environment names', async () => {
  const proxy = await startRecordingProxy(Number(new URL(url).port))
  closing.push(() => proxy.end())
  vi.stubEnv('http_proxy', proxy.url)
  expect(await requestFileInfo('http://hub.test/model')).toEqual({ bytes: FILE.length, sha256: SHA256 })
  await download({
    url: 'http://hub.test/model',
    expected: {},
    part: part(),
    onProgress: () => {},
    wait: async () => {},
  })
  expect(proxy.seen).toEqual(['HEAD http://hub.test/model', 'GET http://hub.test/model', 'GET http://hub.test/bytes'])
  expect(readFileSync(part()).equals(FILE)).toBe(true)
})
