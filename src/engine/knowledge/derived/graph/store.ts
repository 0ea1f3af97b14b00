import { setImmediate as turn } from 'node:timers/promises'
import type { Driver } from '../../../store/driver.js'
import type { Read, Write } from '../../../store/program.js'
import { doVersionsExist } from '../../../store/rows/versions.js'
import {
  countGraphRows,
  type ExtractionScope,
  type GraphWriteResult,
  hasStatements,
  listStatements,
  markVersionExtracted,
  type NewEntity,
  type NewRelation,
  removeStatements,
  writeEntity,
  writeRelation,
} from '../../rows/graph/extraction.js'
import { canonicalKey } from './entities.js'
import type { ExtractedEntity, ExtractedRelation, GraphExtraction } from './extraction.js'

/** Remaining capacity of a space's graph; decreased by every insertion. */
export interface GraphCapacity {
  entities: number
  relations: number
}

/** Rows per transaction, so that it blocks the event loop for milliseconds only. */
const MAX_SLICE_ROWS = 200

/** Rows of the graph after storing an extraction. */
export interface StoredGraph {
  entities: Set<number>
  relations: Set<number>
  /** nodes with added or removed statements */
  changed: Set<number>
}

/** Capacity that the quota leaves a space. */
export function* loadGraphCapacity(
  spaceKey: number,
  quota: { maxGraphEntityCount: number; maxGraphRelationCount: number },
): Read<GraphCapacity> {
  return {
    entities: quota.maxGraphEntityCount - (yield* countGraphRows('graph_entities', spaceKey)),
    relations: quota.maxGraphRelationCount - (yield* countGraphRows('graph_relations', spaceKey)),
  }
}

/**
 * Stores the graph of a version, in slices. Existing entities and relations keep their ids; what the part stated before
 * and no longer states is removed, so storing twice changes nothing. After a crash it is repeated: the version is
 * marked as read last.
 */
export async function storeExtraction(
  db: Driver,
  scope: ExtractionScope,
  extraction: GraphExtraction,
  capacity: GraphCapacity,
): Promise<StoredGraph> {
  const indexed: StoredGraph = { entities: new Set(), relations: new Set(), changed: new Set() }
  const keys = new Map<string, number>()
  /** `owner:node` of all current statements */
  const stated = { entities: new Set<string>(), relations: new Set<string>() }
  const mayHaveStale = await db.read(hasStatements(scope))
  const note = (
    kind: 'entities' | 'relations',
    { key, isNew, changed }: GraphWriteResult,
    nodes: ReadonlySet<number>,
  ): void => {
    if (isNew) capacity[kind]--
    indexed[kind].add(key)
    for (const node of nodes) stated[kind].add(`${key}:${node}`)
    for (const node of changed) indexed.changed.add(node)
  }
  const write = async <T>(work: () => Write<T>): Promise<T | undefined> => {
    const written = await db.write(() => writeIfVersionExists(scope, work))
    await turn()
    return written
  }
  for (const slice of toSlices([...extraction.entities.values()].map(toNewEntity)))
    for (const { item, stored } of (await write(() => writeAll(scope, slice, capacity.entities, writeEntity))) ?? []) {
      keys.set(item.canonicalKey, stored.key)
      note('entities', stored, item.nodes)
    }
  const relations = [...extraction.relations.values()].flatMap((relation) => toNewRelation(relation, keys))
  for (const slice of toSlices(relations))
    for (const { item, stored } of (await write(() => writeAll(scope, slice, capacity.relations, writeRelation))) ?? [])
      note('relations', stored, item.nodes)
  if (mayHaveStale)
    for (const kind of ['relations', 'entities'] as const) {
      const stale = (await db.read(listStatements(scope, kind))).filter(
        ({ owner, node_key }) => (scope.nodes?.has(node_key) ?? true) && !stated[kind].has(`${owner}:${node_key}`),
      )
      for (const slice of toSlices(stale)) {
        const removed = await write(() => removeAll(kind, slice))
        for (const { node_key } of removed ?? []) indexed.changed.add(node_key)
      }
    }
  if (scope.nodes === undefined) await write(() => markVersionExtracted(scope))
  return indexed
}

/** Writes only if the version still exists: after a purge, nothing would remove its rows. */
function* writeIfVersionExists<T>(scope: ExtractionScope, work: () => Write<T>): Write<T | undefined> {
  return (yield* doVersionsExist([scope.versionKey]))[0] === true ? yield* work() : undefined
}

/** @returns the stored items of a slice; items beyond the capacity are missing */
function* writeAll<T>(
  scope: ExtractionScope,
  slice: readonly T[],
  capacity: number,
  write: (scope: ExtractionScope, item: T, hasCapacity: boolean) => Write<GraphWriteResult | undefined>,
): Write<{ item: T; stored: GraphWriteResult }[]> {
  const written: { item: T; stored: GraphWriteResult }[] = []
  let remaining = capacity
  for (const item of slice) {
    const stored = yield* write(scope, item, remaining > 0)
    if (stored === undefined) continue
    if (stored.isNew) remaining--
    written.push({ item, stored })
  }
  return written
}

function* removeAll<T extends Parameters<typeof removeStatements>[1]>(
  kind: Parameters<typeof removeStatements>[0],
  stale: T,
): Write<T> {
  yield* removeStatements(kind, stale)
  return stale
}

function* toSlices<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += MAX_SLICE_ROWS) yield all.slice(start, start + MAX_SLICE_ROWS)
}

function toNewEntity({ found, names, nodes }: ExtractedEntity): NewEntity {
  const spellings = [...names].map((name) => {
    const plain = canonicalKey(name)
    return { name, aliasKey: plain === found.canonicalKey ? null : plain }
  })
  return { ...found, names: spellings, nodes }
}

/** Empty where the graph lacks one of the ends. */
function toNewRelation(relation: ExtractedRelation, keys: ReadonlyMap<string, number>): NewRelation[] {
  const subject = keys.get(relation.subject)
  const object = keys.get(relation.object)
  return subject === undefined || object === undefined ? [] : [{ ...relation, subject, object }]
}
