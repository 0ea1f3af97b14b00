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
export async function stopAllDaemons(): Promise<void> {
  for (const daemon of daemons.splice(0)) {
    daemon.stop('test')
    await daemon.stopped
  }
  for (const folder of folders.splice(0)) folder.remove()
}

/** Removes a daemon that a test has stopped from the list of those to stop. */
export function forgetDaemon(daemon: RunningDaemon): void {
  daemons.splice(daemons.indexOf(daemon), 1)
}

/** Creates a folder for one test; `stopAllDaemons` removes it. */
export function createFolder(): string {
  const folder = temporaryDir()
  folders.push(folder)
  return folder.path
}

/** Values of some settings. */
export type SettingValues = { readonly [N in SettingName]?: unknown }
interface DaemonRequest {
  token?: string
  json?: unknown
  form?: Record<string, string | File>
}

/** Starts a complete daemon in this process with these settings, on a free port. */
export async function startWholeDaemon(
  settings: SettingValues = {},
  mode: 'manual' | 'auto' = 'manual',
  dataDir = createFolder(),
) {
  const flags = { listen: '127.0.0.1:0', ...settings }
  const daemon = await startDaemon({ dataDir, mode, env: databaseEnv(dataDir), flags, openEngine, echoLog: false })
  daemons.push(daemon)
  const claims = { tenant: 'tenant-a', subject: 'ada', scopes: ['knowledge-spaces:*' as const] }
  const { token: ownToken } = await createToken(dataDir, claims)
  const call = (method: string, path: string, { token = ownToken, json, form }: DaemonRequest = {}) =>
    fetch(`${daemon.file.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(form === undefined ? {} : { body: toFormData(form) }),
    })
  return { daemon, dataDir, call, url: daemon.file.url }
}
export type WholeDaemon = Awaited<ReturnType<typeof startWholeDaemon>>

function toFormData(parts: Record<string, string | File>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) data.append(name.replace(/\d+$/, ''), value)
  return data
}

/** Requests `GET /health` with these header fields. @returns the status */
export function fetchHealthStatus(url: string, headers: Record<string, string> = {}, ca?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onResponse = (response: { statusCode?: number | undefined; resume(): void }) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }
    const request =
      ca === undefined
        ? get(`${url}/health`, { headers }, onResponse)
        : getSecurely(`${url}/health`, { headers, ca }, onResponse)
    request.on('error', reject)
  })
}

/** Finds a free port of loopback. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Creates an identity provider: its key pair, its tokens and the settings of a daemon that trusts it. */
export function createIdentityProvider() {
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
  const file = join(createFolder(), 'key.pem')
  writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }))
  const settings = { jwtPublicKeyFile: file, jwtIssuer: 'https://id.example', jwtAudience: 'spaces' }
  return { token, settings, jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' } }
}
