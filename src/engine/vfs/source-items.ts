import type { VirtualItem } from '../../contract/gateway/fs.js'
import { FOLDER_END } from '../base/folders.js'
import { joinPath } from '../base/virtual-paths.js'
import { isKept } from '../rows/permissions.js'
import { aboutSource, type FileEntry } from '../rows/vfs/documents.js'
import type { Read } from '../storage/program.js'
import { documentItem } from './document-item.js'
import { documentsInSource, sourceKey } from './documents.js'
import { nameAmong } from './names.js'
import type { View } from './view.js'

/** The folder of documents without a source. */
export const UPLOADS = 'uploads'

/** The folder of a source; null for documents without one. */
export function nameOf(source: string | null): string {
  return source ?? UPLOADS
}

export function folderItem(source: string | null, folder: string): VirtualItem {
  const segments = [nameOf(source), ...folder.split(FOLDER_END).slice(0, -1)]
  return {
    kind: 'directory',
    name: segments[segments.length - 1] ?? '',
    path: joinPath('sources', segments),
    metadata: {},
    resourceType: 'source',
    ...(source === null || isKept(source) ? {} : { targetId: source }),
  }
}

/** The folder of a source, with metadata about the source. */
export function* sourceItem(view: View, source: string | null): Read<VirtualItem> {
  const item = folderItem(source, '')
  return source === null ? item : { ...item, metadata: { ...(yield* aboutSource(view, source)) } }
}

/**
 * A document as a file of its folder.
 *
 * @param before the visible document just before it in its folder, if known: avoids a search for documents of the same
 * name
 */
export async function fileItem(view: View, row: FileEntry, before?: FileEntry): Promise<VirtualItem> {
  const taken = row.name_taken === 1
  const alone = before !== undefined && (before.folder !== row.folder || before.base !== row.base)
  const name = alone && !taken ? row.base : await nameAmong(row, taken, namesakesBefore(view, row))
  const path = `${folderItem(row.source_id, row.folder).path}/${name}`
  return documentItem(row, { kind: 'resource', name, path })
}

function namesakesBefore(view: View, row: FileEntry): AsyncIterable<FileEntry> {
  return documentsInSource(view, row.source_id, {
    after: [row.folder, row.base, ''],
    before: sourceKey(row, ''),
    backwards: true,
  })
}
