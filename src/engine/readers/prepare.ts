import { createHash } from 'node:crypto'
import type { CompiledDocument, CompiledElement, PreparedDocument } from '../store/compiled.js'
import { hashNode } from '../store/node-hash.js'
import { packText, VALUE_LIMITS } from '../store/packed.js'
import { formatByteCount, ReadError } from './limits.js'
import { hashPicture } from './picture/key.js'
import { buildItemName, STORED_LIMITS, type StoredArtifact, type StoredItem, type StoredPart } from './stored-parts.js'

/**
 * Serializes, packs and hashes a document: all the work that takes time in proportion to its size.
 *
 * @throws ReadError `limit-exceeded` for a part above the limit of what is stored of a document
 */
export async function prepareDocument(document: CompiledDocument): Promise<PreparedDocument> {
  const { text, elements, outline, nodes, items, ...facts } = document
  const stored: StoredArtifact = { text, elements }
  for (const element of elements) assertElementSize(element)
  const assets = items.flatMap((item, index) =>
    item.asset === undefined
      ? []
      : [{ itemId: buildItemName(item, index), ...item.asset, sha256: hashPicture(item.asset.bytes) }],
  )
  const hashes = new Map(assets.map(({ itemId, sha256 }) => [itemId, sha256]))
  const storedItems: StoredItem[] = items.map(({ asset, ...item }, index) =>
    asset === undefined
      ? item
      : {
          ...item,
          asset: {
            contentType: asset.contentType,
            sha256: hashes.get(buildItemName(item, index)) ?? '',
            size: asset.bytes.length,
          },
        },
  )
  return {
    ...facts,
    artifact: await packPart('artifact', stored),
    artifactHash: createHash('sha256').update(text).update(JSON.stringify(outline)).digest('hex'),
    outline: await packPart('outline', outline),
    items: await packPart('items', storedItems),
    assets,
    segments: elements.length,
    nodes: nodes.map(({ sectionPath, sourceElementIds, shows, ...node }) => ({
      ...node,
      ...(shows === undefined ? {} : { shows: JSON.stringify(shows) }),
      section: JSON.stringify(sectionPath),
      elements: JSON.stringify(sourceElementIds),
      hash: hashNode(node),
    })),
  }
}

async function packPart(part: StoredPart, value: object): Promise<Uint8Array> {
  const text = Buffer.from(toJson(part, value))
  if (text.length > STORED_LIMITS[part]) throw createTooLargeError(part)
  return packText(text)
}

function toJson(part: StoredPart, value: object): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw error instanceof RangeError ? createTooLargeError(part) : error
  }
}

const PART_LABELS = {
  artifact: 'text and elements',
  outline: 'sections',
  items: 'tables, pictures, code blocks and pages',
} as const

function createTooLargeError(part: StoredPart): ReadError {
  return new ReadError(
    'limit-exceeded',
    `the ${PART_LABELS[part]} of the document exceed the limit of ${formatByteCount(STORED_LIMITS[part])} as JSON`,
  )
}

/** Maximum of UTF-8 bytes for one UTF-16 unit in JSON, where it is escaped. */
const MAX_BYTES_PER_UNIT = 6

/** An element is later read as one value, whose size is limited. */
function assertElementSize(element: CompiledElement): void {
  const { valueBytes } = VALUE_LIMITS
  if ((element.text?.length ?? 0) * MAX_BYTES_PER_UNIT < valueBytes) return
  if (Buffer.byteLength(JSON.stringify(element)) > valueBytes)
    throw new ReadError(
      'limit-exceeded',
      `a ${element.type} of the document exceeds the limit of ${formatByteCount(valueBytes)} as JSON`,
    )
}
