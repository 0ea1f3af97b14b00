import { isRecord } from '../../../lib/json/values.js'
import { isPlain, paragraphsOf } from './docx-sizes.js'

const NAME = 'text set as code'
const MONOSPACED = /mono|courier|consol|menlo|lucida console|fixed|source code|fira code|typewriter/i
/** A document with a larger fraction of fixed-width letters was typewritten: in it, the font does not mark code. */
const MOST = 0.5
/** Fewer paragraphs in a row are a name or a command in the text. */
const LEAST_LINES = 2

/** Style map for mammoth: the styles that word processors and converters use for code, and ours. */
export const CODE_STYLE_MAP = [
  NAME,
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
export function nameCode(document: unknown): unknown {
  const paragraphs = paragraphsOf(document)
  const mono = paragraphs.map(({ paragraph }) => isPlain(paragraph) && isMonospaced(paragraph))
  let all = 0
  let inMono = 0
  for (const [at, { length }] of paragraphs.entries()) {
    all += length
    if (mono[at] === true) inMono += length
  }
  if (inMono === 0 || inMono > all * MOST) return document
  // paragraphs are in reverse order
  let from = 0
  for (let at = 0; at <= paragraphs.length; at++) {
    if (mono[at] === true) continue
    if (at - from >= LEAST_LINES)
      for (const { paragraph } of paragraphs.slice(from, at))
        Object.assign(paragraph, { styleName: NAME, styleId: NAME })
    from = at + 1
  }
  return document
}

function isMonospaced(paragraph: Record<string, unknown>): boolean {
  const open: { node: unknown; font: unknown }[] = [{ node: paragraph, font: undefined }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node } = at
    if (!isRecord(node)) continue
    const font = node.type === 'run' ? node.font : at.font
    const isText = node.type === 'text' && typeof node.value === 'string' && node.value.trim() !== ''
    if (isText && !(typeof font === 'string' && MONOSPACED.test(font))) return false
    if (Array.isArray(node.children)) for (const child of node.children) open.push({ node: child, font })
  }
  return true
}
