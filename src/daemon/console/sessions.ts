import { jwtVerify, SignJWT } from 'jose'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../../engine/base/caller.js'
import { newId } from '../../lib/ids.js'
import { createToken, LOCAL_ISSUER, LOCAL_TENANT, loadSigningKey } from '../../local/keys.js'

/** life of the token of a tab; the page renews it while somebody works there */
const TOKEN_SECONDS = 15 * 60
/** how long a tab may lie still */
const REST_SECONDS = 4 * 60 * 60
/** from the code on, however it is used */
const SESSION_SECONDS = 12 * 60 * 60
/** not the audience of tokens: what renews a session opens no operation */
const AUDIENCE = 'knowledge-spaces-console'

export interface ConsoleSession {
  token: string
  renewal: string
  expiresInSeconds: number
}

/** A new session of the operator in one tab. */
export async function beginSession(dataDir: string, caller: Caller): Promise<ConsoleSession> {
  return await issue(dataDir, { subject: caller.subject, id: newId(), beganAt: seconds() })
}

/**
 * The next token of a session. It holds across restarts of the daemon, since what renews it is signed and not kept.
 *
 * @throws KsError `unauthenticated`
 */
export async function renewSession(
  dataDir: string,
  renewal: string,
  isRevoked: (id: string) => boolean | Promise<boolean>,
): Promise<ConsoleSession> {
  const read = await readRenewal(dataDir, renewal)
  if (read === undefined || read.beganAt + SESSION_SECONDS <= seconds() || (await isRevoked(read.id)))
    throw new KsError('unauthenticated', 'the session of this tab has ended: `ks console` opens a new one')
  return await issue(dataDir, read)
}

interface Session {
  subject: string
  /** revoking it ends the session */
  id: string
  /** seconds since the epoch */
  beganAt: number
}

async function issue(dataDir: string, session: Session): Promise<ConsoleSession> {
  const { subject, id, beganAt } = session
  const left = beganAt + SESSION_SECONDS - seconds()
  const expiresInSeconds = Math.max(1, Math.min(TOKEN_SECONDS, left))
  const scopes = ['knowledge-spaces:*'] as const
  const { token } = await createToken(dataDir, { subject, tenant: LOCAL_TENANT, scopes, lifeSeconds: expiresInSeconds })
  const renewal = await new SignJWT({ began: beganAt })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(LOCAL_ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setJti(id)
    .setIssuedAt()
    .setExpirationTime(`${REST_SECONDS}s`)
    .sign(loadSigningKey(dataDir))
  return { token, renewal, expiresInSeconds }
}

async function readRenewal(dataDir: string, renewal: string): Promise<Session | undefined> {
  try {
    const { payload } = await jwtVerify(renewal, loadSigningKey(dataDir), {
      algorithms: ['HS256'],
      issuer: LOCAL_ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['exp', 'sub', 'jti'],
    })
    const { sub, jti, began } = payload
    if (sub === undefined || jti === undefined || typeof began !== 'number') return undefined
    return { subject: sub, id: jti, beganAt: began }
  } catch {
    return undefined
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
