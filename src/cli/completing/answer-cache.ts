import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../lib/json/values.js'

/** Cache of completion answers: after one Tab, the next one follows within seconds. */

const MAX_AGE_MS = 10_000
/** Age at which the next write removes a file. */
const REMOVE_AFTER_MS = 60_000

export interface CompletionAnswer {
  values: readonly string[]
  /** Whether `values` are all values with this prefix: a longer prefix then needs no new request. */
  isComplete: boolean
}

export class AnswerCache {
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
  find(question: string, prefix: string): CompletionAnswer | undefined {
    const entry = this.#read(question)
    if (entry?.values.some((value) => value.startsWith(prefix)) !== true) return undefined
    return entry.wanted === prefix || (entry.isComplete && prefix.startsWith(entry.wanted)) ? entry : undefined
  }

  /** Stores an answer; ignores failures. */
  save(question: string, prefix: string, { values, isComplete }: CompletionAnswer): void {
    if (values.length === 0) return
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ question, wanted: prefix, isWhole: isComplete, values, at: Date.now() })
      const path = this.#path(question)
      for (const name of readdirSync(this.#folder)) removeOld(join(this.#folder, name))
      writeFileSync(path, text, { mode: 0o600 })
    } catch {
      // The cache is optional.
    }
  }

  #path(question: string): string {
    return join(this.#folder, hashFileName(`${this.#owner}\n${question}`))
  }

  #read(question: string): (CompletionAnswer & { wanted: string }) | undefined {
    try {
      const entry: unknown = JSON.parse(readFileSync(this.#path(question), 'utf8'))
      if (!isRecord(entry) || entry.question !== question || typeof entry.wanted !== 'string') return undefined
      const age = Date.now() - Number(entry.at)
      if (!(age >= 0 && age < MAX_AGE_MS) || !Array.isArray(entry.values)) return undefined
      const values = entry.values.filter((value): value is string => typeof value === 'string')
      return { values, isComplete: entry.isWhole === true, wanted: entry.wanted }
    } catch {
      return undefined
    }
  }
}

function removeOld(path: string): void {
  if (Date.now() - statSync(path).mtimeMs > REMOVE_AFTER_MS) rmSync(path, { force: true })
}

/** FNV-1a, twice 32 bits, as a file name: loading `node:crypto` would take longer than everything else here. */
function hashFileName(text: string): string {
  return [0x811c9dc5, 0x01000193].map((seed) => fnv1a(text, seed).toString(16).padStart(8, '0')).join('')
}

function fnv1a(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
