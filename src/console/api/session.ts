import { createListeners } from './listeners.js'

/**
 * The session of this tab, as `sessionStorage` contains it: it ends with the tab, and other tabs cannot read it. A
 * session of `ks console` is renewed while the tab sends requests; a token that was typed in is used unchanged.
 */
interface StoredSession {
  token: string
  /** absent for a token that was typed in */
  renewable?: RenewableSession
}

/** A session that `ks console` opened. */
interface RenewableSession {
  id: string
  /** credential that is exchanged once for the next token; a second use ends the session */
  renewal: string
  /** expiry of the token, in milliseconds since the epoch */
  expiresAt: number
}

const STORAGE_KEY = 'ks.session'
/** A token is renewed in the last third of its lifetime, and at the latest a minute before it expires. */
const RENEW_FRACTION = 1 / 3
const MIN_RENEW_BEFORE_MS = 60_000
/** A token that expires within this time is not sent any more. */
const EXPIRY_MARGIN_MS = 10_000
/**
 * How long a tab with an expiring token waits for its session's lock after a reload; another tab may hold it longer.
 */
const LOCK_TIMEOUT_MS = 1_000

const listeners = createListeners()
let current: StoredSession | undefined = readStored()
let pendingRenewal: Promise<void> | undefined
let lifetimeMs = 0
let hasEnded = false
/** id of the session whose lock this tab holds: only this tab renews it */
let lockedId: string | undefined
/** resolves when this tab holds the lock of its session, or after `LOCK_TIMEOUT_MS` */
let lockRequest: Promise<unknown> = Promise.resolve()
if (current?.renewable !== undefined) requestLock(current.renewable.id)

export const session = {
  subscribe: listeners.subscribe,
  isOpen: () => current !== undefined,
  /** whether the daemon no longer accepts the previous session */
  hasEnded: () => hasEnded,
}

/** @returns the token to send, renewed first if it expires soon; undefined without a session */
export async function getToken(): Promise<string | undefined> {
  if (current?.renewable !== undefined && current.renewable.expiresAt - Date.now() < EXPIRY_MARGIN_MS) await lockRequest
  const renewable = current?.renewable
  if (renewable !== undefined && renewable.id === lockedId) {
    const remainingMs = renewable.expiresAt - Date.now()
    if (remainingMs < Math.max(lifetimeMs * RENEW_FRACTION, MIN_RENEW_BEFORE_MS)) {
      pendingRenewal ??= renew(renewable.renewal).finally(() => {
        pendingRenewal = undefined
      })
      // a token that is still valid is used meanwhile
      if (remainingMs < EXPIRY_MARGIN_MS) await pendingRenewal
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
  if (current?.renewable !== undefined) void revoke(current.renewable, current.token)
  hasEnded = false
  store(undefined)
}

/** Ends the session whose token the daemon refused; a session that has replaced it meanwhile continues. */
export function onTokenRefused(token: string | undefined): void {
  if (token === undefined || current?.token !== token) return
  hasEnded = true
  store(undefined)
}

/**
 * Exchanges the code in the URL for a session. Removes the code from the URL first.
 *
 * @returns the reason of a failure; undefined after success and without a code
 */
export async function exchangeCode(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const response = await post('/daemon/console/sessions', { code })
    const body: unknown = await response.json()
    if (!response.ok) return getErrorMessage(body) ?? 'this link was used already or has expired'
    storeResponse(body)
  } catch {
    return 'the daemon did not respond'
  }
  return undefined
}

async function renew(renewal: string): Promise<void> {
  try {
    const response = await post('/daemon/console/sessions/renew', { renewal })
    const body: unknown = await response.json()
    // a tab that signed out in the meantime stays signed out
    if (response.ok && current?.renewable?.renewal === renewal) storeResponse(body)
  } catch {
    // the daemon is unreachable: the next request retries
  }
}

/**
 * Requests the lock of a session. A duplicated tab has a copy of the session, and a renewal that two tabs use ends it:
 * only the tab with the lock renews. The next tab gets the lock when the first one is closed.
 */
function requestLock(id: string): void {
  // browsers provide locks on secure and loopback addresses only
  if (!('locks' in navigator)) {
    lockedId = id
    return
  }
  const granted = new Promise<void>((resolve) => {
    void navigator.locks.request(`${STORAGE_KEY}.${id}`, () => {
      // the tab may have another session by now
      if (current?.renewable?.id !== id) return undefined
      lockedId = id
      resolve()
      // the lock is held until the tab is closed
      return new Promise(() => undefined)
    })
  })
  lockRequest = Promise.race([granted, new Promise((resolve) => setTimeout(resolve, LOCK_TIMEOUT_MS))])
}

/** Revokes a session: the daemon refuses its tokens and renewals. */
async function revoke({ id, renewal, expiresAt }: RenewableSession, token: string): Promise<void> {
  try {
    // an expired token revokes nothing
    const validToken = expiresAt > Date.now() ? token : await fetchRenewedToken(renewal)
    const headers = { authorization: `Bearer ${validToken}` }
    await fetch(`/daemon/tokens/${encodeURIComponent(id)}`, { method: 'DELETE', headers, keepalive: true })
  } catch {
    // the daemon is unreachable: this tab no longer has the renewal, so the token expires
  }
}

async function fetchRenewedToken(renewal: string): Promise<string> {
  const body: unknown = await (await post('/daemon/console/sessions/renew', { renewal })).json()
  return isRecord(body) ? String(body.token) : ''
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

function storeResponse(body: unknown): void {
  if (!isRecord(body)) return
  const { id, token, renewal, expiresInSeconds } = body
  if (typeof token !== 'string' || typeof expiresInSeconds !== 'number') return
  if (typeof id !== 'string' || typeof renewal !== 'string') return
  lifetimeMs = expiresInSeconds * 1000
  hasEnded = false
  store({ token, renewable: { id, renewal, expiresAt: Date.now() + lifetimeMs } })
  if (lockedId !== id) requestLock(id)
}

function store(next: StoredSession | undefined): void {
  current = next
  if (next === undefined) sessionStorage.removeItem(STORAGE_KEY)
  else sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ token: next.token, ...next.renewable }))
  listeners.notify()
}

function readStored(): StoredSession | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null')
    if (!isRecord(stored) || typeof stored.token !== 'string') return undefined
    const { token, id, renewal, expiresAt } = stored
    if (typeof id !== 'string' || typeof renewal !== 'string' || typeof expiresAt !== 'number') return { token }
    return { token, renewable: { id, renewal, expiresAt } }
  } catch {
    return undefined
  }
}

/** @returns the message in the body of an error response */
export function getErrorMessage(body: unknown): string | undefined {
  return isRecord(body) && typeof body.error === 'string' ? body.error : undefined
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
