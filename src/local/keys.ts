import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { errors, jwtVerify, SignJWT } from 'jose'
import { KsError } from '../contract/errors.js'
import { newId } from '../lib/ids.js'
import { type DataLayout, resolveDataLayout } from './layout.js'
import { createPrivateFile, readIfExists, writePrivateFile } from './private-file.js'

/** Issuer and audience of tokens signed by a data directory. */
export const LOCAL_ISSUER = 'knowledge-spaces'
export const LOCAL_AUDIENCE = 'knowledge-spaces'
export const LOCAL_TENANT = 'local'

/** The supported scopes; `*` includes the other two. */
export const SCOPES = ['knowledge-spaces:read', 'knowledge-spaces:write', 'knowledge-spaces:*'] as const
export type Scope = (typeof SCOPES)[number]

export const TOKEN_LIFETIME_DAYS = 30
/** tolerated difference between clocks, in seconds; not applied to the expiry of a token of this data directory */
export const CLOCK_LEEWAY_SECONDS = 60

const KEY_BYTES = 32
const DAY_SECONDS = 86_400
/** the CLI's token is replaced when less than this fraction of its life remains */
const RENEW_BELOW_FRACTION = 0.5

export interface TokenRequest {
  subject: string
  tenant: string
  scopes: readonly Scope[]
  /** seconds; default 30 days */
  lifetimeSeconds?: number
  /** id of the token; default: a new one */
  jti?: string
  /** the session of a console tab, with which the token ends */
  session?: TabSession
}

/** The session of one console tab. Its id is the `jti` of the tokens of the tab. */
export interface TabSession {
  id: string
  /** seconds since the epoch */
  beganAt: number
}

export interface CreatedToken {
  token: string
  jti: string
  /** ISO-8601 */
  expiresAt: string
}

/**
 * The data directory's signing key: 256 random bits, created at first use, mode 0600.
 *
 * @throws KsError `unavailable` when the file is damaged or others may read it
 */
export function loadSigningKey(dataDir: string): Uint8Array {
  return loadKey(resolveDataLayout(dataDir).signingKey)
}

/** The key that encrypts the credentials of sources: 256 random bits, created and protected like the signing key. */
export function loadDataKey(dataDir: string): Uint8Array {
  return loadKey(resolveDataLayout(dataDir).dataKey).subarray(0, KEY_BYTES)
}

/**
 * Copies the keys of a deployment into a data directory, where all other code expects them.
 *
 * @param folder contains `signing.key` and `data.key`, like a data directory
 * @throws KsError `unavailable` where one is missing, or the data directory has different ones
 */
export function adoptKeys(folder: string, layout: DataLayout): void {
  for (const path of [layout.signingKey, layout.dataKey]) {
    const deploymentPath = join(folder, basename(path))
    const text = readIfExists(deploymentPath)
    if (text === undefined)
      throw new KsError('unavailable', `${deploymentPath} does not exist: the setting keys names its folder`)
    if (createPrivateFile(path, text) !== text)
      throw new KsError('unavailable', `${path} differs from ${deploymentPath}: move away the one that is not valid`)
  }
}

function loadKey(path: string): Uint8Array {
  const text = readIfExists(path) ?? createPrivateFile(path, `${randomBytes(KEY_BYTES).toString('base64url')}\n`)
  assertPrivateFile(path)
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length < KEY_BYTES)
    throw new KsError('unavailable', `${path} must hold at least ${KEY_BYTES} bytes of key, found ${key.length}`)
  return key
}

/** Signs a token for the daemon of this data directory, which need not be running. */
export async function createToken(dataDir: string, request: TokenRequest): Promise<CreatedToken> {
  const key = loadSigningKey(dataDir)
  const nowSeconds = Math.floor(Date.now() / 1000)
  const expiresSeconds = nowSeconds + (request.lifetimeSeconds ?? TOKEN_LIFETIME_DAYS * DAY_SECONDS)
  const jti = request.jti ?? newId()
  const { tenant, session } = request
  const sessionClaims = session === undefined ? {} : { session: session.id, began: session.beganAt }
  const token = await new SignJWT({ tenant, scope: request.scopes.join(' '), ...sessionClaims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(LOCAL_ISSUER)
    .setAudience(LOCAL_AUDIENCE)
    .setSubject(request.subject)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(expiresSeconds)
    .setJti(jti)
    .sign(key)
  return { token, jti, expiresAt: new Date(expiresSeconds * 1000).toISOString() }
}

/**
 * Claims of a token that this key signed and that is valid now. Expiry at `exp` is exact. Its start has the leeway of
 * clocks: gateways that share the key have different clocks.
 *
 * @throws Error of jose when it is invalid
 */
export async function verifyLocalToken(key: Uint8Array, token: string) {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: ['HS256'],
    issuer: LOCAL_ISSUER,
    audience: LOCAL_AUDIENCE,
    clockTolerance: CLOCK_LEEWAY_SECONDS,
    requiredClaims: ['exp', 'sub', 'jti'],
  })
  if ((payload.exp ?? 0) * 1000 <= Date.now()) throw new errors.JWTExpired('"exp" is in the past', payload, 'exp')
  return { payload, header: protectedHeader }
}

/** The token of this user's CLI for the daemon; the file exists once a daemon has started. */
export function readCliToken(dataDir: string): string | undefined {
  return readIfExists(resolveDataLayout(dataDir).cliToken)?.trim()
}

/**
 * Renews the CLI's token when it is missing, signed by another key, or past half of its life. @returns the current
 * token
 */
export async function ensureCliToken(dataDir: string): Promise<string> {
  const current = readCliToken(dataDir)
  if (current !== undefined && (await isFresh(dataDir, current))) return current
  const { token } = await createToken(dataDir, {
    subject: getLocalUser(),
    tenant: LOCAL_TENANT,
    scopes: ['knowledge-spaces:*'],
  })
  writePrivateFile(resolveDataLayout(dataDir).cliToken, `${token}\n`)
  return token
}

async function isFresh(dataDir: string, token: string): Promise<boolean> {
  try {
    const { payload } = await verifyLocalToken(loadSigningKey(dataDir), token)
    const remainingSeconds = (payload.exp ?? 0) - Date.now() / 1000
    const lifetimeSeconds = TOKEN_LIFETIME_DAYS * DAY_SECONDS
    // A longer life than that of tokens means that the clock was set back.
    return remainingSeconds > lifetimeSeconds * RENEW_BELOW_FRACTION && remainingSeconds <= lifetimeSeconds
  } catch {
    return false
  }
}

function getLocalUser(): string {
  try {
    return userInfo().username || LOCAL_TENANT
  } catch {
    return LOCAL_TENANT // a user id without a name, as in some containers
  }
}

function assertPrivateFile(path: string): void {
  if (process.platform === 'win32') return // Windows protects files by access lists, not by mode.
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) !== 0)
    throw new KsError('unavailable', `${path} must be readable by its owner only, its mode is ${mode.toString(8)}`)
}
