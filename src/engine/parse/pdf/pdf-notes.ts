import type { PdfBlock, PdfPage } from './pdf-blocks.js'
import type { Mark, PdfLine } from './pdf-lines.js'

/** Signs may be as large as their text, and directly after a word. */
const SIGN = /(?<=[\p{L}\p{N}.,;)\]’”"])[*∗†‡§¶‖]{1,3}(?=[\s.,;)]|$)/gu
/** The start of a note whose mark is not raised. */
const BEGINS = /^(\d{1,3}|[*∗†‡§¶‖]{1,3})[.)]?\s{0,3}(?=[\p{L}“"‘(])/u
/** Maximal size of a note, as a fraction of the text size of its page. */
const SMALL = 0.94
/** Maximal size of a note, as a fraction of the size of the text that refers to it. */
const SMALLER = 0.97
/** Notes as large as their text are at least this far below it, in text sizes. */
const GAP = 1.6
/** Maximal distance between lines of notes, in text sizes. */
const STEP = 2.4
/** Maximal number of lines at the foot; a longer sequence of small type is not notes. */
const MAX_FOOT = 80
/** Maximal length of a page number. */
const MAX_DIGITS = 6
/** An operator within this many characters makes a letter a variable. */
const NEAR_OPERATOR = 6
/** Maximal shift of a mark by the brackets of earlier marks on its line. */
const MAX_MOVED = 20

/**
 * Finds the notes at the foot of each page: small type at the end of a column, each starting with a mark that occurs in
 * the text above. Puts the mark in the text, and the one at the start of the note, in brackets.
 */
export function findNotes(pages: readonly PdfPage[]): void {
  for (const page of pages) {
    const body = usualSize(page.lines)
    const marks = marksOf(page.lines)
    if (marks.size === 0) continue
    let open: string | undefined
    let last: PdfLine | undefined
    for (const line of footsOf(page.lines, body)) {
      const begun = beginningOf(line)
      const place = begun === undefined ? undefined : marks.get(begun.label)
      if (begun !== undefined && place !== undefined && refersTo(place.line, line)) {
        open = begun.label
        line.note = { label: open, begins: true }
        line.text = `[${open}] ${line.text.slice(begun.length).trimStart()}`
        tell(place.line, place.mark)
        marks.delete(open)
      } else if (open !== undefined && last !== undefined && goesOn(line, last))
        line.note = { label: open, begins: false }
      else open = undefined
      last = line
    }
  }
}

/** Whether text refers to a note below it: the note is smaller or starts with a raised mark. */
function refersTo(text: PdfLine, note: PdfLine): boolean {
  return text !== note && (note.begins !== undefined || text.size * SMALLER > note.size)
}

/** Moves the notes of a page to after the blocks that refer to them. */
export function placeNotes(blocks: readonly PdfBlock[]): PdfBlock[] {
  const notes = new Map(blocks.flatMap((block) => (block.note === undefined ? [] : [[block.note, block] as const])))
  if (notes.size === 0) return [...blocks]
  const referred = new Set(blocks.flatMap((block) => block.refers ?? []))
  return blocks.flatMap((block) => {
    if (block.note !== undefined && referred.has(block.note)) return []
    // the block that refers to a note determines its position
    const own = (block.refers ?? []).flatMap((label) => notes.get(label) ?? [])
    return [block, ...own.map((note) => ({ ...note, y: block.y }))]
  })
}

/** The size of most letters of the text on a page. */
function usualSize(lines: readonly PdfLine[]): number {
  const counts = new Map<number, number>()
  let best = 0
  for (const { size, text, table } of lines) {
    if (table !== undefined) continue
    const rounded = Math.round(size * 2) / 2
    counts.set(rounded, (counts.get(rounded) ?? 0) + text.length)
    if ((counts.get(rounded) ?? 0) > (counts.get(best) ?? 0)) best = rounded
  }
  return best
}

/** The first occurrence of each mark. */
function marksOf(lines: readonly PdfLine[]): Map<string, { line: PdfLine; mark: Mark }> {
  const first = new Map<string, { line: PdfLine; mark: Mark }>()
  for (const line of lines) {
    if (line.table !== undefined || line.code === true) continue
    const signs = /[*∗†‡§¶‖]/u.test(line.text)
      ? Array.from(line.text.matchAll(SIGN), ({ 0: label, index: at }) => ({ label, at }))
      : []
    for (const mark of [...(line.marks ?? []), ...signs])
      if (!first.has(mark.label) && mark.at > 0 && !isExponent(line.text, mark)) first.set(mark.label, { line, mark })
  }
  return first
}

/**
 * Whether a number follows a variable or a unit, as in `x²` or `3 km²`; after a capital as in `Plan B` only next to an
 * operator.
 */
function isExponent(text: string, { label, at }: Mark): boolean {
  if (!/^\d/.test(label)) return false
  const before = text.slice(Math.max(0, at - NEAR_OPERATOR), at)
  if (/(?<![\p{L}\p{N}.'’-])\p{Ll}$|(?<!\p{L})[kcdm]m$/u.test(before)) return true
  const around = before + text.slice(at + label.length, at + label.length + NEAR_OPERATOR)
  return /(?<![\p{L}\p{N}.'’-])\p{Lu}$/u.test(before) && /[=+−<>≤≥·×∑∫√]/u.test(around)
}

/**
 * The lines of notes at the end of each column, with only page numbers below them: small type, or type of any size
 * below a gap when the first line starts with a raised mark.
 */
function footsOf(lines: readonly PdfLine[], body: number): PdfLine[] {
  const feet: PdfLine[] = []
  let foot: PdfLine[] = []
  let begun = false
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1]
    // a step up the page starts another column
    if (before !== undefined && line.y > before.y + 2 * body) {
      feet.push(...foot)
      foot = []
      begun = false
    }
    const text = line.table === undefined && !line.turned && line.code !== true
    const apart = before !== undefined && before.y - line.y > GAP * line.size
    begun ||= text && apart && line.begins !== undefined
    if (text && (begun || line.size <= SMALL * body)) foot.push(line)
    else if (line.text.length > MAX_DIGITS) {
      foot = []
      begun = false
    }
  }
  feet.push(...foot)
  return feet.length > MAX_FOOT ? [] : feet
}

function beginningOf(line: PdfLine): { label: string; length: number } | undefined {
  if (line.begins !== undefined) return { label: line.begins, length: line.begins.length }
  const found = BEGINS.exec(line.text)
  return found?.[1] === undefined ? undefined : { label: found[1], length: found[0].length }
}

function goesOn(line: PdfLine, last: PdfLine): boolean {
  const drop = last.y - line.y
  const alike = Math.abs(line.size - last.size) <= 0.08 * last.size
  // or at the top of the next column
  return alike && line.text.length > MAX_DIGITS && (drop < STEP * line.size || drop < 0)
}

/** Replaces `sold1.` with `sold[1].`. */
function tell(line: PdfLine, { label, at: told }: Mark): void {
  // earlier replacements on this line may have shifted it
  const at = line.text.startsWith(label, told) ? told : line.text.indexOf(label, told)
  if (at === -1 || at > told + MAX_MOVED) return
  line.text = `${line.text.slice(0, at).trimEnd()}[${label}]${line.text.slice(at + label.length)}`
  line.refers = [...(line.refers ?? []), label]
  for (const mark of line.marks ?? []) if (mark.at > at) mark.at += 2
}
