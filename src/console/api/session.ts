/**
 * The session of this tab. Its token is kept in `sessionStorage`: it ends with the tab, and no other tab has it. A
 * session of `ks console` is renewed while the tab sends requests; a token that was typed in is used unchanged.
 */
interface StoredSession {
  token: string
  /** absent for a token that was typed in */
  opened?: OpenSession
}

/** A session that `ks console` opened. */
interface OpenSession {
  id: string
  /** exchanged once for the next token; a second use ends the session */
  renewal: string
  /** expiry of the token, in milliseconds since the epoch */
  expiresAt: number
}

const KEY = 'ks.session'
/** A token is renewed in the last third of its lifetime. */
const RENEW_FRACTION = 1 / 3
const EXPIRY_MARGIN_MS = 10_000
/**
 * How long a tab with an expiring token waits for its session's lock after a reload; another tab may hold it longer.
 */
const CLAIM_TIMEOUT_MS = 1_000

type Listener = () => void
const listeners = new Set<Listener>()
let current: StoredSession | undefined = readStored()
let renewing: Promise<void> | undefined
let lifetimeMs = 0
let hasEnded = false
/** id of the session that this tab renews */
let renewedId: string | undefined
/** resolves when this tab may renew its session, or after `CLAIM_TIMEOUT_MS` */
let claim: Promise<unknown> = Promise.resolve()
if (current?.opened !== undefined) claimRenewals(current.opened.id)

export const session = {
  subscribe(listener: Listener): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  isOpen: () => current !== undefined,
  /** whether the daemon no longer accepts the previous session */
  hasEnded: () => hasEnded,
}

/** @returns the token to send, renewed first if it expires soon */
export async function getToken(): Promise<string | undefined> {
  if (current?.opened !== undefined && current.opened.expiresAt - Date.now() < EXPIRY_MARGIN_MS) await claim
  const opened = current?.opened
  if (opened !== undefined && opened.id === renewedId) {
    const remainingMs = opened.expiresAt - Date.now()
    if (remainingMs < Math.max(lifetimeMs * RENEW_FRACTION, 60_000)) {
      renewing ??= renew(opened.renewal).finally(() => {
        renewing = undefined
      })
      // a token that is still valid is used meanwhile
      if (remainingMs < EXPIRY_MARGIN_MS) await renewing
    }
  }
  return current?.token
}

/** Starts a session with a token that a user typed in. */
export function signIn(token: string): void {
  hasEnded = false
  store({ token })
}

/** Ends the session of this tab; a token that was typed in is only removed from the tab. */
export function signOut(): void {
  if (current?.opened !== undefined) void revoke(current.opened, current.token)
  hasEnded = false
  store(undefined)
}

/** Ends the session if the daemon refused its token. */
export function onTokenRefused(token: string | undefined): void {
  if (token === undefined || current?.token !== token) return
  hasEnded = true
  store(undefined)
}

/**
 * Exchanges the code in the URL for a session. Removes the code from the URL first.
 *
 * @returns why that failed, else undefined
 */
export async function exchangeCode(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const response = await post('/daemon/console/sessions', { code })
    const answer: unknown = await response.json()
    if (response.ok) storeResponse(answer)
    else return errorMessageIn(answer) ?? 'this link was used already or has expired'
  } catch {
    return 'the daemon did not respond'
  }
  return undefined
}

async function renew(renewal: string): Promise<void> {
  try {
    const response = await post('/daemon/console/sessions/renew', { renewal })
    const answer: unknown = await response.json()
    // a tab that signed out in the meantime stays signed out
    if (response.ok && current?.opened?.renewal === renewal) storeResponse(answer)
  } catch {
    // the daemon is unreachable: the next request retries
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
  claim = Promise.race([granted, new Promise((resolve) => setTimeout(resolve, CLAIM_TIMEOUT_MS))])
}

/** Revokes a session: the daemon refuses its tokens and renewals. */
async function revoke({ id, renewal, expiresAt }: OpenSession, token: string): Promise<void> {
  try {
    // an ended token revokes nothing
    const valid = expiresAt > Date.now() ? token : await fetchRenewedToken(renewal)
    const headers = { authorization: `Bearer ${valid}` }
    await fetch(`/daemon/tokens/${encodeURIComponent(id)}`, { method: 'DELETE', headers, keepalive: true })
  } catch {
    // the daemon is unreachable: this tab no longer has the renewal, so the token expires
  }
}

async function fetchRenewedToken(renewal: string): Promise<string> {
  const answer: unknown = await (await post('/daemon/console/sessions/renew', { renewal })).json()
  return isRecord(answer) ? String(answer.token) : ''
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

function storeResponse(answer: unknown): void {
  if (!isRecord(answer)) return
  const { id, token, renewal, expiresInSeconds } = answer
  if (typeof token !== 'string' || typeof expiresInSeconds !== 'number') return
  if (typeof id !== 'string' || typeof renewal !== 'string') return
  lifetimeMs = expiresInSeconds * 1000
  hasEnded = false
  store({ token, opened: { id, renewal, expiresAt: Date.now() + lifetimeMs } })
  if (renewedId !== id) claimRenewals(id)
}

function store(next: StoredSession | undefined): void {
  current = next
  if (next === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, JSON.stringify({ token: next.token, ...next.opened }))
  for (const listener of listeners) listener()
}

function readStored(): StoredSession | undefined {
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

export function errorMessageIn(answer: unknown): string | undefined {
  return isRecord(answer) && typeof answer.error === 'string' ? answer.error : undefined
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
