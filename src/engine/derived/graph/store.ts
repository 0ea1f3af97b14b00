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

/** How much more a space's graph may hold; counted down by what is written. */
export interface GraphRoom {
  entities: number
  relations: number
}

/** Rows written in one transaction, so that the event loop is held for milliseconds. */
const SLICE = 200

/** What the graph holds of what was read. */
export interface Indexed {
  entities: Set<number>
  relations: Set<number>
  /** nodes of which something was added or taken back */
  changed: Set<number>
}

/** What the quota leaves a space. */
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
 * Stores what a version says, in slices. Entities and relations that are known keep their ids; what the part that was
 * read stated before and does not any more is taken back, so storing twice changes nothing. Cut short by a crash, it is
 * done again: the version is marked as read last.
 */
export async function storeExtraction(
  db: Driver,
  of: ReadPart,
  extraction: Extraction,
  room: GraphRoom,
): Promise<Indexed> {
  const indexed: Indexed = { entities: new Set(), relations: new Set(), changed: new Set() }
  const keys = new Map<string, number>()
  /** `owner:node` of what is stated now */
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

/** A version may be purged while it is read, and then nothing would remove its rows: nothing is written. */
function* whileThere<T>(of: ReadPart, work: () => Write<T>): Write<T | undefined> {
  return (yield* areVersionsThere([of.versionKey]))[0] === true ? yield* work() : undefined
}

/** @returns what was written of a slice; what there is no room for is left out */
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

/** Nothing where the graph does not hold both of its ends. */
function newRelation(relation: ExtractedRelation, keys: ReadonlyMap<string, number>): NewRelation[] {
  const subject = keys.get(relation.subject)
  const object = keys.get(relation.object)
  return subject === undefined || object === undefined ? [] : [{ ...relation, subject, object }]
}
