import type { PreparedAsset, PreparedDocument, PreparedNode } from '../store/compiled.js'
import type { DocumentPart } from './messages.js'

/** Maximum text of a part, in UTF-16 units: it is processed in a few milliseconds. */
const MAX_PART_CHARACTERS = 512 * 1024
const MAX_PART_NODES = 1_000
const MAX_PART_BYTES = 4 * 1024 * 1024

/** Removes parts from a document, in order, until the rest fits into one message; yields the parts. */
export function* takeParts(document: PreparedDocument): Iterable<DocumentPart> {
  for (;;) {
    const assets = takeAssets(document.assets)
    if (assets === undefined) break
    yield { nodes: [], assets }
  }
  for (;;) {
    const nodes = takeNodes(document.nodes)
    if (nodes === undefined) return
    yield { nodes, assets: [] }
  }
}

/** Removes the first assets of a list that has too many bytes. */
function takeAssets(assets: PreparedAsset[]): PreparedAsset[] | undefined {
  let bytes = 0
  const firstExcess = assets.findIndex((asset) => {
    bytes += asset.bytes.length
    return bytes > MAX_PART_BYTES
  })
  return firstExcess === -1 ? undefined : assets.splice(0, Math.max(1, firstExcess))
}

function takeNodes(nodes: PreparedNode[]): PreparedNode[] | undefined {
  let characters = 0
  const firstExcess = nodes.findIndex((node, index) => {
    characters += getNodeLength(node)
    return characters > MAX_PART_CHARACTERS || index >= MAX_PART_NODES
  })
  return firstExcess === -1 ? undefined : nodes.splice(0, Math.max(1, firstExcess))
}

/** Total text of nodes with their metadata, in UTF-16 units. */
export function countCharacters(nodes: readonly PreparedNode[]): number {
  return nodes.reduce((sum, node) => sum + getNodeLength(node), 0)
}

/** Text of one node with its metadata, in UTF-16 units. */
export function getNodeLength({ title, text, section, elements }: PreparedNode): number {
  return title.length + text.length + section.length + elements.length
}
