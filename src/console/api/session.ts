/**
 * The session of this tab. Its token lives in `sessionStorage`, so it goes with the tab and no other tab has it; one of
 * `ks console` is renewed while somebody works here, one that was typed in is used as it is.
 */
interface Stored {
  token: string
  /** absent for a token that was typed in */
  opened?: OpenSession
}

/** A session that `ks console` opened. */
interface OpenSession {
  id: string
  /** gets the next token, once: a second use ends the session */
  renewal: string
  /** of the token, in milliseconds since the epoch */
  expiresAt: number
}

const KEY = 'ks.session'
/** a token is renewed in the last third of its life */
const RENEW_SHARE = 1 / 3
const AGAIN_MS = 10_000
/** how long an ended token waits for the lock of its session after a reload; another tab keeps it longer */
const CLAIM_MS = 1_000

type Listener = () => void
const listeners = new Set<Listener>()
let current: Stored | undefined = read()
let renewing: Promise<void> | undefined
let lifeMs = 0
let ended = false
/** id of the session that this tab renews */
let renewedId: string | undefined
/** resolves when this tab may renew its session, or after `CLAIM_MS` */
let claim: Promise<unknown> = Promise.resolve()
if (current?.opened !== undefined) claimRenewals(current.opened.id)

export const session = {
  subscribe(listener: Listener): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  isOpen: () => current !== undefined,
  /** whether there was a session that the daemon does not take any more */
  hasEnded: () => ended,
}

/** @returns the token to send now, renewed before where its end is near */
export async function tokenNow(): Promise<string | undefined> {
  if (current?.opened !== undefined && current.opened.expiresAt - Date.now() < AGAIN_MS) await claim
  const opened = current?.opened
  if (opened !== undefined && opened.id === renewedId) {
    const left = opened.expiresAt - Date.now()
    if (left < Math.max(lifeMs * RENEW_SHARE, 60_000)) {
      renewing ??= renew(opened.renewal).finally(() => {
        renewing = undefined
      })
      // what is still good is used meanwhile
      if (left < AGAIN_MS) await renewing
    }
  }
  return current?.token
}

/** Takes a token that somebody typed in. */
export function signIn(token: string): void {
  ended = false
  keep({ token })
}

/** Ends the session of this tab; a token that was typed in is only forgotten. */
export function signOut(): void {
  if (current?.opened !== undefined) void end(current.opened, current.token)
  ended = false
  keep(undefined)
}

/** The daemon refused the token. */
export function sessionRefused(token: string | undefined): void {
  if (token === undefined || current?.token !== token) return
  ended = true
  keep(undefined)
}

/**
 * Exchanges the code of the address for a session, and takes it out of the address before anything else happens.
 *
 * @returns why that did not work
 */
export async function takeCode(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const response = await post('/daemon/console/sessions', { code })
    const answer: unknown = await response.json()
    if (response.ok) keepAnswer(answer)
    else return sentenceOf(answer) ?? 'this address was used already or is too old'
  } catch {
    return 'the daemon did not answer'
  }
  return undefined
}

async function renew(renewal: string): Promise<void> {
  try {
    const response = await post('/daemon/console/sessions/renew', { renewal })
    const answer: unknown = await response.json()
    // a tab that signed out meanwhile stays signed out
    if (response.ok && current?.opened?.renewal === renewal) keepAnswer(answer)
  } catch {
    // the daemon is away: the next request tries again
  }
}

/**
 * A duplicated tab has a copy of the session, and a renewal that two tabs use ends it. The first tab of a session holds
 * a lock and renews; the next one gets the lock when the first is closed.
 */
function claimRenewals(id: string): void {
  // browsers provide locks on secure and loopback addresses only
  if (!('locks' in navigator)) {
    renewedId = id
    return
  }
  const granted = new Promise<void>((resolve) => {
    void navigator.locks.request(`${KEY}.${id}`, () => {
      // the tab may have another session by now
      if (current?.opened?.id !== id) return undefined
      renewedId = id
      resolve()
      // the lock is held until the tab is closed
      return new Promise(() => undefined)
    })
  })
  claim = Promise.race([granted, new Promise((resolve) => setTimeout(resolve, CLAIM_MS))])
}

/** Revokes a session: the daemon refuses its tokens and renewals. */
async function end({ id, renewal, expiresAt }: OpenSession, token: string): Promise<void> {
  try {
    // an ended token revokes nothing
    const valid = expiresAt > Date.now() ? token : await renewedToken(renewal)
    const headers = { authorization: `Bearer ${valid}` }
    await fetch(`/daemon/tokens/${encodeURIComponent(id)}`, { method: 'DELETE', headers, keepalive: true })
  } catch {
    // the daemon is away: this tab no longer has the renewal, so the token expires
  }
}

async function renewedToken(renewal: string): Promise<string> {
  const answer: unknown = await (await post('/daemon/console/sessions/renew', { renewal })).json()
  return isRecord(answer) ? String(answer.token) : ''
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

function keepAnswer(answer: unknown): void {
  if (!isRecord(answer)) return
  const { id, token, renewal, expiresInSeconds } = answer
  if (typeof token !== 'string' || typeof expiresInSeconds !== 'number') return
  if (typeof id !== 'string' || typeof renewal !== 'string') return
  lifeMs = expiresInSeconds * 1000
  ended = false
  keep({ token, opened: { id, renewal, expiresAt: Date.now() + lifeMs } })
  if (renewedId !== id) claimRenewals(id)
}

function keep(next: Stored | undefined): void {
  current = next
  if (next === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, JSON.stringify({ token: next.token, ...next.opened }))
  for (const listener of listeners) listener()
}

function read(): Stored | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (!isRecord(stored) || typeof stored.token !== 'string') return undefined
    const { token, id, renewal, expiresAt } = stored
    if (typeof id !== 'string' || typeof renewal !== 'string' || typeof expiresAt !== 'number') return { token }
    return { token, opened: { id, renewal, expiresAt } }
  } catch {
    return undefined
  }
}

export function sentenceOf(answer: unknown): string | undefined {
  return isRecord(answer) && typeof answer.error === 'string' ? answer.error : undefined
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
