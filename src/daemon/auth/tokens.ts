import { createHash, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../../engine/base/caller.js'
import { parseRecord } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import {
  CLOCK_LEEWAY_SECONDS,
  LOCAL_TENANT,
  SCOPES,
  type Scope,
  type TabSession,
  verifyLocalToken,
} from '../../local/keys.js'

/** The caller and permissions of a verified token. */
export interface TokenSession {
  caller: Caller
  scopes: ReadonlySet<Scope>
  /** May manage the daemon itself: the data directory signed this token for its own tenant, with every scope. */
  operator: boolean
  /** The session of a console tab that the token belongs to and ends with. */
  tab?: TabSession
  /** Key of the rate limit. */
  tokenHash: string
}

/** How tokens of an identity provider are verified. */
export interface ExternalTokenOptions {
  jwksUrl?: string | undefined
  publicKeyFile?: string | undefined
  issuer: string
  audience: string
  tenantClaim: string
  scopeClaim: string
}

export interface TokenOptions {
  /** Key of tokens signed by the data directory; absent if such tokens are not accepted. */
  localKey?: Uint8Array
  external?: ExternalTokenOptions
  /** @param id id of a token, or of the session of a console tab */
  isRevoked(id: string): boolean | Promise<boolean>
}

export interface TokenVerifier {
  /**
   * @param authorization the only Authorization header.
   * @throws KsError `unauthenticated`
   */
  authenticate(authorization: string | null): Promise<TokenSession>
}

interface VerifiedToken {
  session: TokenSession
  /** Ids of the token and its session: the token is rejected when one is revoked. */
  ids: ReadonlySet<string>
  /** Milliseconds since the epoch after which the entry is not used. */
  cachedUntil: number
}

const EXTERNAL_ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
const MAX_TOKEN_CHARS = 8192
const BEARER = /^Bearer ([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/i
/** Time for which a verified signature is trusted; expiry and revocation are checked on every request. */
const CACHE_MS = 30_000
const CACHE_ENTRIES = 1000
const MAX_NAME_CHARS = 200

/** One message for every reason: which check failed would only help an attacker. */
const REJECTION = 'a valid bearer token is required in the Authorization header'

export function createTokenVerifier(options: TokenOptions): TokenVerifier {
  const cache = new LRUCache<string, VerifiedToken>({ max: CACHE_ENTRIES })
  const external = options.external === undefined ? undefined : createExternalVerifier(options.external)

  const verify = async (token: string, header: JwtHeader): Promise<JWTPayload & { local: boolean }> => {
    if (header.alg === 'HS256' && options.localKey !== undefined) {
      // Local tokens have only these two header fields, so nothing else is ever evaluated.
      if (Object.keys(header).some((key) => key !== 'alg' && key !== 'typ')) throw createUnauthenticated()
      return { ...(await verifyLocalToken(options.localKey, token)).payload, local: true }
    }
    if (external === undefined) throw createUnauthenticated()
    return { ...(await external(token)).payload, local: false }
  }

  const assertNotRevoked = async ({ ids }: VerifiedToken) => {
    for (const id of ids) if (await options.isRevoked(id)) throw createUnauthenticated()
  }

  return {
    authenticate: async (authorization) => {
      const token = parseBearer(authorization)
      const tokenHash = createHash('sha256').update(token).digest('base64url')
      const cached = cache.get(tokenHash)
      if (cached !== undefined && cached.cachedUntil > Date.now()) {
        await assertNotRevoked(cached)
        return cached.session
      }
      const claims = await verify(token, parseHeader(token)).catch((error: unknown) => {
        throw createUnauthenticated(toReason(error))
      })
      const verified = validateClaims(claims, tokenHash, options.external)
      await assertNotRevoked(verified)
      cache.set(tokenHash, verified)
      return verified.session
    },
  }
}

interface JwtHeader {
  alg?: unknown
}

function parseBearer(authorization: string | null): string {
  const parts = authorization !== null && authorization.length <= MAX_TOKEN_CHARS ? BEARER.exec(authorization) : null
  if (parts === null) throw createUnauthenticated()
  const [, ...encoded] = parts
  // base64url has several spellings of the same bytes; only the canonical one is accepted.
  if (!encoded.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part))
    throw createUnauthenticated()
  return encoded.join('.')
}

function parseHeader(token: string): JwtHeader {
  const header = parseRecord(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'))
  if (header === undefined) throw createUnauthenticated()
  return header
}

function createExternalVerifier(options: ExternalTokenOptions): (token: string) => Promise<JWTVerifyResult> {
  const rules = {
    algorithms: EXTERNAL_ALGORITHMS,
    issuer: options.issuer,
    audience: options.audience,
    clockTolerance: CLOCK_LEEWAY_SECONDS,
    requiredClaims: ['exp', 'sub'],
  }
  if (options.jwksUrl !== undefined) {
    const keys: JWTVerifyGetKey = createRemoteJWKSet(new URL(options.jwksUrl))
    return (token) => jwtVerify(token, keys, rules)
  }
  if (options.publicKeyFile === undefined)
    throw new KsError('invalid-request', 'an identity provider needs jwtJwksUrl or jwtPublicKeyFile')
  const key = createPublicKey(readFileSync(options.publicKeyFile))
  return (token) => jwtVerify(token, key, rules)
}

function validateClaims(
  claims: JWTPayload & { local: boolean },
  tokenHash: string,
  external: ExternalTokenOptions | undefined,
): VerifiedToken {
  const nowSeconds = Date.now() / 1000
  const { exp, iat, sub, jti } = claims
  if (exp === undefined || !Number.isSafeInteger(exp)) throw createUnauthenticated()
  if (iat !== undefined && iat > nowSeconds + CLOCK_LEEWAY_SECONDS) throw createUnauthenticated()
  const tenant = claims[claims.local ? 'tenant' : (external?.tenantClaim ?? 'tenant')]
  const scopes = parseScopes(claims[claims.local ? 'scope' : (external?.scopeClaim ?? 'scope')])
  if (!isName(tenant) || !isName(sub)) throw createUnauthenticated()
  const operator = claims.local && tenant === LOCAL_TENANT && scopes.has('knowledge-spaces:*')
  const leeway = claims.local ? 0 : CLOCK_LEEWAY_SECONDS
  const cachedUntil = Math.min((exp + leeway) * 1000, Date.now() + CACHE_MS)
  const tab = claims.local ? parseTab(claims) : undefined
  const session = { caller: { tenant, subject: sub }, scopes, operator, tokenHash, ...omitUndefined({ tab }) }
  const ids = new Set([jti, tab?.id].filter((id) => id !== undefined))
  return { session, ids, cachedUntil }
}

/** The session of a console tab that a token belongs to. */
function parseTab({ session, began }: JWTPayload): TabSession | undefined {
  return typeof session === 'string' && typeof began === 'number' ? { id: session, beganAt: began } : undefined
}

/** Only exact names count; a claim is a space-separated text (RFC 8693) or a list. */
function parseScopes(claim: unknown): ReadonlySet<Scope> {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  return new Set(SCOPES.filter((scope) => names.includes(scope)))
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_CHARS && /^[^\p{Cc}]+$/u.test(value)
}

/** The reason of a rejection, if the holder may know it. Claims are only evaluated after a valid signature. */
function toReason(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return 'the token has expired'
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return 'the token is signed with a key that this service does not know'
  if (!(error instanceof errors.JWTClaimValidationFailed)) return undefined
  if (error.claim === 'nbf') return 'the token is not valid yet'
  if (error.claim === 'aud') return 'the token is for another audience'
  return error.claim === 'iss' ? 'the token is of another issuer' : undefined
}

function createUnauthenticated(reason?: string): KsError {
  return new KsError('unauthenticated', reason === undefined ? REJECTION : `${REJECTION}: ${reason}`)
}
