import { KsError } from '../../contract/errors.js'

/** `parserPages` is counted where documents are parsed, not by a model's budget. */
export type BudgetCounter = 'embeddingTokens' | 'llmTokens' | 'rerankRequests' | 'parserPages'
/** What calls of models consume. */
export type ModelCounter = Exclude<BudgetCounter, 'parserPages'>

/** Limits per UTC day; null or absent = none. Names as in the manifest's `providerBudgets`. */
export interface ProviderBudgets {
  maxEmbeddingTokensPerDay?: number | null
  maxLlmTokensPerDay?: number | null
  maxRerankRequestsPerDay?: number | null
}

/** The unit that usage is counted for: mostly a knowledge space. */
export interface UsageAccount {
  /** absent for the deployment itself */
  tenant?: string
  id: string
}

/** The account that pays for a call. */
export interface BudgetAccount extends UsageAccount {
  /** evaluated at every call, so that a changed manifest applies at once */
  limits: () => ProviderBudgets | Promise<ProviderBudgets>
}

/** The storage of daily usage counters. */
export interface BudgetStore {
  /** usage so far on `day` (`YYYY-MM-DD`, UTC) */
  used(account: UsageAccount, day: string, counter: BudgetCounter): number | Promise<number>
  /** Adds to a counter, visible to all gateways; a negative delta returns budget. */
  add(account: UsageAccount, day: string, counter: BudgetCounter, delta: number): void
}

/** Budget reserved for a call before it is made. */
export interface BudgetReservation {
  /** Replaces the estimate by the actual usage; only the first call has an effect. */
  settle(actual: number): void
}

export interface ModelBudget {
  /**
   * Reserves `estimate` for one call. It counts at once, so that concurrent calls see each other.
   *
   * @throws KsError `quota-exceeded` when it exceeds the day's limit
   */
  reserve(counter: ModelCounter, estimate: number): Promise<BudgetReservation>
}

const COUNTERS = {
  embeddingTokens: { limit: 'maxEmbeddingTokensPerDay', label: 'embedding tokens' },
  llmTokens: { limit: 'maxLlmTokensPerDay', label: 'language model tokens' },
  rerankRequests: { limit: 'maxRerankRequestsPerDay', label: 'rerank requests' },
} as const

/** A store in memory that keeps the current day only. */
export function createMemoryBudgetStore(): BudgetStore {
  let today = ''
  const counts = new Map<string, number>()
  const keyOf = ({ tenant, id }: UsageAccount, counter: BudgetCounter) => JSON.stringify([counter, tenant, id])
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

/** Counts the usage of one account. */
export function createBudget(account: BudgetAccount, store: BudgetStore, now: () => number): ModelBudget {
  const today = () => new Date(now()).toISOString().slice(0, 10)
  return {
    async reserve(counter, estimate) {
      const day = today()
      const { limit: limitName, label } = COUNTERS[counter]
      const limit = (await account.limits())[limitName] ?? Number.POSITIVE_INFINITY
      store.add(account, day, counter, estimate)
      if ((await store.used(account, day, counter)) > limit) {
        store.add(account, day, counter, -estimate)
        throw new KsError(
          'quota-exceeded',
          `the daily budget of ${limit} ${label} has not enough left for another ${estimate}`,
          {
            retryAfter: secondsUntilMidnight(now()),
          },
        )
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
 * Estimates the tokens of a text: one per four ASCII characters, one per other character. Deliberately high for
 * European text; the provider's own count replaces it where there is one.
 */
export function estimateTokens(text: string): number {
  let other = 0
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) other++
  return Math.ceil((text.length - other) / 4) + other
}

const DAY_SECONDS = 86_400

/** Seconds to the next UTC day. @param now milliseconds since the epoch */
export function secondsUntilMidnight(now: number): number {
  return DAY_SECONDS - (Math.floor(now / 1000) % DAY_SECONDS)
}
