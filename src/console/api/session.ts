/**
 * The session of this tab. Its token lives in `sessionStorage`, so it goes with the tab and no other tab has it; one of
 * `ks console` is renewed while somebody works here, one that was typed in is used as it is.
 */
interface Stored {
  token: string
  /** what the next token is had with; absent for a token that was typed in */
  renewal?: string
  /** milliseconds since the epoch */
  expiresAt?: number
}

const KEY = 'ks.session'
/** a token is renewed in the last third of its life */
const RENEW_SHARE = 1 / 3
const AGAIN_MS = 10_000

type Listener = () => void
const listeners = new Set<Listener>()
let current: Stored | undefined = read()
let renewing: Promise<void> | undefined
let lifeMs = 0
let ended = false

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
  if (current?.renewal !== undefined && current.expiresAt !== undefined) {
    const left = current.expiresAt - Date.now()
    if (left < Math.max(lifeMs * RENEW_SHARE, 60_000)) {
      renewing ??= renew(current.renewal).finally(() => {
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

export function signOut(): void {
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
    // the token that is still there is refused by itself when its time has come
    if (response.ok) keepAnswer(await response.json())
  } catch {
    // the daemon is away: the next request tries again
  }
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

function keepAnswer(answer: unknown): void {
  if (!isRecord(answer)) return
  const { token, renewal, expiresInSeconds } = answer
  if (typeof token !== 'string' || typeof renewal !== 'string' || typeof expiresInSeconds !== 'number') return
  lifeMs = expiresInSeconds * 1000
  ended = false
  keep({ token, renewal, expiresAt: Date.now() + lifeMs })
}

function keep(next: Stored | undefined): void {
  current = next
  if (next === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, JSON.stringify(next))
  for (const listener of listeners) listener()
}

function read(): Stored | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (!isRecord(stored) || typeof stored.token !== 'string') return undefined
    const { token, renewal, expiresAt } = stored
    if (typeof renewal !== 'string' || typeof expiresAt !== 'number') return { token }
    return { token, renewal, expiresAt }
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
