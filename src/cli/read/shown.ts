import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../lib/defined.js'
import type { PictureView, Shown } from '../document/forms.js'
import type { FileRead } from './reader.js'

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/tiff': 'tiff',
  'image/bmp': 'bmp',
  'image/svg+xml': 'svg',
  'image/heic': 'heic',
  'image/x-emf': 'emf',
  'image/wmf': 'wmf',
}

/**
 * Converts the content of a file to the input of the document forms.
 *
 * @param folder where pictures are written, and its name in the document; absent: pictures are listed, not written
 */
export function shownOf(file: FileRead, folder?: { path: string; name: string }): Shown {
  const places = new Map<string, string>()
  const pictures: PictureView[] = []
  for (const item of file.items) {
    if (item.modality !== 'image') continue
    const name = `${item.id}.${ENDINGS[item.asset?.contentType ?? ''] ?? 'bin'}`
    const place = folder === undefined ? name : `${folder.name}/${name}`
    const bytes = file.pictures.get(item.id)
    if (bytes !== undefined && folder !== undefined) write(folder.path, name, bytes)
    if (bytes !== undefined) places.set(item.parseElementId, place)
    else if (item.externalUri !== undefined) places.set(item.parseElementId, item.externalUri)
    pictures.push({
      id: item.id,
      ...defined({
        pageNumber: item.pageNumber,
        section: item.sectionPath.at(-1),
        caption: item.caption,
        contentType: item.asset?.contentType,
        sizeBytes: item.asset?.size,
        text: item.textPreview,
        externalUri: item.externalUri,
        file: bytes === undefined || folder === undefined ? undefined : place,
      }),
    })
  }
  return { elements: file.elements, outline: file.outline, pictures, places }
}

/** Replaces an existing file by a new one; does not follow a link. */
function write(folder: string, name: string, bytes: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  rmSync(path, { force: true })
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 })
}
