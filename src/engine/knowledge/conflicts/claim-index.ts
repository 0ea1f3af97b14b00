import { mayContradict, type StoredClaim } from './claims.js'

/** Location of a claim: the key of its version, the ordinal of its passage, and its index there. */
export interface ClaimLocation {
  version: number
  ordinal: number
  index: number
}

/** Two claims that may contradict each other: the requested one, and one of the index. */
export interface ClaimPair {
  one: ClaimLocation
  other: ClaimLocation
}

interface IndexedClaim extends ClaimLocation {
  /** its document; claims of one document are not compared */
  document: number
  signs: number
  hashes: Int32Array
}

/** Maximum list entries that are read for one claim, rarest words first: so time grows with the number of claims. */
const MAX_ENTRIES = 4096
/** Maximum claims that one is compared with, those that share most. */
const MAX_CANDIDATES = 8
/** Minimum words that two claims share, … */
const MIN_SHARED_WORDS = 2
/**
 * … and minimum fraction of the words of both: lower than in the comparison, since here the words they disagree in
 * count.
 */
const MIN_LIKENESS = 0.33

/** Claims of one space, indexed by their words. */
export class ClaimIndex {
  readonly #claims: IndexedClaim[] = []
  /** current version of each document */
  readonly #current = new Map<number, number>()
  /** numbers of claims by hash, oldest first */
  readonly #lists = new Map<number, number[]>()
  /** by number of a claim, how many lists contained it; zeros between two calls */
  #counts = new Uint8Array(0)

  get size(): number {
    return this.#claims.length
  }

  /** Adds the claims of a version; those of an earlier version of its document no longer count. */
  add(version: number, document: number, claims: readonly StoredClaim[]): void {
    this.#current.set(document, version)
    for (const { ordinal, index, signs, hashes } of claims) {
      const number = this.#claims.length
      this.#claims.push({ version, document, ordinal, index, signs, hashes: Int32Array.from(hashes) })
      for (const hash of hashes) {
        const list = this.#lists.get(hash)
        if (list === undefined) this.#lists.set(hash, [number])
        else list.push(number)
      }
    }
  }

  /** Finds claims of other documents that may contradict the claims of a version. */
  candidates(version: number, document: number, claims: readonly StoredClaim[]): ClaimPair[] {
    return claims.flatMap((claim) =>
      this.#findSimilar(document, claim).map(({ version: key, ordinal, index }) => ({
        one: { version, ordinal: claim.ordinal, index: claim.index },
        other: { version: key, ordinal, index },
      })),
    )
  }

  #findSimilar(document: number, { hashes, signs }: StoredClaim): IndexedClaim[] {
    const met = this.#findInLists(this.#getLists(hashes))
    const own = new Set(hashes)
    const found: { claim: IndexedClaim; likeness: number }[] = []
    for (const number of met) {
      const claim = this.#claims[number]
      if (claim === undefined || claim.document === document || !mayContradict(signs, claim.signs)) continue
      if (this.#current.get(claim.document) !== claim.version) continue
      let shared = 0
      for (const hash of claim.hashes) if (own.has(hash)) shared++
      const likeness = shared / (own.size + claim.hashes.length - shared)
      if (shared >= MIN_SHARED_WORDS && likeness >= MIN_LIKENESS) found.push({ claim, likeness })
    }
    return found
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, MAX_CANDIDATES)
      .map(({ claim }) => claim)
  }

  /** Numbers of claims that are in two of the lists; in one, when not all lists were read. */
  #findInLists(lists: readonly (readonly number[])[]): number[] {
    if (this.#counts.length < this.#claims.length) this.#counts = new Uint8Array(2 * this.#claims.length)
    const counts = this.#counts
    const touched: number[] = []
    let remaining = MAX_ENTRIES
    for (const list of lists) {
      // of a long list the newest
      for (let index = list.length - 1; index >= 0 && remaining > 0; index--, remaining--) {
        const number = list[index] ?? 0
        const count = (counts[number] ?? 0) + 1
        counts[number] = count
        if (count === 1) touched.push(number)
      }
    }
    const minCount = remaining > 0 ? MIN_SHARED_WORDS : 1
    const met = touched.filter((number) => (counts[number] ?? 0) >= minCount)
    for (const number of touched) counts[number] = 0
    return met
  }

  #getLists(hashes: readonly number[]): number[][] {
    return hashes
      .flatMap((hash) => {
        const list = this.#lists.get(hash)
        return list === undefined ? [] : [list]
      })
      .sort((a, b) => a.length - b.length)
  }
}
