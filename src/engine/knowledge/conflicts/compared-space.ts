import type { EngineContext } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { listNodesAfter } from '../derived/page-index/nodes.js'
import {
  findVersionClaims,
  insertConflicts,
  listComparedAfter,
  listPassagesAt,
  markCompared,
  writeClaims,
} from '../rows/conflicts.js'
import type { ClaimPair } from './claim-index.js'
import { type ClaimsOfVersion, type FoundDisagreement, toPassageKey } from './messages.js'
import type { ClaimThread } from './thread.js'

/** Passages per request to the thread: some 20 ms. */
const PASSAGE_BATCH = 8
/** Versions per request whose claims are added. */
const VERSION_BATCH = 50
/** Claims of a version per request. */
const CLAIM_BATCH = 200
/** Candidates per comparison, with their passages. */
const CANDIDATE_BATCH = 32
/** Maximum stored disagreements of two documents. */
const MAX_DISAGREEMENTS_PER_PAIR = 10
/** Maximum versions and bytes of claims that one transaction stores: some milliseconds. */
const MAX_STORED_VERSIONS = 32
const MAX_STORED_BYTES = 256 * 1024
/** Maximum delay before findings are stored, since clients may be listing them. */
const STORE_DELAY_MS = 1000
/** Two documents that share this many long sentences are forms of one kind, or editions of one text. */
const MIN_COPIED_OF_FORMS = 6

/** Findings of a version. */
interface VersionFindings {
  found: FoundDisagreement[]
  /** by other version, number of sentences that both have */
  copied: Map<number, number>
  nodes: Map<string, number>
}

/** A compared version, ready to be stored. */
interface ComparedVersion {
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
  readonly #yieldToOthers: (worked: number) => Promise<void>
  #compared: ComparedVersion[] = []
  #comparedSince = 0

  private constructor(
    context: EngineContext,
    thread: ClaimThread,
    key: number,
    yieldToOthers: (worked: number) => Promise<void>,
  ) {
    this.#context = context
    this.#thread = thread
    this.key = key
    this.#yieldToOthers = yieldToOthers
  }

  /** Opens a space and sends the thread the versions that were compared before. */
  static async open(
    context: EngineContext,
    thread: ClaimThread,
    key: number,
    yieldToOthers: (worked: number) => Promise<void>,
  ): Promise<ComparedSpace> {
    const space = new ComparedSpace(context, thread, key, yieldToOthers)
    await thread.ask('done', { type: 'open' })
    let after = 0
    for (;;) {
      const rows = await context.db.read(listComparedAfter(key, after, VERSION_BATCH))
      const versions = rows.map(({ version_key, doc_key, claims }) => ({
        version: version_key,
        document: doc_key,
        claims,
      }))
      await space.#timed(() => thread.ask('done', { type: 'add', versions }))
      after = rows.at(-1)?.version_key ?? after
      if (rows.length < VERSION_BATCH) return space
    }
  }

