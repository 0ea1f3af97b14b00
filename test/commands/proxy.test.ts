import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resolveDataLayout } from '../../src/local/layout.js'
import { type CliHome, cliHome } from '../helpers/cli.js'
import { type RecordingProxy, startRecordingProxy } from '../helpers/recording-proxy.js'

/** A host that no resolver knows: only a proxy reaches it. */
const HOST = 'knowledge.test'

let home: CliHome
let port: number
let proxy: RecordingProxy
let remote: Record<string, string>

beforeEach(async () => {
  home = cliHome()
  home.env['KS_DAEMON_ALLOWED_HOSTS'] = HOST
  await home.ks(['spaces', 'create', 'notes'])
  port = Number(new URL(JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8')).url).port)
  proxy = await startRecordingProxy(port)
  const token = readFileSync(resolveDataLayout(home.dataDir).cliToken, 'utf8').trim()
  remote = { KS_URL: `http://${HOST}`, KS_TOKEN: token, HTTP_PROXY: proxy.url.replace('//', '//me:se%40cret@') }
})

afterEach(async () => {
  await proxy.end()
  await home.end()
})

it('ks reads, uploads and streams through an http proxy with authentication', async () => {
  const note = home.file('notes/ferry.md', '# Ferry\n\nThe ferry leaves at nine.\n')
  const ingested = await home.ks(['ingest', note, '--space', 'notes', '--wait'], { env: remote })
  expect(ingested.stderr).not.toContain('cannot reach')
  expect(ingested.code).toBe(0)
  const asked = await home.ks(['query', 'When does the ferry leave?', '--space', 'notes'], { env: remote })
  expect(asked.stdout).toContain('nine')
  expect(proxy.seen.length).toBeGreaterThan(2)
  expect(proxy.seen.filter((line) => !line.includes(` http://${HOST}/`))).toEqual([])
  expect(proxy.seen.some((line) => /^POST .*\/documents/.test(line))).toBe(true)
  expect(new Set(proxy.credentials)).toEqual(new Set([`Basic ${Buffer.from('me:se@cret').toString('base64')}`]))
})

it('ks uses no proxy for the local daemon, a loopback address, or hosts in NO_PROXY', async () => {
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url }
  expect((await home.ks(['spaces'], { env })).stdout).toContain('notes')
  const byAddress = await home.ks(['spaces'], { env: { ...remote, ...env, KS_URL: `http://127.0.0.1:${port}` } })
  expect(byAddress.stdout).toContain('notes')
  const exempt = await home.ks(['spaces'], { env: { ...remote, NO_PROXY: HOST, KS_TIMEOUT: '20s' } })
  expect(exempt.code).not.toBe(0)
  expect(exempt.stderr).not.toContain('through the proxy')
  expect(proxy.seen).toEqual([])
})

it('kchat sends its requests through the http proxy of HTTP_PROXY', async () => {
  const env = { KCHAT_URL: `http://${HOST}`, KCHAT_API_KEY: 'app-none', HTTP_PROXY: proxy.url }
  expect((await home.kchat(['conversations'], { env })).code).not.toBe(0)
  expect(proxy.seen[0]).toMatch(new RegExp(`^GET http://${HOST}/v1/conversations`))
})

it('ks opens a tunnel for https, in which the proxy reads nothing', async () => {
  const key = join(home.dir, 'key.pem')
  const certificate = join(home.dir, 'certificate.pem')
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const files = ['-keyout', key, '-out', certificate]
  const made = execaSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files],
    { reject: false },
  )
  expect(made.exitCode).toBe(0)
  const paths: string[] = []
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    paths.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    response.end('{"items":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tunnel = await startRecordingProxy((server.address() as AddressInfo).port)
  const env = {
    KS_URL: `https://${HOST}`,
    KS_TOKEN: 'token',
    HTTPS_PROXY: tunnel.url,
    NODE_EXTRA_CA_CERTS: certificate,
  }
  const listed = await home.ks(['spaces'], { env })
  await tunnel.end()
  await new Promise((resolve) => server.close(resolve))
  expect(listed.code).toBe(0)
  expect(tunnel.seen).toEqual([`CONNECT ${HOST}:443`])
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.every((line) => /^GET \/knowledge-spaces\S* Bearer token$/.test(line))).toBe(true)
})

it('ks reports the response of a proxy that opens no tunnel, without its password', async () => {
  const refusing = await startRecordingProxy(port, '407 Proxy Authentication Required')
  const HTTPS_PROXY = refusing.url.replace('//', '//me:secret@')
  const listed = await home.ks(['spaces'], { env: { ...remote, KS_URL: `https://${HOST}`, HTTPS_PROXY } })
  await refusing.end()
  expect(listed.code).toBe(8)
  expect(listed.stderr).toContain(
    `cannot reach https://${HOST} through the proxy ${refusing.url} (the proxy answered 407 Proxy Authentication Required)`,
  )
  expect(listed.stderr).not.toContain('secret')
})
