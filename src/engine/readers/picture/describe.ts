import type { PictureDescriptions } from '../../store/compiled.js'
import type { ParsedDocument, Picture } from '../parsed.js'
import { hashDrawnPicture, hashPicture } from './key.js'

/** Maximal length of a model's description of a picture, in characters. */
export const MAX_DESCRIPTION_LENGTH = 4000

/**
 * Appends a vision model's descriptions to the texts of the pictures, so that search finds their passages.
 *
 * @param file bytes of the complete document
 */
export function describePictures(
  parsed: ParsedDocument,
  { model, texts: descriptions }: PictureDescriptions,
  file: Uint8Array,
): void {
  let fileHash: string | undefined
  const keyOf = (picture: Picture): string | undefined => {
    if ('bytes' in picture) return hashPicture(picture.bytes)
    if (!('drawn' in picture)) return undefined
    fileHash ??= hashPicture(file)
    return hashDrawnPicture(fileHash, picture.page, picture.drawn)
  }
  for (const block of parsed.blocks) {
    const key = block.picture === undefined ? undefined : keyOf(block.picture)
    const modelText = key !== undefined && Object.hasOwn(descriptions, key) ? descriptions[key] : undefined
    if (modelText === undefined || modelText === '') continue
    const description = modelText.slice(0, MAX_DESCRIPTION_LENGTH)
    block.metadata = { alt: block.text, ...block.metadata, description, describedBy: model }
    block.text = [block.text, description].filter((text) => text.trim() !== '').join('\n')
  }
}
