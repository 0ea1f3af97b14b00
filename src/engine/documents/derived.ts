import { setImmediate as turn } from 'node:timers/promises'
import { KsError, notFound } from '../../contract/errors.js'
import type {
  DocumentMultimodalManifest,
  DocumentOutline,
  MultimodalItem,
  OutlineNode,
  ParseArtifact,
} from '../../contract/gateway/document-parts.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import type { CompiledOutlineNode } from '../parse/compiled.js'
import { itemName, type StoredArtifact, type StoredItem } from '../parse/stored.js'
import { isTableFormat, TABLE_FORMATS } from '../parse/tables/formats.js'
import {
  itemAsset,
  publishedVersion,
  sectionNodes,
  type VersionRow,
  versionNumbered,
} from '../rows/document-versions.js'
import { type DocumentRow, findDocument } from '../rows/documents.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { packedOf } from '../rows/version-parts.js'
import type { Driver } from '../storage/driver.js'
import { damagedObject, hasHash } from '../storage/durable-files.js'
import { unpack } from '../storage/packed.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { tableAsset } from './table-asset.js'

const OUTLINE_VERSION = 'outline-1'
/** Passages and sections that are worked on before others get their turn. */
const NODES_AT_ONCE = 1000
/** Forms of a table, made when they are asked for. */
const TABLE_VARIANTS = Object.fromEntries(
  Object.entries(TABLE_FORMATS).map(([name, contentType]) => [name, { contentType }]),
)

export async function getParseArtifact(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
  version: number,
): Promise<ParseArtifact> {
  const { document, row, packed } = await db.read(versionParts(caller, spaceId, documentId, version))
  const { elements } = await unpack<StoredArtifact>(packed)
  return {
    id: row.artifact_id,
    documentAssetId: document.id,
    artifactHash: row.artifact_hash,
    contentType: row.content_type,
    parser: row.parser,
    version: row.version,
    metadata: { title: row.title, ...parseObject(row.metadata) },
    createdAt: new Date(row.created_at).toISOString(),
    elements,
  }
}

export async function getOutline(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
): Promise<DocumentOutline> {
  const { space, document, row } = await db.read(published(caller, spaceId, documentId))
  const bySection = await nodesBySection(db, row.key)
  // it may have been deleted between two slices, and its passages with it
  const tree = await unpack<CompiledOutlineNode[]>(await db.read(outlineOf(caller, spaceId, documentId, row)))
  return {
    id: row.outline_id,
    knowledgeSpaceId: space.id,
    documentAssetId: document.id,
    parseArtifactId: row.artifact_id,
    artifactHash: row.artifact_hash,
    outlineVersion: OUTLINE_VERSION,
    version: row.version,
    nodes: await toOutlineNodes(tree, bySection, { nodes: 0 }),
    metadata: { title: row.title },
    createdAt: new Date(row.created_at).toISOString(),
  }
}

export async function getMultimodal(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
): Promise<DocumentMultimodalManifest> {
  const { space, document, row, packed } = await db.read(publishedItems(caller, spaceId, documentId))
  const items = await unpack<StoredItem[]>(packed)
  return {
    id: row.items_id,
    knowledgeSpaceId: space.id,
    documentAssetId: document.id,
    parseArtifactId: row.artifact_id,
    artifactHash: row.artifact_hash,
    manifestVersion: 1,
    version: row.version,
    metadata: {},
    createdAt: new Date(row.created_at).toISOString(),
    items: items.map(toItem),
  }
}

/** @throws KsError `asset-external` for a picture that the document only points to, `asset-too-large` */
export async function getItemAsset(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
  itemId: string,
  variant: string | undefined,
): Promise<ItemAsset> {
  const { row, packed } = await db.read(publishedItems(caller, spaceId, documentId))
  const items = await unpack<StoredItem[]>(packed)
  const item = items.find((candidate, index) => itemName(candidate, index) === itemId)
  if (item === undefined) throw notFound('item', itemId)
  if (variant !== undefined && item.modality === 'table' && isTableFormat(variant)) {
    const { elements } = await unpack<StoredArtifact>(await db.read(artifactOf(caller, spaceId, documentId, row)))
    return tableAsset(elements, item.parseElementId, variant)
  }
  if (variant !== undefined && variant !== 'original') throw notFound('variant', variant)
  if (item.externalUri !== undefined)
    throw new KsError('asset-external', `item ${itemId} is an external picture and is not stored here`)
  if (item.asset === undefined) throw notFound('asset of item', itemId)
  if (item.asset.size > LIMITS.assetBytes)
    throw new KsError(
      'asset-too-large',
      `item ${itemId} is ${item.asset.size} bytes, the limit is ${LIMITS.assetBytes}`,
    )
  const stored = await db.read(itemAsset(row.key, itemId))
  if (stored === undefined) throw notFound('asset of item', itemId)
  if (!(await hasHash(Uint8Array.from(stored.bytes), item.asset.sha256))) throw damagedObject()
  return { bytes: stored.bytes, contentType: stored.content_type }
}

