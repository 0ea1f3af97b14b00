import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { FOLDER_END } from '../../base/folders.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import type { Read } from '../../store/program.js'
import { isRetainedScope } from '../../store/rows/permissions.js'
import { type FileEntry, findSourceLabel } from '../rows/vfs/documents.js'
import { toDocumentItem } from './document-item.js'
import { listVisibleInSource, toSourceKey } from './documents.js'
import { computeUniqueName } from './names.js'
import type { VfsView } from './view.js'

/** The folder of documents without a source. */
export const UPLOADS_FOLDER = 'uploads'

/** The folder of a source; null for documents without one. */
export function getSourceFolderName(source: string | null): string {
  return source ?? UPLOADS_FOLDER
}

export function makeFolderItem(source: string | null, folder: string): VirtualItem {
  const segments = [getSourceFolderName(source), ...folder.split(FOLDER_END).slice(0, -1)]
  return {
    kind: 'directory',
    name: segments[segments.length - 1] ?? '',
    path: joinVirtualPath('sources', segments),
    metadata: {},
    resourceType: 'source',
    ...(source === null || isRetainedScope(source) ? {} : { targetId: source }),
  }
}

/** The folder of a source, with metadata about the source. */
export function* makeSourceItem(view: VfsView, source: string | null): Read<VirtualItem> {
  const item = makeFolderItem(source, '')
  return source === null ? item : { ...item, metadata: { ...(yield* findSourceLabel(view, source)) } }
}

/**
 * A document as a file of its folder.
 *
 * @param before the visible document just before it in its folder, if known: avoids a search for documents of the same
 * name
 */
export async function makeFileItem(view: VfsView, row: FileEntry, before?: FileEntry): Promise<VirtualItem> {
  const taken = row.name_taken === 1
  const alone = before !== undefined && (before.folder !== row.folder || before.base !== row.base)
  const name = alone && !taken ? row.base : await computeUniqueName(row, taken, listNamesakesBefore(view, row))
  const path = `${makeFolderItem(row.source_id, row.folder).path}/${name}`
  return toDocumentItem(row, { kind: 'resource', name, path })
}

function listNamesakesBefore(view: VfsView, row: FileEntry): AsyncIterable<FileEntry> {
  return listVisibleInSource(view, row.source_id, {
    after: [row.folder, row.base, ''],
    before: toSourceKey(row, ''),
    backwards: true,
  })
}
