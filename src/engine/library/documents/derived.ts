import { setImmediate as turn } from 'node:timers/promises'
import type {
  DocumentMultimodalManifest,
  DocumentOutline,
  MultimodalItem,
  ParseArtifact,
} from '../../../contract/gateway/document-parts.js'
import type { Caller } from '../../base/caller.js'
import { createJsonBody, type JsonBody, streamObjectWithList, streamObjectWithMembers } from '../../base/json-body.js'
import { buildItemName, readElementTexts, readStoredItems, type StoredItem, walkSections } from '../../readers/index.js'
import type { Driver } from '../../store/driver.js'
import { listSectionNodes } from '../../store/rows/document-versions.js'
import { listVariants } from './item-variants.js'
import {
  findPublished,
  isPaged,
  loadOutline,
  loadPublishedItems,
  loadVersionWithArtifact,
  parseVersionMetadata,
} from './published.js'

const OUTLINE_VERSION = 'outline-1'
/** number of passages per read, after which other work runs */
const NODES_PER_READ = 1000

export async function getParseArtifact(
  db: Driver,
  caller: Caller,
  spaceId: string,
  { documentId, version }: { documentId: string; version: number },
): Promise<JsonBody<ParseArtifact>> {
  const { document, row, packed } = await db.read(loadVersionWithArtifact(caller, spaceId, documentId, version))
  const head = {
    id: row.artifact_id,
    documentAssetId: document.id,
    artifactHash: row.artifact_hash,
    contentType: row.content_type,
    parser: row.parser,
    version: row.version,
    metadata: { title: row.title, ...parseVersionMetadata(row) },
    createdAt: new Date(row.created_at).toISOString(),
  }
  return createJsonBody(() => streamObjectWithList(head, 'elements', readElementTexts(packed)))
}

export async function getOutline(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
): Promise<JsonBody<DocumentOutline>> {
  const { space, document, row } = await db.read(findPublished(caller, spaceId, documentId))
  const bySection = await groupNodesBySection(db, row.key)
  // the document may have been deleted between two reads, with its passages
  const packed = await db.read(loadOutline(caller, spaceId, documentId, row))
  const head = {
    id: row.outline_id,
    knowledgeSpaceId: space.id,
    documentAssetId: document.id,
    parseArtifactId: row.artifact_id,
    artifactHash: row.artifact_hash,
    outlineVersion: OUTLINE_VERSION,
    version: row.version,
    metadata: { title: row.title },
    createdAt: new Date(row.created_at).toISOString(),
  }
  return createJsonBody(() => streamObjectWithMembers(head, 'nodes', streamOutline(packed, bySection)))
}

export async function getMultimodal(
  db: Driver,
  caller: Caller,
  spaceId: string,
  documentId: string,
): Promise<JsonBody<DocumentMultimodalManifest>> {
  const { space, document, row, packed } = await db.read(loadPublishedItems(caller, spaceId, documentId))
  const head = {
    id: row.items_id,
    knowledgeSpaceId: space.id,
    documentAssetId: document.id,
    parseArtifactId: row.artifact_id,
    artifactHash: row.artifact_hash,
    manifestVersion: 1,
    version: row.version,
    metadata: {},
    createdAt: new Date(row.created_at).toISOString(),
  }
  return createJsonBody(() => streamObjectWithList(head, 'items', streamItems(packed, isPaged(row))))
}

async function* streamItems(packed: Uint8Array, paged: boolean): AsyncGenerator<string> {
  let index = 0
  for await (const item of readStoredItems(packed)) yield JSON.stringify(toItem(item, index++, paged))
}

/** The JSON of the sections of an outline, with the ids of the passages in each. */
function streamOutline(packed: Uint8Array, bySection: ReadonlyMap<string, string[]>): AsyncGenerator<string> {
  let isFirst = true
  return walkSections(packed, {
    open() {
      const separator = isFirst ? '' : ','
      isFirst = true
      return [`${separator}{"children":[`]
    },
    close(fields, childNodeIds) {
      isFirst = false
      const rest = { ...fields, childNodeIds, sourceNodeIds: bySection.get(fields.id) ?? [], metadata: {} }
      return [`],${JSON.stringify(rest).slice(1)}`]
    },
  })
}

/** The passages of each section, in reading order. */
async function groupNodesBySection(db: Driver, versionKey: number): Promise<Map<string, string[]>> {
  const bySection = new Map<string, string[]>()
  for (let after = -1; ; ) {
    const nodes = await db.read(listSectionNodes(versionKey, after, NODES_PER_READ))
    for (const { id, outline_node: section } of nodes) {
      const ids = bySection.get(section)
      if (ids === undefined) bySection.set(section, [id])
      else ids.push(id)
    }
    after = nodes.at(-1)?.ordinal ?? after
    if (nodes.length < NODES_PER_READ) return bySection
    await turn()
  }
}

/** @param paged whether the pages of its document can be rendered */
function toItem(item: StoredItem, index: number, paged: boolean): MultimodalItem {
  const { asset, externalUri, captionElementId: _, drawn, ...rest } = item
  const stored = asset !== undefined
  const variants = listVariants(item, paged)
  const hasVariants = Object.keys(variants).length > 0
  const assetRef = {
    ...(stored ? { contentType: asset.contentType, sha256: asset.sha256 } : {}),
    ...(externalUri !== undefined ? { uri: externalUri } : {}),
    ...(drawn === true ? { contentType: 'image/png' } : {}),
    ...(hasVariants ? { variants } : {}),
  }
  return {
    id: buildItemName(item, index),
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
