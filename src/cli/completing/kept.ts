import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../lib/json/values.js'

/** Cache of completion answers: after one Tab, the next one follows within seconds. */

const LIVES_MS = 10_000
/** Age at which the next write removes a file. */
const GONE_MS = 60_000

export interface Answer {
  values: readonly string[]
  /** Whether `values` are all values with this prefix: a longer prefix then needs no new request. */
  isWhole: boolean
}

export class KeptAnswers {
  readonly #folder: string
  readonly #owner: string

  /** @param owner service and credentials of the caller: answers of others are not shared. Only a hash is stored */
  constructor(cacheDir: string, owner: string) {
    this.#folder = join(cacheDir, 'completion')
    this.#owner = owner
  }

  /**
   * Finds an answer for this prefix, or a complete one for a shorter prefix. Returns `undefined` if no value matches,
   * since the value may be newer than the cache.
   */
  find(question: string, wanted: string): Answer | undefined {
    const kept = this.#read(question)
    if (kept?.values.some((value) => value.startsWith(wanted)) !== true) return undefined
    return kept.wanted === wanted || (kept.isWhole && wanted.startsWith(kept.wanted)) ? kept : undefined
  }

  /** Stores an answer; ignores failures. */
  keep(question: string, wanted: string, { values, isWhole }: Answer): void {
    if (values.length === 0) return
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ question, wanted, isWhole, values, at: Date.now() })
      const path = this.#path(question)
      for (const name of readdirSync(this.#folder)) removeOld(join(this.#folder, name))
      writeFileSync(path, text, { mode: 0o600 })
    } catch {
      // The cache is optional.
    }
  }

  #path(question: string): string {
    return join(this.#folder, hashOf(`${this.#owner}\n${question}`))
  }

  #read(question: string): (Answer & { wanted: string }) | undefined {
    try {
      const kept: unknown = JSON.parse(readFileSync(this.#path(question), 'utf8'))
      if (!isRecord(kept) || kept.question !== question || typeof kept.wanted !== 'string') return undefined
      const age = Date.now() - Number(kept.at)
      if (!(age >= 0 && age < LIVES_MS) || !Array.isArray(kept.values)) return undefined
      const values = kept.values.filter((value): value is string => typeof value === 'string')
      return { values, isWhole: kept.isWhole === true, wanted: kept.wanted }
    } catch {
      return undefined
    }
  }
}

function removeOld(path: string): void {
  if (Date.now() - statSync(path).mtimeMs > GONE_MS) rmSync(path, { force: true })
}

/** FNV-1a, twice 32 bits, as a file name: loading `node:crypto` would take longer than everything else here. */
function hashOf(text: string): string {
  return [0x811c9dc5, 0x01000193].map((seed) => fnv(text, seed).toString(16).padStart(8, '0')).join('')
}

function fnv(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
