import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { DocumentContent } from '../document/forms.js'
import type { PictureView } from '../json-output/documents.js'
import type { FileContent } from './reader.js'

const EXTENSIONS_BY_TYPE: Readonly<Record<string, string>> = {
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
export function toDocumentContent(file: FileContent, folder?: { path: string; name: string }): DocumentContent {
  const pictureLocations = new Map<string, string>()
  const pictures: PictureView[] = []
  for (const item of file.items) {
    if (item.modality !== 'image') continue
    const name = `${item.id}.${EXTENSIONS_BY_TYPE[item.asset?.contentType ?? ''] ?? 'bin'}`
    const location = folder === undefined ? name : `${folder.name}/${name}`
    const bytes = file.pictures.get(item.id)
    if (bytes !== undefined && folder !== undefined) writePicture(folder.path, name, bytes)
    if (bytes !== undefined) pictureLocations.set(item.parseElementId, location)
    else if (item.externalUri !== undefined) pictureLocations.set(item.parseElementId, item.externalUri)
    pictures.push({
      id: item.id,
      ...omitUndefined({
        pageNumber: item.pageNumber,
        section: item.sectionPath.at(-1),
        caption: item.caption,
        contentType: item.asset?.contentType,
        sizeBytes: item.asset?.size,
        text: item.textPreview,
        externalUri: item.externalUri,
        file: bytes === undefined || folder === undefined ? undefined : location,
      }),
    })
  }
  return { elements: file.elements, outline: file.outline, pictures, pictureLocations }
}

/** Replaces an existing file by a new one; does not follow a link. */
function writePicture(folder: string, name: string, bytes: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  rmSync(path, { force: true })
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 })
}
