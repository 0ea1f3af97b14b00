import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { get as getSecurely } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { type RunningDaemon, startDaemon } from '../../src/daemon/run.js'
import { openEngine } from '../../src/engine/index.js'
import { createToken } from '../../src/local/keys.js'
import type { SettingName } from '../../src/local/settings.js'
import { temporaryDir } from './daemon.js'
import { databaseEnv } from './databases.js'

const folders: ReturnType<typeof temporaryDir>[] = []
const daemons: RunningDaemon[] = []

/** Ends every daemon that was started here, and removes every folder. */
export async function endAll(): Promise<void> {
  for (const daemon of daemons.splice(0)) {
    daemon.stop('test')
    await daemon.stopped
  }
  for (const made of folders.splice(0)) made.remove()
}

/** A daemon whose test has awaited its end. */
export function forget(daemon: RunningDaemon): void {
  daemons.splice(daemons.indexOf(daemon), 1)
}

/** A folder for one test. */
export function folder(): string {
  const made = temporaryDir()
  folders.push(made)
  return made.path
}

/** Some of the settings. */
export type Given = { readonly [N in SettingName]?: unknown }
interface Sent {
  token?: string
  json?: unknown
  form?: Record<string, string | File>
}

/** A complete daemon in this process with these settings, on a free port. */
export async function start(settings: Given = {}, mode: 'manual' | 'auto' = 'manual', dataDir = folder()) {
  const flags = { listen: '127.0.0.1:0', ...settings }
  const daemon = await startDaemon({ dataDir, mode, env: databaseEnv(dataDir), flags, openEngine, echoLog: false })
  daemons.push(daemon)
  const claims = { tenant: 'tenant-a', subject: 'ada', scopes: ['knowledge-spaces:*' as const] }
  const { token: own } = await createToken(dataDir, claims)
  const call = (method: string, path: string, { token = own, json, form }: Sent = {}) =>
    fetch(`${daemon.file.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(form === undefined ? {} : { body: formOf(form) }),
    })
  return { daemon, dataDir, call, url: daemon.file.url }
}
export type Started = Awaited<ReturnType<typeof start>>

function formOf(parts: Record<string, string | File>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) data.append(name.replace(/\d+$/, ''), value)
  return data
}

/** The status of `GET /health` for a client with these header fields. */
export function health(url: string, headers: Record<string, string> = {}, ca?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const answered = (response: { statusCode?: number | undefined; resume(): void }) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }
    const request =
      ca === undefined
        ? get(`${url}/health`, { headers }, answered)
        : getSecurely(`${url}/health`, { headers, ca }, answered)
    request.on('error', reject)
  })
}

/** A port of loopback that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** An identity provider: its key pair and its tokens. */
export function identityProvider() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const token = (claims: Record<string, unknown> = {}, key: KeyObject = privateKey) =>
    new SignJWT({ tenant: 'tenant-a', scope: 'knowledge-spaces:*', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setSubject('ada')
      .setIssuedAt()
      .setJti('one')
      .setIssuer(String(claims.iss ?? 'https://id.example'))
      .setAudience(String(claims.aud ?? 'spaces'))
      .setExpirationTime('5m')
      .sign(key)
  const file = join(folder(), 'key.pem')
  writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }))
  const settings = { jwtPublicKeyFile: file, jwtIssuer: 'https://id.example', jwtAudience: 'spaces' }
  return { token, settings, jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' } }
}
