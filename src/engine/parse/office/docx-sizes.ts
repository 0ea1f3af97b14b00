import { isRecord } from '../../../lib/json/values.js'

/** Size of a run without an explicit size, in points: that of Word's own templates. */
const USUAL = 11
/** Minimal size of a heading relative to the text. */
const LARGER = 1.12
/** Number of distinct sizes, the largest first. */
const SIZES = 6
const NAME = 'larger text'
/** Styles without a meaning. */
const PLAIN = /^(?:normal|body text|no spacing|default|standard|text body)?$/i

/** Style map for mammoth: a paragraph that is entirely larger gets a style by its size. */
export const SIZE_STYLE_MAP = Array.from(
  { length: SIZES },
  (_, at) => `p[style-name='${NAME} ${at}'] => p.larger-${at}:fresh`,
)

/** CSS for these styles, for the HTML reader. */
export const SIZE_SHEET = `<style>${Array.from({ length: SIZES }, (_, at) => `.larger-${at}{font-size:${2.2 - at * 0.15}em}`).join('')}</style>`

interface Sized {
  paragraph: Record<string, unknown>
  size: number
}

/**
 * Gives paragraphs larger than the text, whose style has no meaning, the name of a style for their size: mammoth's HTML
 * contains no sizes.
 *
 * @param document as mammoth reads it; changed in place
 */
export function nameSizes(document: unknown): unknown {
  const paragraphs = paragraphsOf(document)
  const letters = new Map<number, number>()
  for (const { size, length } of paragraphs) letters.set(size, (letters.get(size) ?? 0) + length)
  const body = [...letters].reduce((best, one) => (one[1] > best[1] ? one : best), [USUAL, 0])[0]
  const larger = paragraphs.filter(({ size, paragraph }) => size >= body * LARGER && isPlain(paragraph))
  const sizes = [...new Set(larger.map(({ size }) => size))].sort((a, b) => b - a)
  for (const { paragraph, size } of larger) {
    paragraph.styleName = `${NAME} ${Math.min(SIZES - 1, sizes.indexOf(size))}`
    paragraph.styleId = paragraph.styleName
  }
  return document
}

export function isPlain({ styleName, styleId, numbering }: Record<string, unknown>): boolean {
  const named = typeof styleName === 'string' ? styleName : typeof styleId === 'string' ? styleId : ''
  return PLAIN.test(named) && !isRecord(numbering)
}

/** The paragraphs with text, each with its smallest text size. */
export function paragraphsOf(document: unknown): (Sized & { length: number })[] {
  const found: (Sized & { length: number })[] = []
  const open: unknown[] = [document]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isRecord(node)) continue
    if (node.type === 'paragraph') {
      const { size, length } = textOf(node)
      if (length > 0) found.push({ paragraph: node, size, length })
    } else if (Array.isArray(node.children)) {
      open.push(...node.children)
    }
  }
  return found
}

function textOf(paragraph: Record<string, unknown>): { size: number; length: number } {
  let size = Number.POSITIVE_INFINITY
  let length = 0
  const open: { node: unknown; size: number }[] = [{ node: paragraph, size: USUAL }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node } = at
    if (!isRecord(node)) continue
    const own = typeof node.fontSize === 'number' ? node.fontSize : at.size
    if (node.type === 'text' && typeof node.value === 'string' && node.value.trim() !== '') {
      size = Math.min(size, own)
      length += node.value.length
    }
    if (Array.isArray(node.children)) for (const child of node.children) open.push({ node: child, size: own })
  }
  return { size, length }
}
