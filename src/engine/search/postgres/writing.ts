import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import type { Driver } from '../../storage/driver.js'
import type { Write } from '../../storage/program.js'
import type { FreshBatch, IndexBatch, ReplaySource, VectorBatch } from '../ports.js'
import { withoutBroken } from '../slices.js'
import { numberArray } from './literals.js'
import { applyNodes, type NodeChange, nodeChange, removeSomeNodes } from './node-rows.js'
import { beginAnew, claim, holds, lockOf, moveTo, release, type SpaceRow, spaceRow } from './space-rows.js'
import {
  makeVectorSpaceRow,
  putVectors,
  recountVectors,
  removeVectors,
  removeVectorsOf,
  type VectorSlice,
  vectorKeysAfter,
  vectorSlices,
} from './vector-rows.js'

/** Interval of checks whether the gateway that reads the log has reached the requested entry. */
const LOOK_MS = 50

/** Where rows are written, and by which gateway. */
export interface Writing {
  db: Driver
  source: ReplaySource
  /** id of this gateway, by which others recognise the reader of a log */
  gateway: string
  /** object id of `halfvec` */
  vectorType: number
  giveWay?: () => Promise<void>
  /** fires when writing must stop */
  stop: AbortSignal
}

/** A space and the key of its row in the search tables. */
export interface Shelf {
  space: string
  key: number
}

/** The rows of a space were removed, by this gateway or another; the next use creates them again. */
export class ShelfGone extends KsError {
  constructor({ space }: Shelf) {
    super('unavailable', `the search rows of space ${space} were removed`, { retryAfter: 1 })
    this.name = 'SpaceTablesDropped'
  }
}

interface Ready {
  nodes: NodeChange
  /** keys whose vectors are removed, too */
  removed: string
  vectors?: { name: string; dimension: number; slices: VectorSlice[] }
}

async function ready({ vectorType, giveWay }: Writing, { key }: Shelf, batch: IndexBatch): Promise<Ready> {
  const vectors = vectorsOf(batch)
  return {
    nodes: await nodeChange(key, batch, giveWay),
    removed: numberArray(batch.remove),
    ...(vectors === undefined
      ? {}
      : {
          vectors: {
            name: vectors.vectorSpace,
            dimension: vectors.dimension,
            slices: [...vectorSlices(vectorType, vectors)],
          },
        }),
  }
}

function vectorsOf({ vectorSpace, add }: IndexBatch): VectorBatch | undefined {
  const some = add.flatMap(({ key, doc, vector }) => (vector === undefined ? [] : [{ key, doc, vector }]))
  const dimension = some[0]?.vector.length
  if (vectorSpace === undefined || dimension === undefined) return undefined
  const vectors = new Float32Array(some.length * dimension)
  some.forEach(({ vector }, place) => {
    vectors.set(vector, place * dimension)
  })
  return { vectorSpace, dimension, keys: some.map(({ key }) => key), docs: some.map(({ doc }) => doc), vectors }
}

function* apply(key: number, { nodes, removed, vectors }: Ready): Write<void> {
  if (removed !== '{}') yield* removeVectors(key, removed)
  yield* applyNodes(key, nodes)
  if (vectors === undefined) return
  const row = yield* makeVectorSpaceRow(key, vectors.name, vectors.dimension)
  for (const slice of vectors.slices) yield* putVectors(row.key, slice)
}

/** Runs a program with the row of the space under its lock. @throws SpaceTablesDropped */
function locked<T>({ db, stop }: Writing, shelf: Shelf, work: (row: SpaceRow) => Write<T>): Promise<T> {
  if (stop.aborted) throw new KsError('unavailable', 'the search rows are being closed')
  return db.write(function* () {
    const row = yield* spaceRow(shelf.space)
    if (row?.key !== shelf.key) throw new ShelfGone(shelf)
    return yield* work(row)
  }, lockOf(shelf.space))
}

/**
 * Writes prepared batches, as far as they continue exactly at the watermark of the rows: other gateways write, too.
 *
 * @param batches in the order of the log
 * @returns the new watermark
 */
export async function writeReady(writing: Writing, shelf: Shelf, batches: readonly FreshBatch[]): Promise<number> {
  const prepared: (Ready & { first: number })[] = []
  for (const batch of batches) prepared.push({ first: batch.first, ...(await ready(writing, shelf, batch)) })
  return await locked(writing, shelf, function* ({ key, watermark }) {
    let at = watermark
    for (const { first, ...change } of prepared) {
      if (first !== at + 1) continue
      yield* apply(key, change)
      at = change.nodes.seq
    }
    yield* moveTo(key, at)
    return at
  })
}

/**
 * Reads the log up to the entry `to` and writes its changes. One gateway does this for all; others wait, and continue
 * where it stops.
 *
 * @param anew starts from nothing
 * @returns the new watermark, at least `to`
 */
