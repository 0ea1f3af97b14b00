import { setImmediate as turn } from 'node:timers/promises'
import type {
  DocumentMultimodalManifest,
  DocumentOutline,
  MultimodalItem,
  OutlineNode,
  ParseArtifact,
} from '../../contract/gateway/document-parts.js'
import type { Caller } from '../base/caller.js'
import type { CompiledOutlineNode } from '../parse/compiled.js'
import { itemName, type StoredArtifact, type StoredItem } from '../parse/stored.js'
import { sectionNodes } from '../rows/document-versions.js'
import type { Driver } from '../storage/driver.js'
import { unpack } from '../storage/packed.js'
import { variantsOf } from './item-variants.js'
import { isPaged, metadataOf, outlineOf, published, publishedItems, versionParts } from './published.js'

const OUTLINE_VERSION = 'outline-1'
/** Passages and sections that are worked on before others get their turn. */
const NODES_AT_ONCE = 1000

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
    metadata: { title: row.title, ...metadataOf(row) },
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
    items: items.map((item, index) => toItem(item, index, isPaged(row))),
  }
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

/** @param paged whether the pages of its document can be drawn */
function toItem(item: StoredItem, index: number, paged: boolean): MultimodalItem {
  const { asset, externalUri, captionElementId: _, drawn, ...rest } = item
  const stored = asset !== undefined
  const variants = variantsOf(item, paged)
  const hasVariants = Object.keys(variants).length > 0
  const assetRef = {
    ...(stored ? { contentType: asset.contentType, sha256: asset.sha256 } : {}),
    ...(externalUri !== undefined ? { uri: externalUri } : {}),
    ...(drawn === true ? { contentType: 'image/png' } : {}),
    ...(hasVariants ? { variants } : {}),
  }
  return {
    id: itemName(item, index),
    ...rest,
    ...(Object.keys(assetRef).length === 0 ? {} : { assetRef }),
    enrichment: {
      asset:
        stored || drawn === true || externalUri !== undefined
          ? 'provided'
          : item.modality === 'image'
            ? 'missing'
            : 'unsupported',
      caption: item.caption === undefined ? 'missing' : 'provided',
      ocr:
        item.modality !== 'image' && item.modality !== 'page'
          ? 'unsupported'
          : item.ocrText === undefined
            ? 'missing'
            : 'provided',
      tableStructure: item.modality === 'table' ? 'provided' : 'unsupported',
      visualEmbedding: 'unsupported',
    },
  }
}
