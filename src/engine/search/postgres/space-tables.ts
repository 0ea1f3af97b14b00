import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import type { Driver } from '../../store/driver.js'
import type { Write } from '../../store/program.js'
import type { FreshBatch, IndexBatch, ReplaySource, VectorBatch } from '../ports.js'
import { withoutInvalidVectors } from '../slices.js'
import { toNumberArray } from './literals.js'
import { applyNodes, type NodeRowChange, prepareNodeChange, removeSomeNodes } from './node-rows.js'
import {
  claimLog,
  findSpaceRow,
  getSpaceLock,
  raiseWatermark,
  releaseClaim,
  renewClaim,
  resetWatermark,
  type SearchSpaceRow,
} from './space-rows.js'
import {
  ensureVectorSpaceRow,
  listVectorKeysAfter,
  recountVectors,
  removeVectors,
  removeVectorsFrom,
  toVectorRowSlices,
  upsertVectors,
  type VectorRowSlice,
} from './vector-rows.js'

/** Interval of checks whether the gateway that reads the log has reached the requested entry. */
const CHECK_INTERVAL_MS = 50

/** Where rows are written, and by which gateway. */
export interface SpaceTablesWriter {
  db: Driver
  source: ReplaySource
  /** id of this gateway, by which others recognise the reader of a log */
  gateway: string
  /** object id of `halfvec` */
  vectorType: number
  yieldToQueries?: () => Promise<void>
  /** fires when writing must stop */
  stop: AbortSignal
}

/** A space and the key of its row in the search tables. */
export interface SpaceTables {
  space: string
  key: number
}

/** The rows of a space were removed, by this gateway or another; the next use creates them again. */
export class SpaceTablesDropped extends KsError {
  constructor({ space }: SpaceTables) {
    super('unavailable', `the search rows of space ${space} were removed`, { retryAfter: 1 })
    this.name = 'SpaceTablesDropped'
  }
}

interface PreparedBatch {
  nodes: NodeRowChange
  /** keys whose vectors are removed, too */
  removed: string
  vectors?: { name: string; dimension: number; slices: VectorRowSlice[] }
}

async function prepareBatch(
  { vectorType, yieldToQueries }: SpaceTablesWriter,
  { key }: SpaceTables,
  batch: IndexBatch,
): Promise<PreparedBatch> {
  const vectors = toVectorBatch(batch)
  return {
    nodes: await prepareNodeChange(key, batch, yieldToQueries),
    removed: toNumberArray(batch.remove),
    ...(vectors === undefined
      ? {}
      : {
          vectors: {
            name: vectors.vectorSpace,
            dimension: vectors.dimension,
            slices: [...toVectorRowSlices(vectorType, vectors)],
          },
        }),
  }
}

function toVectorBatch({ vectorSpace, add }: IndexBatch): VectorBatch | undefined {
  const withVector = add.flatMap(({ key, doc, vector }) => (vector === undefined ? [] : [{ key, doc, vector }]))
  const dimension = withVector[0]?.vector.length
  if (vectorSpace === undefined || dimension === undefined) return undefined
  const vectors = new Float32Array(withVector.length * dimension)
  withVector.forEach(({ vector }, index) => {
    vectors.set(vector, index * dimension)
  })
  return {
    vectorSpace,
    dimension,
    keys: withVector.map(({ key }) => key),
    docs: withVector.map(({ doc }) => doc),
    vectors,
  }
}

function* applyBatch(key: number, { nodes, removed, vectors }: PreparedBatch): Write<void> {
  if (removed !== '{}') yield* removeVectors(key, removed)
  yield* applyNodes(key, nodes)
  if (vectors === undefined) return
  const row = yield* ensureVectorSpaceRow(key, vectors.name, vectors.dimension)
  for (const slice of vectors.slices) yield* upsertVectors(row.key, slice)
}

/** Runs a program with the row of the space under its lock. @throws SpaceTablesDropped */
function withLockedRow<T>(
  { db, stop }: SpaceTablesWriter,
  tables: SpaceTables,
  work: (row: SearchSpaceRow) => Write<T>,
): Promise<T> {
  if (stop.aborted) throw new KsError('unavailable', 'the search rows are being closed')
  return db.write(function* () {
    const row = yield* findSpaceRow(tables.space)
    if (row?.key !== tables.key) throw new SpaceTablesDropped(tables)
    return yield* work(row)
  }, getSpaceLock(tables.space))
}

/**
 * Writes prepared batches, as far as they continue exactly at the watermark of the rows: other gateways write, too.
 *
 * @param batches in the order of the log
 * @returns the new watermark
 */
export async function writePreparedBatches(
  writing: SpaceTablesWriter,
  tables: SpaceTables,
  batches: readonly FreshBatch[],
): Promise<number> {
  const prepared: (PreparedBatch & { first: number })[] = []
  for (const batch of batches) prepared.push({ first: batch.first, ...(await prepareBatch(writing, tables, batch)) })
  return await withLockedRow(writing, tables, function* ({ key, watermark }) {
    let position = watermark
    for (const { first, ...change } of prepared) {
      if (first !== position + 1) continue
      yield* applyBatch(key, change)
      position = change.nodes.seq
    }
    yield* raiseWatermark(key, position)
    return position
  })
}