function* locate(
  caller: Caller,
  spaceId: string,
  documentId: string,
): Read<{ space: SpaceRow; document: DocumentRow }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return { space, document: yield* findDocument(caller, space.key, documentId) }
}

/** A version with its elements, packed. */
function* versionParts(caller: Caller, spaceId: string, documentId: string, version: number) {
  const { document } = yield* locate(caller, spaceId, documentId)
  const row = yield* versionNumbered(document.key, version)
  if (row === undefined) throw notFound('parse artifact', `${documentId} version ${version}`)
  return { document, row, packed: yield* packedOf(row.key, 'artifact', row.artifact) }
}

/** The version that answers now. @throws KsError `not-found` before the first publication */
function* published(caller: Caller, spaceId: string, documentId: string) {
  const { space, document } = yield* locate(caller, spaceId, documentId)
  const row = yield* publishedVersion(document.key)
  if (row === undefined) throw notFound('published version of document', document.id)
  return { space, document, row }
}

/** The same with its items, packed. */
function* publishedItems(caller: Caller, spaceId: string, documentId: string) {
  const found = yield* published(caller, spaceId, documentId)
  return { ...found, packed: yield* packedOf(found.row.key, 'items', found.row.items) }
}

/** The elements of a version, packed. @throws KsError `not-found` when the document is gone */
function* artifactOf(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* locate(caller, spaceId, documentId)
  return yield* packedOf(row.key, 'artifact', row.artifact)
}

/** The outline of a version, packed. @throws KsError `not-found` when the document is gone */
function* outlineOf(caller: Caller, spaceId: string, documentId: string, row: VersionRow): Read<Uint8Array> {
  yield* locate(caller, spaceId, documentId)
  return yield* packedOf(row.key, 'outline', row.outline)
}

/** The passages of each section, in reading order. */
async function nodesBySection(db: Driver, versionKey: number): Promise<Map<string, string[]>> {
  const bySection = new Map<string, string[]>()
  for (let after = -1; ; ) {
    const nodes = await db.read(sectionNodes(versionKey, after, NODES_AT_ONCE))
    for (const { id, outline_node: section } of nodes) {
      const ids = bySection.get(section)
      if (ids === undefined) bySection.set(section, [id])
      else ids.push(id)
    }
    after = nodes.at(-1)?.ordinal ?? after
    if (nodes.length < NODES_AT_ONCE) return bySection
    await turn()
  }
}

/** @param done sections that were made since others had their turn */
async function toOutlineNodes(
  tree: readonly CompiledOutlineNode[],
  bySection: ReadonlyMap<string, string[]>,
  done: { nodes: number },
): Promise<OutlineNode[]> {
  const made: OutlineNode[] = []
  for (const node of tree) {
    if (++done.nodes % NODES_AT_ONCE === 0) await turn()
    const { children, ...rest } = node
    made.push({
      ...rest,
      childNodeIds: children.map((child) => child.id),
      children: children.length === 0 ? [] : await toOutlineNodes(children, bySection, done),
      sourceNodeIds: bySection.get(node.id) ?? [],
      metadata: {},
    })
  }
  return made
}

function toItem(item: StoredItem, index: number): MultimodalItem {
  const { asset, externalUri, ...rest } = item
  const stored = asset !== undefined
  return {
    id: itemName(item, index),
    ...rest,
    ...(stored ? { assetRef: { contentType: asset.contentType, sha256: asset.sha256 } } : {}),
    ...(externalUri !== undefined ? { assetRef: { uri: externalUri } } : {}),
    ...(item.modality === 'table' ? { assetRef: { variants: TABLE_VARIANTS } } : {}),
    enrichment: {
      asset: stored || externalUri !== undefined ? 'provided' : item.modality === 'image' ? 'missing' : 'unsupported',
      caption: item.caption === undefined ? 'missing' : 'provided',
      ocr: item.modality === 'image' || item.modality === 'page' ? 'missing' : 'unsupported',
      tableStructure: item.modality === 'table' ? 'provided' : 'unsupported',
      visualEmbedding: 'unsupported',
    },
  }
}

function parseObject(json: string): Record<string, unknown> {
  const value: unknown = fromCell(json)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export interface ItemAsset {
  bytes: Uint8Array
  contentType: string
}
