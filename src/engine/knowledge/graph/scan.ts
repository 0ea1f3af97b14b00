import type { EntityExtraction } from '../../../contract/gateway/graph.js'
import { type EngineContext, getQuotas } from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import { parseJsonCell, unlessDamaged } from '../../store/readable.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { GraphExtractor } from '../derived/graph/extract.js'
import type { GraphExtraction } from '../derived/graph/extraction.js'
import { loadGraphCapacity, type StoredGraph, storeExtraction } from '../derived/graph/store.js'
import { getScanPosition, listNodesBetween, type ScannedNode, setScanPosition } from '../rows/graph/scans.js'
import type { ModelExtraction } from './model-extraction.js'
import { createModelReader, findReadingModel, type ModelPassageReader } from './model-reader.js'

interface VersionPassages {
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
  const { nodes, capacity, reference } = await db.read(loadScan(context, space, limit))
  const model = reference === undefined ? undefined : createModelReader(context, space, reference, signal)
  const total = { entities: new Set<number>(), relations: new Set<number>(), changed: new Set<number>() }
  let extracted = 0
  for (const version of groupByVersion(nodes)) {
    const rules = readByRules(version)
    extracted += rules.entities.size
    const scope = { spaceKey: space.key, versionKey: version.key, nodes: new Set(version.nodes.map(({ key }) => key)) }
    mergeStored(total, await storeExtraction(db, scope, rules, capacity))
    if (model === undefined) continue
    const { extraction, replies } = await model.read(version.nodes)
    if (replies.size === 0) continue
    const read = { ...scope, byModel: true, nodes: new Set(replies.keys()) }
    mergeStored(total, await storeExtraction(db, read, extraction, capacity))
    await db.write(() => storeReplies(model, version, replies))
    // Passages without a usable reply keep what the rules found.
    extracted += extraction.entities.size
  }
  const last = nodes.at(-1)
  if (last !== undefined) await db.write(() => setScanPosition(space.key, last.key))
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

function* loadScan(context: EngineContext, space: SpaceRow, limit: number) {
  const nodes = yield* listNextNodes(space.key, limit)
  const capacity = yield* loadGraphCapacity(space.key, getQuotas(context, space))
  return { nodes, capacity, reference: yield* findReadingModel(context, space) }
}

/** The passages after those of the previous call; continues with the first one after the last. */
function* listNextNodes(spaceKey: number, limit: number): Read<ScannedNode[]> {
  const started = yield* getScanPosition(spaceKey)
  const rows = yield* listNodesBetween(spaceKey, started, Number.MAX_SAFE_INTEGER, limit)
  if (rows.length === limit || started === 0) return rows
  return [...rows, ...(yield* listNodesBetween(spaceKey, 0, started, limit - rows.length))]
}

function groupByVersion(nodes: readonly ScannedNode[]): VersionPassages[] {
  const versions = new Map<number, VersionPassages>()
  for (const node of nodes) {
    const { key, version_key, title, text } = node
    const version = versions.get(version_key) ?? { key: version_key, title, nodes: [] }
    const path = unlessDamaged(() => parseJsonCell<string[]>(node.section)) ?? []
    version.nodes.push({ key, text, section: path })
    versions.set(version_key, version)
  }
  return [...versions.values()]
}

function readByRules({ title, nodes }: VersionPassages): GraphExtraction {
  const reader = new GraphExtractor(title)
  for (const node of nodes) reader.add(node)
  return reader.finish()
}

function* storeReplies(
  model: ModelPassageReader,
  { nodes }: VersionPassages,
  replies: ReadonlyMap<number, ModelExtraction>,
): Write<void> {
  for (const node of nodes) {
    const reply = replies.get(node.key)
    if (reply !== undefined) yield* model.store(node, reply)
  }
}

function mergeStored(total: StoredGraph, added: StoredGraph): void {
  for (const part of ['entities', 'relations', 'changed'] as const) for (const key of added[part]) total[part].add(key)
}
