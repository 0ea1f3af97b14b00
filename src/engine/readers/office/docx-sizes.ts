import { isRecord } from '../../../lib/json/values.js'

/** Size of a run without an explicit size, in points: that of Word's own templates. */
const DEFAULT_SIZE = 11
/** Minimal size of a heading relative to the text. */
const MIN_HEADING_RATIO = 1.12
/** Number of distinct sizes, the largest first. */
const SIZE_COUNT = 6
const STYLE_PREFIX = 'larger text'
/** Styles without a meaning. */
const PLAIN = /^(?:normal|body text|no spacing|default|standard|text body)?$/i

/** Style map for mammoth: a paragraph that is entirely larger gets a style by its size. */
export const SIZE_STYLE_MAP = Array.from(
  { length: SIZE_COUNT },
  (_, index) => `p[style-name='${STYLE_PREFIX} ${index}'] => p.larger-${index}:fresh`,
)

/** CSS for these styles, for the HTML reader. */
export const SIZE_SHEET = `<style>${Array.from({ length: SIZE_COUNT }, (_, index) => `.larger-${index}{font-size:${2.2 - index * 0.15}em}`).join('')}</style>`

interface SizedParagraph {
  paragraph: Record<string, unknown>
  size: number
}

/**
 * Gives paragraphs larger than the text, whose style has no meaning, the name of a style for their size: mammoth's HTML
 * contains no sizes.
 *
 * @param document as mammoth reads it; changed in place
 */
export function assignSizeStyles(document: unknown): unknown {
  const paragraphs = listParagraphs(document)
  const lengths = new Map<number, number>()
  for (const { size, length } of paragraphs) lengths.set(size, (lengths.get(size) ?? 0) + length)
  const bodySize = [...lengths].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [DEFAULT_SIZE, 0])[0]
  const larger = paragraphs.filter(
    ({ size, paragraph }) => size >= bodySize * MIN_HEADING_RATIO && hasPlainStyle(paragraph),
  )
  const sizes = [...new Set(larger.map(({ size }) => size))].sort((a, b) => b - a)
  for (const { paragraph, size } of larger) {
    paragraph.styleName = `${STYLE_PREFIX} ${Math.min(SIZE_COUNT - 1, sizes.indexOf(size))}`
    paragraph.styleId = paragraph.styleName
  }
  return document
}

export function hasPlainStyle({ styleName, styleId, numbering }: Record<string, unknown>): boolean {
  const style = typeof styleName === 'string' ? styleName : typeof styleId === 'string' ? styleId : ''
  return PLAIN.test(style) && !isRecord(numbering)
}

/** The paragraphs with text, each with its smallest text size. */
export function listParagraphs(document: unknown): (SizedParagraph & { length: number })[] {
  const paragraphs: (SizedParagraph & { length: number })[] = []
  const pending: unknown[] = [document]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isRecord(node)) continue
    if (node.type === 'paragraph') {
      const { size, length } = measureText(node)
      if (length > 0) paragraphs.push({ paragraph: node, size, length })
    } else if (Array.isArray(node.children)) {
      pending.push(...node.children)
    }
  }
  return paragraphs
}

function measureText(paragraph: Record<string, unknown>): { size: number; length: number } {
  let size = Number.POSITIVE_INFINITY
  let length = 0
  const pending: { node: unknown; size: number }[] = [{ node: paragraph, size: DEFAULT_SIZE }]
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { node } = entry
    if (!isRecord(node)) continue
    const nodeSize = typeof node.fontSize === 'number' ? node.fontSize : entry.size
    if (node.type === 'text' && typeof node.value === 'string' && node.value.trim() !== '') {
      size = Math.min(size, nodeSize)
      length += node.value.length
    }
    if (Array.isArray(node.children)) for (const child of node.children) pending.push({ node: child, size: nodeSize })
  }
  return { size, length }
}
