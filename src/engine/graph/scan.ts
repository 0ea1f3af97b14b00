import type { EntityExtraction } from '../../contract/gateway/graph.js'
import type { EngineContext } from '../context.js'
import { GraphReader } from '../derived/graph/extract.js'
import type { Extraction } from '../derived/graph/extraction.js'
import { type GraphRoom, graphRoom, type Indexed, storeExtraction } from '../derived/graph/store.js'
import { nodesBetween, noteScanned, type ScannedNode, scannedUpTo } from '../rows/graph/scans.js'
import type { SpaceRow } from '../rows/spaces.js'
import { quotasOf } from '../spaces/quota.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import { type ModelReader, modelReader, readingModel } from './model-reader.js'

interface Version {
  key: number
  title: string
  nodes: { key: number; text: string; section: string[] }[]
}

/**
 * Reads the next `limit` published passages of a space for the graph, and starts over after the last one. The rules
 * read all of them, and so does the reasoning model of the space's profile, if it is available.
 */
export async function scanPassages(
  context: EngineContext,
  space: SpaceRow,
  limit: number,
  signal: AbortSignal,
): Promise<EntityExtraction> {
  const { db } = context
  const { nodes, room, reference } = await db.read(beginScan(context, space, limit))
  const model = reference === undefined ? undefined : modelReader(context, space, reference, signal)
  const total = { entities: new Set<number>(), relations: new Set<number>(), changed: new Set<number>() }
  let extracted = 0
  for (const version of byVersion(nodes)) {
    const rules = readByRules(version)
    extracted += rules.entities.size
    const of = { spaceKey: space.key, versionKey: version.key, nodes: new Set(version.nodes.map(({ key }) => key)) }
    merge(total, await storeExtraction(db, of, rules, room))
    if (model !== undefined) extracted += await readByModel(db, { ...of, byModel: true }, version, model, room, total)
  }
  const last = nodes.at(-1)
  if (last !== undefined) await db.write(() => noteScanned(space.key, last.key))
  return {
    knowledgeSpaceId: space.id,
    extractionMode: 'provider',
    nodesScanned: nodes.length,
    nodesUpdated: total.changed.size,
    entitiesExtracted: extracted,
    graphEntitiesIndexed: total.entities.size,
    graphRelationsIndexed: total.relations.size,
  }
}

function* beginScan(context: EngineContext, space: SpaceRow, limit: number) {
  const nodes = yield* nextNodes(space.key, limit)
  const room = yield* graphRoom(space.key, quotasOf(context, space))
  return { nodes, room, reference: yield* readingModel(context, space) }
}

/** The passages after those of the previous call; continues with the first one after the last. */
function* nextNodes(spaceKey: number, limit: number): Read<ScannedNode[]> {
  const started = yield* scannedUpTo(spaceKey)
  const rows = yield* nodesBetween(spaceKey, started, Number.MAX_SAFE_INTEGER, limit)
  if (rows.length === limit || started === 0) return rows
  return [...rows, ...(yield* nodesBetween(spaceKey, 0, started, limit - rows.length))]
}

function byVersion(nodes: readonly ScannedNode[]): Version[] {
  const versions = new Map<number, Version>()
  for (const node of nodes) {
    const { key, version_key, title, text } = node
    const version = versions.get(version_key) ?? { key: version_key, title, nodes: [] }
    const path = unlessDamaged(() => fromCell<string[]>(node.section)) ?? []
    version.nodes.push({ key, text, section: path })
    versions.set(version_key, version)
  }
  return [...versions.values()]
}

function readByRules({ title, nodes }: Version): Extraction {
  const reader = new GraphReader(title)
  for (const node of nodes) reader.add(node)
  return reader.finish()
}

/** @returns number of entities. Passages without a usable reply keep what the rules found. */
async function readByModel(
  db: Driver,
  of: Parameters<typeof storeExtraction>[1],
  { nodes }: Version,
  model: ModelReader,
  room: GraphRoom,
  total: Indexed,
): Promise<number> {
  const { extraction, said } = await model.read(nodes)
  if (said.size === 0) return 0
  merge(total, await storeExtraction(db, { ...of, nodes: new Set(said.keys()) }, extraction, room))
  await db.write(function* () {
    for (const node of nodes) {
      const one = said.get(node.key)
      if (one !== undefined) yield* model.keep(node, one)
    }
  })
  return extraction.entities.size
}

function merge(total: Indexed, more: Indexed): void {
  for (const part of ['entities', 'relations', 'changed'] as const) for (const key of more[part]) total[part].add(key)
}
