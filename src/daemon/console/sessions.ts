import { jwtVerify, SignJWT } from 'jose'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../../engine/base/caller.js'
import { createToken, LOCAL_ISSUER, LOCAL_TENANT, loadSigningKey, type TabSession } from '../../local/keys.js'

/** Lifetime of a tab's token; the page renews it while in use. */
const TOKEN_LIFETIME_SECONDS = 15 * 60
/** Maximum idle time of a tab. */
const MAX_IDLE_SECONDS = 4 * 60 * 60
/** Maximum duration of a session since its code, even if in use. */
const MAX_SESSION_SECONDS = 12 * 60 * 60
/** Differs from the audience of tokens: a renewal opens no operation. */
const RENEWAL_AUDIENCE = 'knowledge-spaces-console'

export interface ConsoleSession {
  /** The `jti` of every token of the session: revoking it ends the session. */
  id: string
  token: string
  renewal: string
  expiresInSeconds: number
}

/** Revoked ids, shared by all gateways of a deployment and stored across restarts. */
export interface RevokedIds {
  isRevoked(id: string): Promise<boolean>
  /** @param expiresAt milliseconds since the epoch */
  revoke(id: string, expiresAt: number): Promise<void>
  /**
   * Marks an id as used.
   * @returns whether it was unused
   */
  spend(id: string, expiresAt: number): Promise<boolean>
}

/**
 * Starts a session of the operator in one tab.
 * @throws KsError `unauthenticated` if its id is revoked
 */
export async function startSession(
  dataDir: string,
  { caller, id }: { caller: Caller; id: string },
  ids: RevokedIds,
): Promise<ConsoleSession> {
  if (await ids.isRevoked(id)) throw createSessionEnded()
  return await issueTokens(dataDir, { subject: caller.subject, id, beganAt: nowSeconds(), turn: 0 })
}

/**
 * Issues the next token of a session. A renewal is signed and not stored, so it survives a restart of the daemon. It
 * works once: a second use means that two clients have it, and ends the session for both.
 *
 * @throws KsError `unauthenticated`
 */
export async function renewSession(dataDir: string, renewal: string, ids: RevokedIds): Promise<ConsoleSession> {
  const verified = await verifyRenewal(dataDir, renewal)
  if (verified === undefined || getSessionEnd(verified) <= nowSeconds() || (await ids.isRevoked(verified.id)))
    throw createSessionEnded()
  const endsAt = getSessionEnd(verified) * 1000
  if (!(await ids.spend(`${verified.id}/${verified.turn}`, endsAt))) {
    await ids.revoke(verified.id, endsAt)
    throw createSessionEnded()
  }
  return await issueTokens(dataDir, { ...verified, turn: verified.turn + 1 })
}

/** The latest end of a session, in seconds since the epoch. */
export function getSessionEnd({ beganAt }: TabSession): number {
  return beganAt + MAX_SESSION_SECONDS
}

interface RenewableSession extends TabSession {
  subject: string
  /** Number of renewals so far. */
  turn: number
}

async function issueTokens(dataDir: string, session: RenewableSession): Promise<ConsoleSession> {
  const { subject, id, beganAt, turn } = session
  const expiresInSeconds = Math.max(1, Math.min(TOKEN_LIFETIME_SECONDS, getSessionEnd(session) - nowSeconds()))
  const { token } = await createToken(dataDir, {
    subject,
    tenant: LOCAL_TENANT,
    scopes: ['knowledge-spaces:*'],
    lifetimeSeconds: expiresInSeconds,
    jti: id,
    session: { id, beganAt },
  })
  const renewal = await new SignJWT({ began: beganAt, turn })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(LOCAL_ISSUER)
    .setAudience(RENEWAL_AUDIENCE)
    .setSubject(subject)
    .setJti(id)
    .setIssuedAt()
    .setExpirationTime(`${MAX_IDLE_SECONDS}s`)
    .sign(loadSigningKey(dataDir))
  return { id, token, renewal, expiresInSeconds }
}

async function verifyRenewal(dataDir: string, renewal: string): Promise<RenewableSession | undefined> {
  try {
    const { payload } = await jwtVerify(renewal, loadSigningKey(dataDir), {
      algorithms: ['HS256'],
      issuer: LOCAL_ISSUER,
      audience: RENEWAL_AUDIENCE,
      requiredClaims: ['exp', 'sub', 'jti'],
    })
    const { sub, jti, began, turn } = payload
    if (sub === undefined || jti === undefined || typeof began !== 'number' || typeof turn !== 'number')
      return undefined
    return { subject: sub, id: jti, beganAt: began, turn }
  } catch {
    return undefined
  }
}

function createSessionEnded(): KsError {
  return new KsError('unauthenticated', 'the session of this tab has ended: `ks console` opens a new one')
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