  /**
   * Compares a version with all versions compared before. Disagreements are pending until `store`: interrupted before
   * that, the version is compared again with the same result.
   */
  async compare(version: number): Promise<void> {
    const { db } = this.#context
    const row = await db.read(findVersionClaims(this.key, version))
    // The version was replaced or deleted meanwhile.
    if (row === undefined) return
    const claims = row.claims ?? (await this.#read(version))
    let isStored = row.claims !== null
    if (!isStored && claims.length > MAX_STORED_BYTES) {
      // Reading took long: it is not repeated.
      await db.write(() => writeClaims(this.key, version, claims))
      isStored = true
    }
    const claimsOfVersion: ClaimsOfVersion = { version, document: row.doc_key, claims }
    const findings: VersionFindings = { found: [], copied: new Map(), nodes: new Map() }
    for (let from = 0; ; from += CLAIM_BATCH) {
      const { candidates, claims: count } = await this.#timed(() =>
        this.#thread.ask('candidates', { type: 'match', version: claimsOfVersion, from, to: from + CLAIM_BATCH }),
      )
      for (let start = 0; start < candidates.length; start += CANDIDATE_BATCH)
        await this.#compareSome(candidates.slice(start, start + CANDIDATE_BATCH), findings)
      if (from + CLAIM_BATCH >= count) break
    }
    await this.#thread.ask('done', { type: 'add', versions: [claimsOfVersion] })
    if (this.#compared.length === 0) this.#comparedSince = performance.now()
    const found = selectDisagreements(findings)
    this.#compared.push({ version, claims: isStored ? undefined : claims, found, nodes: findings.nodes })
  }

  /** Whether findings are pending. */
  get hasPending(): boolean {
    return this.#compared.length > 0
  }

  /** Whether so much is pending that it must be stored. */
  get isFull(): boolean {
    const bytes = this.#compared.reduce((sum, { claims }) => sum + (claims?.length ?? 0), 0)
    const found = this.#compared.reduce((sum, one) => sum + one.found.length, 0)
    return (
      this.#compared.length >= MAX_STORED_VERSIONS ||
      bytes >= MAX_STORED_BYTES ||
      found >= CANDIDATE_BATCH ||
      performance.now() - this.#comparedSince >= STORE_DELAY_MS
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
    const rest = last.found.slice(CANDIDATE_BATCH)
    await this.#write(function* () {
      for (const { version, claims, found, nodes } of compared) {
        if (claims !== undefined) yield* writeClaims(key, version, claims)
        const slice = found.slice(0, CANDIDATE_BATCH)
        yield* insertConflicts(key, slice, (location) => nodes.get(toPassageKey(location)), now())
        if (version !== last.version || rest.length === 0) yield* markCompared(key, version)
      }
    })
    for (let start = 0; start < rest.length; start += CANDIDATE_BATCH) {
      const slice = rest.slice(start, start + CANDIDATE_BATCH)
      await this.#write(() => insertConflicts(key, slice, (location) => last.nodes.get(toPassageKey(location)), now()))
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
      const nodes = await db.read(listNodesAfter(version, after, PASSAGE_BATCH))
      const passages = nodes.map(({ ordinal, title, text }) => ({ version, ordinal, title, text }))
      const { claims } = await this.#timed(() => this.#thread.ask('claims', { type: 'read', passages }))
      parts.push(claims)
      after = nodes.at(-1)?.ordinal ?? after
      if (nodes.length < PASSAGE_BATCH) return Buffer.concat(parts)
    }
  }

  /** @param findings receives the results */
  async #compareSome(candidates: readonly ClaimPair[], findings: VersionFindings): Promise<void> {
    const { db } = this.#context
    const locations = new Map(
      candidates.flatMap(({ one, other }) => [one, other]).map((location) => [toPassageKey(location), location]),
    )
    const passages = await db.read(listPassagesAt(this.key, [...locations.values()]))
    const { found, copied } = await this.#timed(() =>
      this.#thread.ask('compared', { type: 'compare', candidates: [...candidates], passages }),
    )
    for (const version of copied) findings.copied.set(version, (findings.copied.get(version) ?? 0) + 1)
    for (const one of found) findings.found.push(one)
    if (found.length > 0) for (const passage of passages) findings.nodes.set(toPassageKey(passage), passage.node)
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const result = await work()
    await this.#yieldToOthers(performance.now() - began)
    return result
  }
}

/** Selects the disagreements to store: the first ones with each other version. */
function selectDisagreements({ found, copied }: VersionFindings): FoundDisagreement[] {
  const counts = new Map<number, number>()
  return found.flatMap((one): FoundDisagreement[] => {
    const { version } = one.other
    const count = (counts.get(version) ?? 0) + 1
    counts.set(version, count)
    if (count > MAX_DISAGREEMENTS_PER_PAIR) return []
    const areForms = one.relation === 'contradiction' && (copied.get(version) ?? 0) >= MIN_COPIED_OF_FORMS
    return [areForms ? { ...one, relation: 'other', reason: `${one.reason}; forms or editions of one text` } : one]
  })
}
