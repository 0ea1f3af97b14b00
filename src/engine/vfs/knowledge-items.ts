import type { VirtualItem } from '../../contract/gateway/fs.js'
import { type Branch, isLeaf, type Leaf } from './document-tree.js'
import { joinPath } from './paths.js'
import type { DocumentEntry } from './store.js'

/** The folder of documents under `/knowledge`. */
export const DOCUMENTS = 'documents'

export function documentsItem(): VirtualItem {
  return { kind: 'directory', name: DOCUMENTS, path: joinPath('knowledge', [DOCUMENTS]), metadata: {} }
}

export function entryItem(row: DocumentEntry, documentPath: string, entry: Branch | Leaf): VirtualItem {
  const at = { name: entry.name, path: [documentPath, ...entry.path].join('/') }
  if (!isLeaf(entry)) {
    const { section } = entry
    return { kind: 'directory', ...at, metadata: { documentId: row.id, ...sectionMetadata(section) } }
  }
  const { node } = entry
  const sectionPath: unknown = JSON.parse(node.section)
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
      ...(node.page === null ? {} : { pageNumber: node.page }),
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
