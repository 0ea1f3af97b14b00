import { getResolvedPDFJS } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'
import { toCommentBlock } from '../office/comments.js'
import type { Block } from '../parsed.js'
import type { PageAnnotations, Remark } from './pdf-annotations.js'
import type { PdfBlock } from './pdf-blocks.js'
import { splitRows } from './pdf-fields.js'

/** A remark that marks fewer words may repeat them by chance. */
const MIN_REPEATED_WORDS = 3
/** Text size of a remark, in points. */
const REMARK_SIZE = 10
/** A number between glyphs below this, in thousandths of the text size, is a space. */
const SPACE_ADVANCE = -200

/**
 * The remarks of a page to be added to its text. Some programs copy the words that a remark marks into it; such a copy
 * is left out.
 *
 * @param raw text of the page @param operators reads its drawing operators
 */
export async function collectRemarks(
  { remarks, drawn }: PageAnnotations,
  raw: string,
  operators: () => Promise<{ fnArray: unknown[]; argsArray: unknown[] }>,
): Promise<Remark[]> {
  const text = raw.replace(/\s+/g, '')
  const isCopy = ({ text: words, kind }: Remark): boolean =>
    kind === 'markup' && words.split(/\s+/).length >= MIN_REPEATED_WORDS && text.includes(words.replace(/\s+/g, ''))
  return [
    ...remarks.filter((remark) => !isCopy(remark)),
    ...(drawn.size === 0 ? [] : await readDrawn(drawn, operators)),
  ]
}

/** The remarks whose words are only drawn, as those of stamps are. */
async function readDrawn(
  drawn: ReadonlyMap<string, Remark>,
  operators: () => Promise<{ fnArray: unknown[]; argsArray: unknown[] }>,
): Promise<Remark[]> {
  const { OPS } = await getResolvedPDFJS()
  const { fnArray, argsArray } = await operators()
  const lineStarts = new Set<unknown>([OPS.moveText, OPS.nextLine, OPS.setTextMatrix, OPS.beginText])
  const texts = new Map<string, string>()
  let id: string | undefined
  for (const [index, fn] of fnArray.entries()) {
    const args: unknown = argsArray[index]
    if (fn === OPS.beginAnnotation) id = Array.isArray(args) && drawn.has(String(args[0])) ? String(args[0]) : undefined
    else if (fn === OPS.endAnnotation) id = undefined
    else if (id !== undefined && lineStarts.has(fn)) texts.set(id, `${texts.get(id) ?? ''} `)
    else if (id !== undefined && fn === OPS.showText && Array.isArray(args))
      texts.set(id, (texts.get(id) ?? '') + toGlyphText(args[0]))
  }
  return [...drawn].flatMap(([key, remark]) => {
    const text = (texts.get(key) ?? '').replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [{ ...remark, text }]
  })
}

function toGlyphText(glyphs: unknown): string {
  if (!Array.isArray(glyphs)) return ''
  return glyphs
    .map((glyph: unknown) => {
      if (typeof glyph === 'number') return glyph < SPACE_ADVANCE ? ' ' : ''
      return isRecord(glyph) && typeof glyph.unicode === 'string' ? glyph.unicode : ''
    })
    .join('')
}

/** Inserts the remarks of a page into its blocks, each after the text at its height. */
export function insertRemarks(blocks: readonly PdfBlock[], remarks: readonly Remark[], pageNumber: number): PdfBlock[] {
  const added = new Map<number, PdfBlock[]>()
  for (const { author, text, rect, kind } of remarks) {
    const index = findBlockAt(blocks, rect)
    const words = splitRows(text).join('\n')
    const block: Block = kind === 'field' ? { type: 'paragraph', text: words } : toCommentBlock({ author, text: words })
    const list = added.get(index) ?? []
    added.set(index, list)
    list.push({ ...block, pageNumber, size: REMARK_SIZE, y: rect.bottom, lineCount: 1, turned: false })
  }
  if (added.size === 0) return [...blocks]
  return [undefined, ...blocks].flatMap((block, index) => [
    ...(block === undefined ? [] : [block]),
    ...(added.get(index - 1) ?? []),
  ])
}

/** Index of the last block that starts at the height of an area or above it, and not right of it; -1 when none does. */
function findBlockAt(blocks: readonly PdfBlock[], { left, right, bottom }: Remark['rect']): number {
  let best = -1
  let minDistance = Number.POSITIVE_INFINITY
  for (const [index, block] of blocks.entries()) {
    if (block.y < bottom || (block.left ?? left) > right) continue
    const distance = block.y - bottom
    if (distance > minDistance) continue
    minDistance = distance
    best = index
  }
  return best === -1 && blocks.length > 0 ? 0 : best
}
