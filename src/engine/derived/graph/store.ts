import { setImmediate as turn } from 'node:timers/promises'
import {
  countOf,
  finishVersion,
  type NewEntity,
  type NewRelation,
  type ReadPart,
  removeStated,
  type Stored,
  statedBefore,
  statedIn,
  writeEntity,
  writeRelation,
} from '../../rows/graph/extraction.js'
import { areVersionsThere } from '../../rows/versions.js'
import type { Driver } from '../../storage/driver.js'
import type { Read, Write } from '../../storage/program.js'
import { canonicalKey } from './entities.js'
import type { ExtractedEntity, ExtractedRelation, Extraction } from './extraction.js'

/** Remaining capacity of a space's graph; decreased by every insertion. */
export interface GraphRoom {
  entities: number
  relations: number
}

/** Rows per transaction, so that it blocks the event loop for milliseconds only. */
const SLICE = 200

/** Rows of the graph after storing an extraction. */
export interface Indexed {
  entities: Set<number>
  relations: Set<number>
  /** nodes with added or removed statements */
  changed: Set<number>
}

/** Capacity that the quota leaves a space. */
export function* graphRoom(
  spaceKey: number,
  quota: { maxGraphEntityCount: number; maxGraphRelationCount: number },
): Read<GraphRoom> {
  return {
    entities: quota.maxGraphEntityCount - (yield* countOf('graph_entities', spaceKey)),
    relations: quota.maxGraphRelationCount - (yield* countOf('graph_relations', spaceKey)),
  }
}

/**
 * Stores the graph of a version, in slices. Existing entities and relations keep their ids; what the part stated before
 * and no longer states is removed, so storing twice changes nothing. After a crash it is repeated: the version is
 * marked as read last.
 */
export async function storeExtraction(
  db: Driver,
  of: ReadPart,
  extraction: Extraction,
  room: GraphRoom,
): Promise<Indexed> {
  const indexed: Indexed = { entities: new Set(), relations: new Set(), changed: new Set() }
  const keys = new Map<string, number>()
  /** `owner:node` of all current statements */
  const stated = { entities: new Set<string>(), relations: new Set<string>() }
  const mayTakeBack = await db.read(statedBefore(of))
  const note = (kind: 'entities' | 'relations', { key, isNew, changed }: Stored, nodes: ReadonlySet<number>): void => {
    if (isNew) room[kind]--
    indexed[kind].add(key)
    for (const node of nodes) stated[kind].add(`${key}:${node}`)
    for (const node of changed) indexed.changed.add(node)
  }
  const write = async <T>(work: () => Write<T>): Promise<T | undefined> => {
    const written = await db.write(() => whileThere(of, work))
    await turn()
    return written
  }
  for (const slice of slicesOf([...extraction.entities.values()].map(newEntity)))
    for (const { item, stored } of (await write(() => writeAll(of, slice, room.entities, writeEntity))) ?? []) {
      keys.set(item.canonicalKey, stored.key)
      note('entities', stored, item.nodes)
    }
  const relations = [...extraction.relations.values()].flatMap((relation) => newRelation(relation, keys))
  for (const slice of slicesOf(relations))
    for (const { item, stored } of (await write(() => writeAll(of, slice, room.relations, writeRelation))) ?? [])
      note('relations', stored, item.nodes)
  if (mayTakeBack)
    for (const kind of ['relations', 'entities'] as const) {
      const gone = (await db.read(statedIn(of, kind))).filter(
        ({ owner, node_key }) => (of.nodes?.has(node_key) ?? true) && !stated[kind].has(`${owner}:${node_key}`),
      )
      for (const slice of slicesOf(gone)) {
        const removed = await write(() => removeAll(kind, slice))
        for (const { node_key } of removed ?? []) indexed.changed.add(node_key)
      }
    }
  if (of.nodes === undefined) await write(() => finishVersion(of))
  return indexed
}

/** Writes only if the version still exists: after a purge, nothing would remove its rows. */
function* whileThere<T>(of: ReadPart, work: () => Write<T>): Write<T | undefined> {
  return (yield* areVersionsThere([of.versionKey]))[0] === true ? yield* work() : undefined
}

/** @returns the stored items of a slice; items beyond the capacity are missing */
function* writeAll<T>(
  of: ReadPart,
  slice: readonly T[],
  room: number,
  write: (of: ReadPart, item: T, hasRoom: boolean) => Write<Stored | undefined>,
): Write<{ item: T; stored: Stored }[]> {
  const written: { item: T; stored: Stored }[] = []
  let left = room
  for (const item of slice) {
    const stored = yield* write(of, item, left > 0)
    if (stored === undefined) continue
    if (stored.isNew) left--
    written.push({ item, stored })
  }
  return written
}

function* removeAll<T extends Parameters<typeof removeStated>[1]>(
  kind: Parameters<typeof removeStated>[0],
  gone: T,
): Write<T> {
  yield* removeStated(kind, gone)
  return gone
}

function* slicesOf<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += SLICE) yield all.slice(start, start + SLICE)
}

function newEntity({ found, names, nodes }: ExtractedEntity): NewEntity {
  const spellings = [...names].map((name) => {
    const plain = canonicalKey(name)
    return { name, aliasKey: plain === found.canonicalKey ? null : plain }
  })
  return { ...found, names: spellings, nodes }
}

/** Empty where the graph lacks one of the ends. */
function newRelation(relation: ExtractedRelation, keys: ReadonlyMap<string, number>): NewRelation[] {
  const subject = keys.get(relation.subject)
  const object = keys.get(relation.object)
  return subject === undefined || object === undefined ? [] : [{ ...relation, subject, object }]
}
