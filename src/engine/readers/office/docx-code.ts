import { isRecord } from '../../../lib/json/values.js'
import { hasPlainStyle, listParagraphs } from './docx-sizes.js'

const CODE_STYLE = 'text set as code'
const MONOSPACED = /mono|courier|consol|menlo|lucida console|fixed|source code|fira code|typewriter/i
/** A document with a larger fraction of fixed-width letters was typewritten: in it, the font does not mark code. */
const MAX_MONO_FRACTION = 0.5
/** Fewer paragraphs in a row are a name or a command in the text. */
const MIN_LINES = 2

/** Style map for mammoth: the styles that word processors and converters use for code, and ours. */
export const CODE_STYLE_MAP = [
  CODE_STYLE,
  'HTML Preformatted',
  'Preformatted Text',
  'Source Code',
  'SourceCode',
  'Code',
  'Code Block',
  'CodeBlock',
  'Code Listing',
  'Listing',
  'Program Listing',
  'Verbatim',
].map((name) => `p[style-name='${name}'] => pre:separator('\\n')`)

/**
 * Gives paragraphs in a fixed-width font, whose style has no meaning, the name of a code style: mammoth's HTML contains
 * no fonts.
 *
 * @param document as mammoth reads it; changed in place
 */
export function assignCodeStyles(document: unknown): unknown {
  const paragraphs = listParagraphs(document)
  const mono = paragraphs.map(({ paragraph }) => hasPlainStyle(paragraph) && isMonospaced(paragraph))
  let totalLength = 0
  let monoLength = 0
  for (const [index, { length }] of paragraphs.entries()) {
    totalLength += length
    if (mono[index] === true) monoLength += length
  }
  if (monoLength === 0 || monoLength > totalLength * MAX_MONO_FRACTION) return document
  // paragraphs are in reverse order
  let start = 0
  for (let index = 0; index <= paragraphs.length; index++) {
    if (mono[index] === true) continue
    if (index - start >= MIN_LINES)
      for (const { paragraph } of paragraphs.slice(start, index))
        Object.assign(paragraph, { styleName: CODE_STYLE, styleId: CODE_STYLE })
    start = index + 1
  }
  return document
}

function isMonospaced(paragraph: Record<string, unknown>): boolean {
  const pending: { node: unknown; font: unknown }[] = [{ node: paragraph, font: undefined }]
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { node } = entry
    if (!isRecord(node)) continue
    const font = node.type === 'run' ? node.font : entry.font
    const isText = node.type === 'text' && typeof node.value === 'string' && node.value.trim() !== ''
    if (isText && !(typeof font === 'string' && MONOSPACED.test(font))) return false
    if (Array.isArray(node.children)) for (const child of node.children) pending.push({ node: child, font })
  }
  return true
}
