import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import { parseJsonCell } from '../../store/readable.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { toDocumentItem } from './document-item.js'
import { isPassageFile, type PassageFile, type SectionFolder } from './document-tree.js'
import { listVisibleByName, toNameKey } from './documents.js'
import { computeUniqueName } from './names.js'
import type { VfsView } from './view.js'

/** The folder of documents under `/knowledge`. */
export const DOCUMENTS_FOLDER = 'documents'

export function makeDocumentsItem(): VirtualItem {
  return {
    kind: 'directory',
    name: DOCUMENTS_FOLDER,
    path: joinVirtualPath('knowledge', [DOCUMENTS_FOLDER]),
    metadata: {},
  }
}

/**
 * A document as its folder under `/knowledge/documents`.
 *
 * @param before the visible document just before it by name, if known: avoids a search for documents of the same name
 */
export async function makeDocumentFolder(
  view: VfsView,
  row: DocumentEntry,
  before?: DocumentEntry,
): Promise<VirtualItem> {
  const name =
    before !== undefined && before.base !== row.base
      ? row.base
      : await computeUniqueName(
          row,
          false,
          listVisibleByName(view, { after: [row.base, ''], before: toNameKey(row, ''), backwards: true }),
        )
  return toDocumentItem(row, { kind: 'directory', name, path: joinVirtualPath('knowledge', [DOCUMENTS_FOLDER, name]) })
}

export function toEntryItem(row: DocumentEntry, documentPath: string, entry: SectionFolder | PassageFile): VirtualItem {
  const base = { name: entry.name, path: [documentPath, ...entry.path].join('/') }
  if (!isPassageFile(entry)) {
    const { section } = entry
    return { kind: 'directory', ...base, metadata: { documentId: row.id, ...buildSectionMetadata(section) } }
  }
  const { node } = entry
  const sectionPath: unknown = parseJsonCell(node.section)
  return {
    kind: 'resource',
    ...base,
    metadata: {
      documentId: row.id,
      title: node.title,
      sectionPath,
      kind: node.kind,
      ordinal: node.ordinal,
      startOffset: node.start_offset,
      endOffset: node.end_offset,
      ...omitUndefined({ pageNumber: node.page ?? undefined }),
    },
    resourceType: 'node',
    targetId: node.id,
    version: row.version,
  }
}

function buildSectionMetadata(section: SectionFolder['section']): Record<string, unknown> {
  if (section === undefined) return {}
  const { title, level, id, startOffset, endOffset, startPage, endPage } = section
  const known = Object.entries({ startOffset, endOffset, startPage, endPage }).filter(
    ([, value]) => value !== undefined,
  )
  return { title, level, outlineNodeId: id, ...Object.fromEntries(known) }
}

export function* listDescendants(branch: SectionFolder): Generator<SectionFolder | PassageFile> {
  for (const child of branch.branches) {
    yield child
    yield* listDescendants(child)
  }
  yield* branch.leaves
}

export function* listOrdinals(branch: SectionFolder): Generator<number> {
  for (const entry of listDescendants(branch)) if (isPassageFile(entry)) yield entry.node.ordinal
}
