import { createHash } from 'node:crypto'

interface HashedNode {
  title: string
  text: string
  startOffset: number
  endOffset: number
}

/** Hash of what a node says and where it stands; a row whose hash does not match was damaged. */
export function nodeHash(node: HashedNode): Uint8Array {
  return createHash('sha256')
    .update(`${node.title}\n${node.startOffset}\n${node.endOffset}\n`)
    .update(node.text)
    .digest()
    .subarray(0, 16)
}

interface StoredNode {
  title: string
  text: string
  start_offset: number
  end_offset: number
  row_hash: Uint8Array
}

/** Whether a row of `nodes` says what was stored. */
export function saysWhatWasStored(row: StoredNode): boolean {
  const { title, text, start_offset: startOffset, end_offset: endOffset } = row
  return Buffer.compare(nodeHash({ title, text, startOffset, endOffset }), row.row_hash) === 0
}
