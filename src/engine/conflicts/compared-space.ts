import type { EngineContext } from '../context.js'
import { nodesAfter } from '../derived/page-index/nodes.js'
import {
  claimsOfVersion,
  comparedAfter,
  markCompared,
  passagesAt,
  writeClaims,
  writeDisagreements,
} from '../rows/conflicts.js'
import type { Candidate } from './claim-index.js'
import type { ClaimsOfVersion, FoundDisagreement } from './messages.js'
import type { ClaimThread } from './thread.js'

/** Passages that the thread reads at a time: some 20 ms. */
const PASSAGES = 8
/** Versions whose claims are handed to the thread at a time. */
const VERSIONS = 50
/** Claims of a version that are looked up at a time. */
const CLAIMS = 200
/** Candidates that are compared at a time, with the passages that they stand in. */
const CANDIDATES = 32
/** Disagreements of two documents that are kept. */
const MOST_OF_TWO = 10
/** Two documents that share so many long sentences are forms of one kind, or editions of one text. */
const MOST_COPIED = 6

/** What was found of a version. */
interface Said {
  found: FoundDisagreement[]
  /** by other version, how many of its sentences the version has too */
  copied: Map<number, number>
  nodes: Map<string, number>
}

/** One space in the thread that compares: what of it was compared before, and its next versions. */
export class ComparedSpace {
  readonly #context: EngineContext
  readonly #thread: ClaimThread
  readonly key: number
  /** lets other work go on; told the milliseconds that were worked. Throws where the work is to end. */
  readonly #letOthers: (worked: number) => Promise<void>

  private constructor(
    context: EngineContext,
    thread: ClaimThread,
    key: number,
    letOthers: (worked: number) => Promise<void>,
  ) {
    this.#context = context
    this.#thread = thread
    this.key = key
    this.#letOthers = letOthers
  }

  /** Hands the thread what was compared before. */
  static async open(
    context: EngineContext,
    thread: ClaimThread,
    key: number,
    letOthers: (worked: number) => Promise<void>,
  ): Promise<ComparedSpace> {
    const space = new ComparedSpace(context, thread, key, letOthers)
    await thread.ask('done', { type: 'open' })
    let after = 0
    for (;;) {
      const rows = await context.db.read(comparedAfter(key, after, VERSIONS))
      const versions = rows.map(({ version_key, doc_key, claims }) => ({
        version: version_key,
        document: doc_key,
        claims,
      }))
      await space.#timed(() => thread.ask('done', { type: 'add', versions }))
      after = rows.at(-1)?.version_key ?? after
      if (rows.length < VERSIONS) return space
    }
  }

  /**
   * Compares a version with all that were compared before, and stores what disagrees. Cut short it is begun anew, and
   * finds the same.
   */
  async compare(version: number): Promise<void> {
    const { db } = this.#context
    if ((await db.read(claimsOfVersion(this.key, version))) === undefined) {
      const claims = await this.#read(version)
      await db.write(() => writeClaims(this.key, version, claims))
    }
    const row = await db.read(claimsOfVersion(this.key, version))
    // replaced or deleted meanwhile
    if (row === undefined) return
    const of: ClaimsOfVersion = { version, document: row.doc_key, claims: row.claims }
    const said: Said = { found: [], copied: new Map(), nodes: new Map() }
    for (let from = 0; ; from += CLAIMS) {
      const { candidates, claims } = await this.#timed(() =>
        this.#thread.ask('candidates', { type: 'match', of, from, to: from + CLAIMS }),
      )
      for (let at = 0; at < candidates.length; at += CANDIDATES)
        await this.#compareSome(candidates.slice(at, at + CANDIDATES), said)
      if (from + CLAIMS >= claims) break
    }
    await this.#write(said)
    await this.#thread.ask('done', { type: 'add', versions: [of] })
    await db.write(() => markCompared(this.key, version))
  }

  async #read(version: number): Promise<Uint8Array> {
    const { db } = this.#context
    const parts: Uint8Array[] = []
    let after = -1
    for (;;) {
      const nodes = await db.read(nodesAfter(version, after, PASSAGES))
      const passages = nodes.map(({ ordinal, title, text }) => ({ version, ordinal, title, text }))
      const { claims } = await this.#timed(() => this.#thread.ask('claims', { type: 'read', passages }))
      parts.push(claims)
      after = nodes.at(-1)?.ordinal ?? after
      if (nodes.length < PASSAGES) return Buffer.concat(parts)
    }
  }

  /** @param said takes what was found */
  async #compareSome(candidates: readonly Candidate[], said: Said): Promise<void> {
    const { db } = this.#context
    const places = new Map(candidates.flatMap(({ one, other }) => [one, other]).map((place) => [nameOf(place), place]))
    const passages = await db.read(passagesAt(this.key, [...places.values()]))
    const { found, copied } = await this.#timed(() =>
      this.#thread.ask('compared', { type: 'compare', candidates: [...candidates], passages }),
    )
    for (const version of copied) said.copied.set(version, (said.copied.get(version) ?? 0) + 1)
    for (const one of found) said.found.push(one)
    if (found.length > 0) for (const passage of passages) said.nodes.set(nameOf(passage), passage.node)
  }

  /** Stores what was found of a version, the first of each other one. */
  async #write({ found, copied, nodes }: Said): Promise<void> {
    const { db, now } = this.#context
    const kept = new Map<number, number>()
    const stored = found.flatMap((one): FoundDisagreement[] => {
      const { version } = one.other
      const count = (kept.get(version) ?? 0) + 1
      kept.set(version, count)
      if (count > MOST_OF_TWO) return []
      const areForms = one.relation === 'contradiction' && (copied.get(version) ?? 0) >= MOST_COPIED
      return [areForms ? { ...one, relation: 'other', reason: `${one.reason}; forms or editions of one text` } : one]
    })
    for (let at = 0; at < stored.length; at += CANDIDATES) {
      const slice = stored.slice(at, at + CANDIDATES)
      const began = performance.now()
      await db.write(() => writeDisagreements(this.key, slice, (place) => nodes.get(nameOf(place)), now()))
      await this.#letOthers(performance.now() - began)
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const made = await work()
    await this.#letOthers(performance.now() - began)
    return made
  }
}

function nameOf({ version, ordinal }: { version: number; ordinal: number }): string {
  return `${version}/${ordinal}`
}
