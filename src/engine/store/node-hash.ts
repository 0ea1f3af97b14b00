import { hash } from 'node:crypto'

interface HashedNode {
  title: string
  text: string
  startOffset: number
  endOffset: number
}

/** Hash of a node's title, text and offsets; a row with another hash was damaged. */
export function hashNode(node: HashedNode): Uint8Array {
  // one call: a query checks the hashes of all passages that it ranks
  const hashedText = `${node.title}\n${node.startOffset}\n${node.endOffset}\n${node.text}`
  return hash('sha256', hashedText, 'buffer').subarray(0, 16)
}

interface StoredNode {
  title: string
  text: string
  start_offset: number
  end_offset: number
  row_hash: Uint8Array
}

/** Whether a row of `nodes` is as it was stored. */
export function matchesRowHash(row: StoredNode): boolean {
  const { title, text, start_offset: startOffset, end_offset: endOffset } = row
  return Buffer.compare(hashNode({ title, text, startOffset, endOffset }), row.row_hash) === 0
}
