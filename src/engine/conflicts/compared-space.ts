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
import type { Write } from '../storage/program.js'
import type { Candidate } from './claim-index.js'
import type { ClaimsOfVersion, FoundDisagreement } from './messages.js'
import type { ClaimThread } from './thread.js'

/** Passages per request to the thread: some 20 ms. */
const PASSAGES = 8
/** Versions per request whose claims are added. */
const VERSIONS = 50
/** Claims of a version per request. */
const CLAIMS = 200
/** Candidates per comparison, with their passages. */
const CANDIDATES = 32
/** Maximum stored disagreements of two documents. */
const MOST_OF_TWO = 10
/** Maximum versions and bytes of claims that one transaction stores: some milliseconds. */
const STORED_AT_ONCE = 32
const STORED_BYTES = 256 * 1024
/** Maximum delay before findings are stored, since clients may be listing them. */
const STORED_AFTER_MS = 1000
/** Two documents that share this many long sentences are forms of one kind, or editions of one text. */
const MOST_COPIED = 6

/** Findings of a version. */
interface Said {
  found: FoundDisagreement[]
  /** by other version, number of sentences that both have */
  copied: Map<number, number>
  nodes: Map<string, number>
}

/** A compared version, ready to be stored. */
interface Compared {
  version: number
  /** set when they are not stored yet */
  claims: Uint8Array | undefined
  found: readonly FoundDisagreement[]
  nodes: ReadonlyMap<string, number>
}

/** One space in the comparing thread: its compared versions, and the next ones. */
export class ComparedSpace {
  readonly #context: EngineContext
  readonly #thread: ClaimThread
  readonly key: number
  /** Yields to other work; its argument is the time worked, in milliseconds. Throws when the work is to end. */
  readonly #letOthers: (worked: number) => Promise<void>
  #compared: Compared[] = []
  #comparedSince = 0

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

  /** Opens a space and sends the thread the versions that were compared before. */
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
   * Compares a version with all versions compared before. Disagreements are pending until `store`: interrupted before
   * that, the version is compared again with the same result.
   */
  async compare(version: number): Promise<void> {
    const { db } = this.#context
    const row = await db.read(claimsOfVersion(this.key, version))
    // The version was replaced or deleted meanwhile.
    if (row === undefined) return
    const claims = row.claims ?? (await this.#read(version))
    let isStored = row.claims !== null
    if (!isStored && claims.length > STORED_BYTES) {
      // Reading took long: it is not repeated.
      await db.write(() => writeClaims(this.key, version, claims))
      isStored = true
    }
    const of: ClaimsOfVersion = { version, document: row.doc_key, claims }
    const said: Said = { found: [], copied: new Map(), nodes: new Map() }
    for (let from = 0; ; from += CLAIMS) {
      const { candidates, claims: count } = await this.#timed(() =>
        this.#thread.ask('candidates', { type: 'match', of, from, to: from + CLAIMS }),
      )
      for (let at = 0; at < candidates.length; at += CANDIDATES)
        await this.#compareSome(candidates.slice(at, at + CANDIDATES), said)
      if (from + CLAIMS >= count) break
    }
    await this.#thread.ask('done', { type: 'add', versions: [of] })
    if (this.#compared.length === 0) this.#comparedSince = performance.now()
    const found = disagreementsOf(said)
    this.#compared.push({ version, claims: isStored ? undefined : claims, found, nodes: said.nodes })
  }

  /** Whether findings are pending. */
  get isWaiting(): boolean {
    return this.#compared.length > 0
  }

  /** Whether so much is pending that it must be stored. */
  get isFull(): boolean {
    const bytes = this.#compared.reduce((sum, { claims }) => sum + (claims?.length ?? 0), 0)
    const found = this.#compared.reduce((sum, one) => sum + one.found.length, 0)
    return (
      this.#compared.length >= STORED_AT_ONCE ||
      bytes >= STORED_BYTES ||
      found >= CANDIDATES ||
      performance.now() - this.#comparedSince >= STORED_AFTER_MS
    )
  }

  /**
   * Stores the pending findings: many versions in one transaction, since a sync of the log costs more than comparing
   * one.
   */
  async store(): Promise<void> {
    const { db, now } = this.#context
    const compared = this.#compared
    this.#compared = []
    const last = compared.at(-1)
    if (last === undefined) return
    const { key } = this
    // Only the last one may exceed a transaction's size: it is marked as compared after its rest is stored.
    const rest = last.found.slice(CANDIDATES)
    await this.#write(function* () {
      for (const { version, claims, found, nodes } of compared) {
        if (claims !== undefined) yield* writeClaims(key, version, claims)
        const slice = found.slice(0, CANDIDATES)
        yield* writeDisagreements(key, slice, (place) => nodes.get(nameOf(place)), now())
        if (version !== last.version || rest.length === 0) yield* markCompared(key, version)
      }
    })
    for (let at = 0; at < rest.length; at += CANDIDATES) {
      const slice = rest.slice(at, at + CANDIDATES)
      await this.#write(() => writeDisagreements(key, slice, (place) => last.nodes.get(nameOf(place)), now()))
    }
    if (rest.length > 0) await db.write(() => markCompared(key, last.version))
  }

  #write(program: () => Write<void>): Promise<void> {
    return this.#timed(() => this.#context.db.write(program))
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

  /** @param findings receives the results */
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

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const made = await work()
    await this.#letOthers(performance.now() - began)
    return made
  }
}

/** Selects the disagreements to store: the first ones with each other version. */
function disagreementsOf({ found, copied }: Said): FoundDisagreement[] {
  const kept = new Map<number, number>()
  return found.flatMap((one): FoundDisagreement[] => {
    const { version } = one.other
    const count = (kept.get(version) ?? 0) + 1
    kept.set(version, count)
    if (count > MOST_OF_TWO) return []
    const areForms = one.relation === 'contradiction' && (copied.get(version) ?? 0) >= MOST_COPIED
    return [areForms ? { ...one, relation: 'other', reason: `${one.reason}; forms or editions of one text` } : one]
  })
}

function nameOf({ version, ordinal }: { version: number; ordinal: number }): string {
  return `${version}/${ordinal}`
}
