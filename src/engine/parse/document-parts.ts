import type { PreparedAsset, PreparedDocument, PreparedNode } from './compiled.js'
import type { DocumentPart } from './messages.js'

/** Maximum text of a part, in UTF-16 units: it is processed in a few milliseconds. */
const PART_CHARACTERS = 512 * 1024
const PART_NODES = 1_000
const PART_BYTES = 4 * 1024 * 1024

/** Removes parts from a document, in order, until the rest fits into one message; yields the parts. */
export function* partsOf(document: PreparedDocument): Iterable<DocumentPart> {
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
  const over = assets.findIndex((asset) => {
    bytes += asset.bytes.length
    return bytes > PART_BYTES
  })
  return over === -1 ? undefined : assets.splice(0, Math.max(1, over))
}

function takeNodes(nodes: PreparedNode[]): PreparedNode[] | undefined {
  let characters = 0
  const over = nodes.findIndex((node, place) => {
    characters += lengthOf(node)
    return characters > PART_CHARACTERS || place >= PART_NODES
  })
  return over === -1 ? undefined : nodes.splice(0, Math.max(1, over))
}

/** Total text of nodes with their metadata, in UTF-16 units. */
export function charactersOf(nodes: readonly PreparedNode[]): number {
  return nodes.reduce((sum, node) => sum + lengthOf(node), 0)
}

/** Text of one node with its metadata, in UTF-16 units. */
export function lengthOf({ title, text, section, elements }: PreparedNode): number {
  return title.length + text.length + section.length + elements.length
}