export async function replay(writing: Writing, shelf: Shelf, to: number, anew = false): Promise<number> {
  const { gateway } = writing
  for (let begins = anew; ; ) {
    const begun = await locked(writing, shelf, function* ({ key }) {
      const claimed = yield* claim(key, gateway)
      if (claimed?.isMine === true && begins) yield* beginAnew(key)
      return claimed
    })
    if (begun === undefined) throw new ShelfGone(shelf)
    if (begun.isMine) {
      const from = begins ? 0 : begun.watermark
      begins = false
      try {
        const at = await replayOurs(writing, shelf, from, to)
        if (at !== undefined) return at
      } finally {
        await giveBack(writing, shelf)
      }
    } else if (!begins && begun.watermark >= to) return begun.watermark
    await sleep(LOOK_MS, undefined, { ref: false })
  }
}

/** @returns undefined where another gateway took over the log, which may happen when this one is slow */
async function replayOurs(writing: Writing, shelf: Shelf, from: number, to: number): Promise<number | undefined> {
  const { source, gateway } = writing
  if (from >= to) return from
  if (from === 0) await clear(writing, shelf)
  for await (const batch of source.changes(shelf.space, from, to)) {
    const change = await ready(writing, shelf, batch)
    const goesOn = await locked(writing, shelf, function* ({ key }) {
      if (!(yield* holds(key, gateway))) return false
      yield* apply(key, change)
      // a replay of live nodes has no order in which another gateway could continue
      if (from > 0) yield* moveTo(key, Math.min(batch.seq, to))
      return true
    })
    if (!goesOn) return undefined
  }
  return await locked(writing, shelf, function* ({ key }) {
    if (!(yield* holds(key, gateway))) return undefined
    yield* moveTo(key, to)
    return to
  })
}

async function giveBack(writing: Writing, shelf: Shelf): Promise<void> {
  if (writing.stop.aborted) return
  await locked(writing, shelf, ({ key }) => release(key, writing.gateway)).catch(() => undefined)
}

/** Removes all text rows, a slice at a time. */
export async function clear(writing: Writing, shelf: Shelf): Promise<void> {
  while (await locked(writing, shelf, ({ key }) => removeSomeNodes(key))) await writing.giveWay?.()
}

/** @throws RangeError where the vector space has another dimension */
export async function writeVectors(writing: Writing, shelf: Shelf, batch: VectorBatch): Promise<void> {
  for (const slice of vectorSlices(writing.vectorType, batch)) {
    await locked(writing, shelf, function* ({ key }) {
      const row = yield* makeVectorSpaceRow(key, batch.vectorSpace, batch.dimension)
      yield* putVectors(row.key, slice)
    })
    await writing.giveWay?.()
  }
}

/** Makes the vectors of a vector space equal to those of the source. */
export async function loadVectors(writing: Writing, shelf: Shelf, vectorSpace: string): Promise<void> {
  const { source, db } = writing
  const there = new Set<number>()
  let dimension = (await source.head(shelf.space)).dimension
  for await (const batch of source.vectors(shelf.space, vectorSpace)) {
    const whole = withoutBroken(batch)
    dimension = batch.dimension
    await writeVectors(writing, shelf, whole)
    for (const key of whole.keys) there.add(key)
  }
  if (dimension === undefined) return
  const of = dimension
  const row = await locked(writing, shelf, ({ key }) => makeVectorSpaceRow(key, vectorSpace, of))
  for (let after = -1; ; ) {
    const keys = await db.read(vectorKeysAfter(row.key, after))
    const last = keys.at(-1)
    if (last === undefined) break
    after = last
    await removeStray(
      writing,
      shelf,
      { name: vectorSpace, key: row.key },
      keys.filter((key) => !there.has(key)),
    )
  }
  await locked(writing, shelf, () => recountVectors(row.key))
}

/** Removes vectors that the source lacks; the source is asked again for those that were added while it was read. */
async function removeStray(
  writing: Writing,
  shelf: Shelf,
  { name, key }: { name: string; key: number },
  suspects: readonly number[],
): Promise<void> {
  if (suspects.length === 0) return
  const known = new Set<number>()
  for await (const { keys } of writing.source.vectorsOf(shelf.space, name, suspects))
    for (const one of keys) known.add(one)
  const stray = numberArray(suspects.filter((one) => !known.has(one)))
  await locked(writing, shelf, () => removeVectorsOf(key, stray))
}

/** The prepared batches of some requests, in the order of the log. */
export function inOrder(wanted: readonly { fresh?: FreshBatch }[]): FreshBatch[] {
  return wanted.flatMap(({ fresh }) => (fresh === undefined ? [] : [fresh])).sort((a, b) => a.first - b.first)
}
