import { createHash } from 'node:crypto'
import { nodeHash } from '../storage/node-hash.js'
import { pack } from '../storage/packed.js'
import type { CompiledDocument, PreparedDocument } from './compiled.js'
import { itemName, type StoredArtifact, type StoredItem } from './stored.js'

/** Serialises, packs and hashes a document: all that costs time in proportion to its size. */
export async function prepareDocument(document: CompiledDocument): Promise<PreparedDocument> {
  const { text, elements, outline, nodes, items, ...facts } = document
  const stored: StoredArtifact = { text, elements }
  const assets = items.flatMap((item, index) =>
    item.asset === undefined
      ? []
      : [{ itemId: itemName(item, index), ...item.asset, sha256: sha256Of(item.asset.bytes) }],
  )
  const hashes = new Map(assets.map(({ itemId, sha256 }) => [itemId, sha256]))
  const storedItems: StoredItem[] = items.map(({ asset, ...item }, index) =>
    asset === undefined
      ? item
      : {
          ...item,
          asset: {
            contentType: asset.contentType,
            sha256: hashes.get(itemName(item, index)) ?? '',
            size: asset.bytes.length,
          },
        },
  )
  return {
    ...facts,
    artifact: await pack(stored),
    artifactHash: createHash('sha256').update(text).update(JSON.stringify(outline)).digest('hex'),
    outline: await pack(outline),
    items: await pack(storedItems),
    assets,
    segments: elements.length,
    nodes: nodes.map(({ sectionPath, sourceElementIds, shows, ...node }) => ({
      ...node,
      ...(shows === undefined ? {} : { shows: JSON.stringify(shows) }),
      section: JSON.stringify(sectionPath),
      elements: JSON.stringify(sourceElementIds),
      hash: nodeHash(node),
    })),
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
