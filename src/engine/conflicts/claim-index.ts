import { mayContradict, type StoredClaim } from './claims.js'

/** Where a claim stands: the version by its key, the passage by its ordinal, and its place there. */
export interface ClaimPlace {
  version: number
  ordinal: number
  place: number
}

/** Two claims that may contradict each other: the one that was asked for, and one of the index. */
export interface Candidate {
  one: ClaimPlace
  other: ClaimPlace
}

interface Known extends ClaimPlace {
  /** which document it is of: those of one are not compared */
  document: number
  signs: number
  hashes: Int32Array
}

/** Entries of the lists of words that are looked at for one claim, the rarest words first: so that time grows with claims. */
const MOST_ENTRIES = 4096
/** Claims that one is compared with, those that share most. */
const MOST_CANDIDATES = 8
/** Words that two claims must share, … */
const LEAST_SHARED = 2
/** … and share of the words of both: less than the comparison asks for, since the words they disagree in count here. */
const LEAST_LIKENESS = 0.33

/** Claims of one space by the words that they speak of. */
export class ClaimIndex {
  readonly #claims: Known[] = []
  /** by document, its version of now */
  readonly #current = new Map<number, number>()
  /** by hash, numbers of claims, oldest first */
  readonly #lists = new Map<number, number[]>()
  /** by number of a claim, in how many lists it was met; zeros between two calls */
  #counts = new Uint8Array(0)

  get size(): number {
    return this.#claims.length
  }

  /** Adds the claims of a version; an earlier version of its document says nothing any more. */
  add(version: number, document: number, claims: readonly StoredClaim[]): void {
    this.#current.set(document, version)
    for (const { ordinal, place, signs, hashes } of claims) {
      const number = this.#claims.length
      this.#claims.push({ version, document, ordinal, place, signs, hashes: Int32Array.from(hashes) })
      for (const hash of hashes) {
        const list = this.#lists.get(hash)
        if (list === undefined) this.#lists.set(hash, [number])
        else list.push(number)
      }
    }
  }

  /** What of other documents may contradict the claims of a version. */
  candidates(version: number, document: number, claims: readonly StoredClaim[]): Candidate[] {
    return claims.flatMap((claim) =>
      this.#likest(document, claim).map(({ version: key, ordinal, place }) => ({
        one: { version, ordinal: claim.ordinal, place: claim.place },
        other: { version: key, ordinal, place },
      })),
    )
  }

  #likest(document: number, { hashes, signs }: StoredClaim): Known[] {
    const met = this.#meet(this.#listsOf(hashes))
    const own = new Set(hashes)
    const found: { claim: Known; likeness: number }[] = []
    for (const number of met) {
      const claim = this.#claims[number]
      if (claim === undefined || claim.document === document || !mayContradict(signs, claim.signs)) continue
      if (this.#current.get(claim.document) !== claim.version) continue
      let shared = 0
      for (const hash of claim.hashes) if (own.has(hash)) shared++
      const likeness = shared / (own.size + claim.hashes.length - shared)
      if (shared >= LEAST_SHARED && likeness >= LEAST_LIKENESS) found.push({ claim, likeness })
    }
    return found
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, MOST_CANDIDATES)
      .map(({ claim }) => claim)
  }

  /** Numbers of claims that stand in two of the lists; where not all of the lists were read, in one. */
  #meet(lists: readonly (readonly number[])[]): number[] {
    if (this.#counts.length < this.#claims.length) this.#counts = new Uint8Array(2 * this.#claims.length)
    const counts = this.#counts
    const touched: number[] = []
    let left = MOST_ENTRIES
    for (const list of lists) {
      // of a long list the newest
      for (let at = list.length - 1; at >= 0 && left > 0; at--, left--) {
        const number = list[at] ?? 0
        const count = (counts[number] ?? 0) + 1
        counts[number] = count
        if (count === 1) touched.push(number)
      }
    }
    const least = left > 0 ? LEAST_SHARED : 1
    const met = touched.filter((number) => (counts[number] ?? 0) >= least)
    for (const number of touched) counts[number] = 0
    return met
  }

  #listsOf(hashes: readonly number[]): number[][] {
    return hashes
      .flatMap((hash) => {
        const list = this.#lists.get(hash)
        return list === undefined ? [] : [list]
      })
      .sort((a, b) => a.length - b.length)
  }
}
