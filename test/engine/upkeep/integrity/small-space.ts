import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type {
  ConsistencyIssue,
  FsckCheck,
  GcCandidate,
  RepairReport,
} from '../../../../src/contract/gateway/integrity.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { sql, type Write } from '../../../../src/engine/store/program.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import {
  createIntegrityOperations,
  type IntegrityOperations,
} from '../../../../src/engine/upkeep/integrity/integrity.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { CHECKS } from './space.js'

export const HOUR_MS = 60 * 60 * 1000
export const DAY_MS = 24 * HOUR_MS
/** Ids that sort by their last digits. */
export const uuid = (end: number) => `018f0000-0000-7000-8000-${String(end).padStart(12, '0')}`

/** Checks, repairs and collections on a small store, with a clock that the test sets. */
export interface SmallSpaces {
  store: SmallStore
  integrity: IntegrityOperations
  /** The current time of the engine. */
  clock: { now: number }
  publish(space: SpaceRow, files: Record<string, string>): Promise<void>
  /** A trained model that queries of the space use from now on. */
  model(space: SpaceRow): VectorSpace
  issues(space: SpaceRow, check: FsckCheck, how?: { deep?: boolean; caller?: Caller }): Promise<ConsistencyIssue[]>
  repair(space: SpaceRow, check: FsckCheck, how?: { dryRun?: boolean; caller?: Caller }): Promise<RepairReport['items']>
  repairAll(space: SpaceRow): Promise<RepairReport['items']>
  candidates(space: SpaceRow, caller?: Caller): Promise<GcCandidate[]>
  /** The only candidate. */
  onlyCandidate(space: SpaceRow): Promise<GcCandidate>
  /** Recorded results of collections. */
  outcomes(): string[]
  /** Stores the bytes of an object with the given age, and returns its key. */
  object(digit: string, how?: { bytes?: string; tenant?: string; ageMs?: number }): string
  /** Creates a temporary file named by its id. */
  temporary(id: string, how?: { bytes?: string; ageMs?: number }): void
  /** Inserts a commit, by default of an upload that failed permanently long ago. */
  commit(space: SpaceRow, id: string, columns?: Record<string, string | number | null>): void
  /** Inserts a number of commits, with ids from a number on. */
  commits(space: SpaceRow, from: number, count: number, columns?: Record<string, string | number | null>): void
  isThere(objectKey: string): boolean
  pathOf(objectKey: string): string
  /** Makes a source readable for one subject only. */
  restrict(space: SpaceRow, sourceId: string, subject: string): void
}

export async function openSmallSpaces(): Promise<SmallSpaces> {
  const clock = { now: Date.now() }
  const store = await openSmallStore({ now: () => clock.now })
  const integrity = createIntegrityOperations(store.context)
  // The damage bypasses the constraints of the database.
  store.run('PRAGMA foreign_keys = OFF')
  const pathOf = (key: string) => join(store.dataDir, 'objects', key)
  const put = (path: string, bytes: string, ageMs: number) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
    const at = new Date(clock.now - ageMs)
    utimesSync(path, at, at)
  }
  const repair: SmallSpaces['repair'] = async (space, check, { dryRun = false, caller = ADA } = {}) =>
    pagesOf(async (cursor) => {
      const report = await integrity.repair(caller, space.id, { dryRun, check, deep: false, cursor })
      return { found: report.items, cursor: report.cursor }
    })
  const candidates = (space: SpaceRow, caller = ADA) =>
    pagesOf(async (cursor) => {
      const report = await integrity.gcDryRun(caller, space.id, { cursor })
      return { found: report.candidates, cursor: report.cursor }
    })
  return {
    ...{ store, integrity, clock, repair, pathOf },
    async publish(space, files) {
      await compileBatch(store.context, space, await store.uploadAndClaim(space, files), {
        signal: new AbortController().signal,
      })
    },
    model: (space) =>
      store.write(function* () {
        const made = yield* insertTrainedVectorSpace(
          space,
          newId(),
          { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
          'gone',
        )
        yield* activateVectorSpace(space.key, made)
        return made
      }),
    issues: (space, check, { deep = false, caller = ADA } = {}) =>
      pagesOf(async (cursor) => {
        const report = await integrity.fsck(caller, space.id, { check, deep, cursor })
        return { found: report.issues, cursor: report.cursor }
      }),
    async repairAll(space) {
      const items: RepairReport['items'] = []
      for (const check of CHECKS) items.push(...(await repair(space, check)))
      return items
    },
    candidates,
    async onlyCandidate(space) {
      const [candidate, ...more] = await candidates(space)
      if (candidate === undefined || more.length > 0) throw new Error(`there are ${more.length} more candidates`)
      return candidate
    },
    outcomes: () => store.rows<{ state: string }>('SELECT state FROM gc_outcomes').map(({ state }) => state),
    object(digit, { bytes = 'left behind', tenant = ADA.tenant, ageMs = 3 * HOUR_MS } = {}) {
      const key = ObjectStore.key(tenant, `cd${digit.repeat(62)}`)
      put(pathOf(key), bytes, ageMs)
      return key
    },
    temporary: (id, { bytes = 'half of it', ageMs = 3 * HOUR_MS } = {}) => put(pathOf(`tmp/${id}`), bytes, ageMs),
    commit: (space, id, columns) => store.write(() => insertCommit(space, id, columns)),
    commits: (space, from, count, columns) =>
      store.write(function* () {
        for (let end = from; end < from + count; end++) yield* insertCommit(space, uuid(end), columns)
      }),
    isThere: (key) => existsSync(pathOf(key)),
    restrict: (space, sourceId, subject) =>
      store.run(
        'INSERT INTO source_readers (source_id, subject, space_key) VALUES (?, ?, ?)',
        sourceId,
        subject,
        space.key,
      ),
  }
}

function* insertCommit(space: SpaceRow, id: string, columns: Record<string, string | number | null> = {}): Write<void> {
  const row = {
    ...{ id, tenant: space.tenant, space_key: space.key, idempotency_key: id, operation_type: 'document-upload' },
    ...{ status: 'failed-terminal', expires_at: 1, created_at: 1, updated_at: 1, ...columns },
  }
  const names = Object.keys(row)
  const places = names.map(() => '?').join(', ')
  yield* sql.run(`INSERT INTO staged_commits (${names.join(', ')}) VALUES (${places})`, Object.values(row))
}

/** A candidate that no dry run returned. */
export function forged(
  candidateType: GcCandidate['candidateType'],
  target: GcCandidate['target'],
  idempotencyKey = 'gc-forged',
): GcCandidate {
  return { candidateType, count: 1, estimatedBytes: 0, idempotencyKey, reason: 'asked for all the same', target }
}

async function pagesOf<T>(page: (cursor: string | undefined) => Promise<{ found: T[]; cursor?: string | undefined }>) {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const { found, cursor: next } = await page(cursor)
    all.push(...found)
    cursor = next
  } while (cursor !== undefined)
  return all
}
