import type { VirtualItem } from '../../contract/gateway/fs.js'
import { defined } from '../../lib/defined.js'
import { joinPath } from '../base/virtual-paths.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { fromCell } from '../storage/readable.js'
import { documentItem } from './document-item.js'
import { type Branch, isLeaf, type Leaf } from './document-tree.js'
import { documentsByName, nameKey } from './documents.js'
import { nameAmong } from './names.js'
import type { View } from './view.js'

/** The folder of documents under `/knowledge`. */
export const DOCUMENTS = 'documents'

export function documentsItem(): VirtualItem {
  return { kind: 'directory', name: DOCUMENTS, path: joinPath('knowledge', [DOCUMENTS]), metadata: {} }
}

/**
 * A document as its folder under `/knowledge/documents`.
 *
 * @param before the visible document just before it by name, if known: avoids a search for documents of the same name
 */
export async function documentFolder(view: View, row: DocumentEntry, before?: DocumentEntry): Promise<VirtualItem> {
  const name =
    before !== undefined && before.base !== row.base
      ? row.base
      : await nameAmong(
          row,
          false,
          documentsByName(view, { after: [row.base, ''], before: nameKey(row, ''), backwards: true }),
        )
  return documentItem(row, { kind: 'directory', name, path: joinPath('knowledge', [DOCUMENTS, name]) })
}

export function entryItem(row: DocumentEntry, documentPath: string, entry: Branch | Leaf): VirtualItem {
  const at = { name: entry.name, path: [documentPath, ...entry.path].join('/') }
  if (!isLeaf(entry)) {
    const { section } = entry
    return { kind: 'directory', ...at, metadata: { documentId: row.id, ...sectionMetadata(section) } }
  }
  const { node } = entry
  const sectionPath: unknown = fromCell(node.section)
  return {
    kind: 'resource',
    ...at,
    metadata: {
      documentId: row.id,
      title: node.title,
      sectionPath,
      kind: node.kind,
      ordinal: node.ordinal,
      startOffset: node.start_offset,
      endOffset: node.end_offset,
      ...defined({ pageNumber: node.page ?? undefined }),
    },
    resourceType: 'node',
    targetId: node.id,
    version: row.version,
  }
}

function sectionMetadata(section: Branch['section']): Record<string, unknown> {
  if (section === undefined) return {}
  const { title, level, id, startOffset, endOffset, startPage, endPage } = section
  const known = Object.entries({ startOffset, endOffset, startPage, endPage }).filter(
    ([, value]) => value !== undefined,
  )
  return { title, level, outlineNodeId: id, ...Object.fromEntries(known) }
}

export function* everythingIn(branch: Branch): Generator<Branch | Leaf> {
  for (const child of branch.branches) {
    yield child
    yield* everythingIn(child)
  }
  yield* branch.leaves
}

export function* leavesIn(branch: Branch): Generator<number> {
  for (const entry of everythingIn(branch)) if (isLeaf(entry)) yield entry.node.ordinal
}
