import { MAX_PICTURE_BYTES } from './limits.js'
import type { Block, Picture } from './parsed.js'

/** Maximum length of an address that is kept as data; nothing is ever fetched from it. */
const MAX_URI_LENGTH = 2048

/**
 * Parses an image's `src`: bytes for a `data:` address, the address itself for anything else; `undefined` for empty,
 * over-long or damaged ones.
 */
export function parsePictureSource(source: string): Picture | undefined {
  const uri = source.trim()
  if (!/^data:/i.test(uri)) return uri === '' || uri.length > MAX_URI_LENGTH ? undefined : { uri }
  const comma = uri.indexOf(',')
  const head = /^data:(image\/[\w.+-]{1,60})[^,]*;base64$/i.exec(uri.slice(0, Math.min(Math.max(comma, 0), 300)))
  const contentType = head?.[1]?.toLowerCase()
  if (contentType === undefined || (uri.length - comma) * 0.75 > MAX_PICTURE_BYTES) return undefined
  const bytes = Buffer.from(uri.slice(comma + 1), 'base64')
  return bytes.length === 0 ? undefined : { bytes: new Uint8Array(bytes) }
}

/** Whether a document has text, or a picture that may hold some. */
export function hasContent(blocks: readonly Block[]): boolean {
  return blocks.some(({ text, silent, picture }) => (text !== '' && silent !== true) || picture !== undefined)
}
