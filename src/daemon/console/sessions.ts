import { jwtVerify, SignJWT } from 'jose'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../../engine/base/caller.js'
import { createToken, LOCAL_ISSUER, LOCAL_TENANT, loadSigningKey, type TabSession } from '../../local/keys.js'

/** Lifetime of a tab's token; the page renews it while in use. */
const TOKEN_SECONDS = 15 * 60
/** Maximum idle time of a tab. */
const IDLE_SECONDS = 4 * 60 * 60
/** Maximum duration of a session since its code, even if in use. */
const SESSION_SECONDS = 12 * 60 * 60
/** Differs from the audience of tokens: a renewal opens no operation. */
const AUDIENCE = 'knowledge-spaces-console'

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
export async function beginSession(
  dataDir: string,
  { caller, id }: { caller: Caller; id: string },
  ids: RevokedIds,
): Promise<ConsoleSession> {
  if (await ids.isRevoked(id)) throw ended()
  return await issue(dataDir, { subject: caller.subject, id, beganAt: seconds(), turn: 0 })
}

/**
 * Issues the next token of a session. A renewal is signed and not stored, so it survives a restart of the daemon. It
 * works once: a second use means that two clients have it, and ends the session for both.
 *
 * @throws KsError `unauthenticated`
 */
export async function renewSession(dataDir: string, renewal: string, ids: RevokedIds): Promise<ConsoleSession> {
  const read = await readRenewal(dataDir, renewal)
  if (read === undefined || endOf(read) <= seconds() || (await ids.isRevoked(read.id))) throw ended()
  const endsAt = endOf(read) * 1000
  if (!(await ids.spend(`${read.id}/${read.turn}`, endsAt))) {
    await ids.revoke(read.id, endsAt)
    throw ended()
  }
  return await issue(dataDir, { ...read, turn: read.turn + 1 })
}

/** The latest end of a session, in seconds since the epoch. */
export function endOf({ beganAt }: TabSession): number {
  return beganAt + SESSION_SECONDS
}

interface Session extends TabSession {
  subject: string
  /** Number of renewals so far. */
  turn: number
}

async function issue(dataDir: string, session: Session): Promise<ConsoleSession> {
  const { subject, id, beganAt, turn } = session
  const expiresInSeconds = Math.max(1, Math.min(TOKEN_SECONDS, endOf(session) - seconds()))
  const { token } = await createToken(dataDir, {
    subject,
    tenant: LOCAL_TENANT,
    scopes: ['knowledge-spaces:*'],
    lifeSeconds: expiresInSeconds,
    jti: id,
    session: { id, beganAt },
  })
  const renewal = await new SignJWT({ began: beganAt, turn })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(LOCAL_ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setJti(id)
    .setIssuedAt()
    .setExpirationTime(`${IDLE_SECONDS}s`)
    .sign(loadSigningKey(dataDir))
  return { id, token, renewal, expiresInSeconds }
}

async function readRenewal(dataDir: string, renewal: string): Promise<Session | undefined> {
  try {
    const { payload } = await jwtVerify(renewal, loadSigningKey(dataDir), {
      algorithms: ['HS256'],
      issuer: LOCAL_ISSUER,
      audience: AUDIENCE,
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

function ended(): KsError {
  return new KsError('unauthenticated', 'the session of this tab has ended: `ks console` opens a new one')
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
