import { KsError } from '../../contract/errors.js'

/** `parserPages` is counted where documents are read, not by a model's budget. */
export type BudgetCounter = 'embeddingTokens' | 'llmTokens' | 'rerankRequests' | 'parserPages'
/** What calls of models use up. */
export type ModelCounter = Exclude<BudgetCounter, 'parserPages'>

/** Limits of a UTC day; null or absent = none. Names as in the manifest's `providerBudgets`. */
export interface ProviderBudgets {
  maxEmbeddingTokensPerDay?: number | null
  maxLlmTokensPerDay?: number | null
  maxRerankRequestsPerDay?: number | null
}

/** What use is counted for: a knowledge space, as a rule. */
export interface Account {
  /** absent: of none, as the deployment itself */
  tenant?: string
  id: string
}

/** Who pays for a call. */
export interface BudgetAccount extends Account {
  /** asked at every call, so that a changed manifest holds at once */
  limits: () => ProviderBudgets | Promise<ProviderBudgets>
}

/** Where a day's use is counted. */
export interface BudgetStore {
  /** used so far on `day` (`YYYY-MM-DD`, UTC) */
  used(account: Account, day: string, counter: BudgetCounter): number | Promise<number>
  /** Adds to a counter, for everybody at once; a negative delta gives back. */
  add(account: Account, day: string, counter: BudgetCounter, delta: number): void
}

/** What a call set aside before it was made. */
export interface Reservation {
  /** Replaces the estimate by what was really used; the first call counts, later ones change nothing. */
  settle(actual: number): void
}

export interface Budget {
  /**
   * Sets `estimate` aside for one call. It counts from the beginning, so that calls that ask at once see each other.
   *
   * @throws KsError `quota-exceeded` when the day's limit does not hold it
   */
  reserve(counter: ModelCounter, estimate: number): Promise<Reservation>
}

const COUNTERS = {
  embeddingTokens: { limit: 'maxEmbeddingTokensPerDay', label: 'embedding tokens' },
  llmTokens: { limit: 'maxLlmTokensPerDay', label: 'language model tokens' },
  rerankRequests: { limit: 'maxRerankRequestsPerDay', label: 'rerank requests' },
} as const

/** A store that forgets at the end of the process, and yesterday at once. */
export function memoryBudgetStore(): BudgetStore {
  let today = ''
  const counts = new Map<string, number>()
  const keyOf = ({ tenant, id }: Account, counter: BudgetCounter) => JSON.stringify([counter, tenant, id])
  return {
    used: (account, day, counter) => (day === today ? (counts.get(keyOf(account, counter)) ?? 0) : 0),
    add(account, day, counter, delta) {
      if (day < today) return
      if (day > today) counts.clear()
      today = day
      const key = keyOf(account, counter)
      counts.set(key, Math.max(0, (counts.get(key) ?? 0) + delta))
    },
  }
}

/** Counts what providers are given to do for one account. */
export function createBudget(account: BudgetAccount, store: BudgetStore, now: () => number): Budget {
  const today = () => new Date(now()).toISOString().slice(0, 10)
  return {
    async reserve(counter, estimate) {
      const day = today()
      const { limit: name, label } = COUNTERS[counter]
      const limit = (await account.limits())[name] ?? Number.POSITIVE_INFINITY
      store.add(account, day, counter, estimate)
      if ((await store.used(account, day, counter)) > limit) {
        store.add(account, day, counter, -estimate)
        throw new KsError('quota-exceeded', `the daily budget of ${limit} ${label} does not hold another ${estimate}`, {
          retryAfter: secondsToMidnight(now()),
        })
      }
      let settled = false
      return {
        settle(actual) {
          if (settled) return
          settled = true
          if (actual !== estimate) store.add(account, day, counter, actual - estimate)
        },
      }
    },
  }
}

/**
 * Tokens a text is likely to have: a token for four ASCII characters, one for each other character. Deliberately on
 * the high side for European text; the provider's own count replaces it where it gives one.
 */
export function estimateTokens(text: string): number {
  let other = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) other++
  return Math.ceil((text.length - other) / 4) + other
}

const DAY_SECONDS = 86_400

/** Until the next UTC day. @param now milliseconds since the epoch */
export function secondsToMidnight(now: number): number {
  return DAY_SECONDS - (Math.floor(now / 1000) % DAY_SECONDS)
}
