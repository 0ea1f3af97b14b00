import type { Read } from '../../../store/program.js'
import { parseJsonCell, unlessDamaged } from '../../../store/readable.js'
import { listNodeRowsAfter } from '../../../store/rows/derivations.js'
import type { IndexableNode } from './build.js'

/** A node as the input of page index and graph. */
export interface OrderedNode extends IndexableNode {
  ordinal: number
  title: string
}

/**
 * The next nodes of a version in reading order.
 *
 * @param after ordinal of the last node; -1 at the beginning
 */
export function* listNodesAfter(versionKey: number, after: number, limit: number): Read<OrderedNode[]> {
  return (yield* listNodeRowsAfter(versionKey, after, limit)).map((row) => ({
    key: row.key,
    ordinal: row.ordinal,
    title: row.title,
    text: row.text,
    outlineNode: row.outlineNode,
    page: row.page,
    section: unlessDamaged(() => parseJsonCell<string[]>(row.section)) ?? [],
  }))
}