/**
 * Reads the log up to the entry `to` and writes its changes. One gateway does this for all; others wait, and continue
 * where it stops.
 *
 * @param start `nothing`: empties the tables first
 * @returns the new watermark, at least `to`
 */
export async function replayLog(
  writing: SpaceTablesWriter,
  tables: SpaceTables,
  to: number,
  start: 'watermark' | 'nothing' = 'watermark',
): Promise<number> {
  const { gateway } = writing
  for (let startsOver = start === 'nothing'; ; ) {
    const attempt = await withLockedRow(writing, tables, function* ({ key }) {
      const claimed = yield* claimLog(key, gateway)
      if (claimed?.isMine === true && startsOver) yield* resetWatermark(key)
      return claimed
    })
    if (attempt === undefined) throw new SpaceTablesDropped(tables)
    if (attempt.isMine) {
      const from = startsOver ? 0 : attempt.watermark
      startsOver = false
      try {
        const watermark = await replayClaimedLog(writing, tables, from, to)
        if (watermark !== undefined) return watermark
      } finally {
        if (!writing.stop.aborted)
          await withLockedRow(writing, tables, ({ key }) => releaseClaim(key, gateway)).catch(() => undefined)
      }
    } else if (!startsOver && attempt.watermark >= to) return attempt.watermark
    await sleep(CHECK_INTERVAL_MS, undefined, { ref: false })
  }
}

/** @returns undefined where another gateway took over the log, which may happen when this one is slow */
async function replayClaimedLog(
  writing: SpaceTablesWriter,
  tables: SpaceTables,
  from: number,
  to: number,
): Promise<number | undefined> {
  const { source, gateway } = writing
  if (from >= to) return from
  if (from === 0) await removeTextRows(writing, tables)
  for await (const batch of source.changes(tables.space, from, to)) {
    const change = await prepareBatch(writing, tables, batch)
    const isStillClaimed = await withLockedRow(writing, tables, function* ({ key }) {
      if (!(yield* renewClaim(key, gateway))) return false
      yield* applyBatch(key, change)
      // a replay of live nodes has no order in which another gateway could continue
      if (from > 0) yield* raiseWatermark(key, Math.min(batch.seq, to))
      return true
    })
    if (!isStillClaimed) return undefined
  }
  return await withLockedRow(writing, tables, function* ({ key }) {
    if (!(yield* renewClaim(key, gateway))) return undefined
    yield* raiseWatermark(key, to)
    return to
  })
}

/** Removes all text rows, a slice at a time. */
export async function removeTextRows(writing: SpaceTablesWriter, tables: SpaceTables): Promise<void> {
  while (await withLockedRow(writing, tables, ({ key }) => removeSomeNodes(key))) await writing.yieldToQueries?.()
}

/** @throws RangeError where the vector space has another dimension */
export async function writeVectors(writing: SpaceTablesWriter, tables: SpaceTables, batch: VectorBatch): Promise<void> {
  for (const slice of toVectorRowSlices(writing.vectorType, batch)) {
    await withLockedRow(writing, tables, function* ({ key }) {
      const row = yield* ensureVectorSpaceRow(key, batch.vectorSpace, batch.dimension)
      yield* upsertVectors(row.key, slice)
    })
    await writing.yieldToQueries?.()
  }
}

/** Makes the vectors of a vector space equal to those of the source. */
export async function loadVectors(writing: SpaceTablesWriter, tables: SpaceTables, vectorSpace: string): Promise<void> {
  const { source, db } = writing
  const loadedKeys = new Set<number>()
  let dimension = (await source.head(tables.space)).dimension
  for await (const batch of source.vectors(tables.space, vectorSpace)) {
    const intact = withoutInvalidVectors(batch)
    dimension = batch.dimension
    await writeVectors(writing, tables, intact)
    for (const key of intact.keys) loadedKeys.add(key)
  }
  if (dimension === undefined) return
  const knownDimension = dimension
  const row = await withLockedRow(writing, tables, ({ key }) => ensureVectorSpaceRow(key, vectorSpace, knownDimension))
  for (let after = -1; ; ) {
    const keys = await db.read(listVectorKeysAfter(row.key, after))
    const last = keys.at(-1)
    if (last === undefined) break
    after = last
    await removeUnknownVectors(
      writing,
      tables,
      { name: vectorSpace, key: row.key },
      keys.filter((key) => !loadedKeys.has(key)),
    )
  }
  await withLockedRow(writing, tables, () => recountVectors(row.key))
}

/** Removes vectors that the source lacks; the source is read again for those that were added meanwhile. */
async function removeUnknownVectors(
  writing: SpaceTablesWriter,
  tables: SpaceTables,
  { name, key }: { name: string; key: number },
  suspects: readonly number[],
): Promise<void> {
  if (suspects.length === 0) return
  const known = new Set<number>()
  for await (const { keys } of writing.source.vectorsOfNodes(tables.space, name, suspects))
    for (const nodeKey of keys) known.add(nodeKey)
  const unknown = toNumberArray(suspects.filter((nodeKey) => !known.has(nodeKey)))
  await withLockedRow(writing, tables, () => removeVectorsFrom(key, unknown))
}

/** The prepared batches of some requests, in the order of the log. */
export function toOrderedBatches(requests: readonly { fresh?: FreshBatch }[]): FreshBatch[] {
  return requests.flatMap(({ fresh }) => (fresh === undefined ? [] : [fresh])).sort((a, b) => a.first - b.first)
}
