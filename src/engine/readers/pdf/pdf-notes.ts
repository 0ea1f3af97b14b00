import type { PdfBlock, PdfPage } from './pdf-blocks.js'
import { computeBodySize } from './pdf-headings.js'
import type { NoteMark, PdfLine } from './pdf-lines.js'

/** Signs may be as large as their text, and directly after a word. */
const SIGN_MARK = /(?<=[\p{L}\p{N}.,;)\]’”"])[*∗†‡§¶‖]{1,3}(?=[\s.,;)]|$)/gu
/** The start of a note whose mark is not raised. */
const NOTE_START = /^(\d{1,3}|[*∗†‡§¶‖]{1,3})[.)]?\s{0,3}(?=[\p{L}“"‘(])/u
/** Maximal size of a note, as a fraction of the text size of its page. */
const MAX_NOTE_SIZE = 0.94
/** Maximal size of a note, as a fraction of the size of the text that refers to it. */
const MAX_NOTE_TO_TEXT_SIZE = 0.97
/** Notes as large as their text are at least this far below it, in text sizes. */
const MIN_NOTE_GAP = 1.6
/** Maximal distance between lines of notes, in text sizes. */
const MAX_NOTE_STEP = 2.4
/** Maximal number of lines at the foot; a longer sequence of small type is not notes. */
const MAX_FOOT_LINES = 80
/** Maximal length of a page number. */
const MAX_DIGITS = 6
/** An operator within this many characters makes a letter a variable. */
const OPERATOR_DISTANCE = 6
/** Maximal shift of a mark by the brackets of earlier marks on its line. */
const MAX_SHIFT = 20

/**
 * Finds the notes at the foot of each page: small type at the end of a column, each starting with a mark that occurs in
 * the text above. Puts the mark in the text, and the one at the start of the note, in brackets.
 */
export function findNotes(pages: readonly PdfPage[]): void {
  for (const page of pages) {
    const textSize = computeBodySize(page.lines.filter(({ table }) => table === undefined))
    const marks = findMarks(page.lines)
    if (marks.size === 0) continue
    let openLabel: string | undefined
    let last: PdfLine | undefined
    for (const line of findFootLines(page.lines, textSize)) {
      const noteStart = parseNoteStart(line)
      const reference = noteStart === undefined ? undefined : marks.get(noteStart.label)
      if (noteStart !== undefined && reference !== undefined && refersTo(reference.line, line)) {
        openLabel = noteStart.label
        line.note = { label: openLabel, begins: true }
        line.text = `[${openLabel}] ${line.text.slice(noteStart.length).trimStart()}`
        markReference(reference.line, reference.mark)
        marks.delete(openLabel)
      } else if (openLabel !== undefined && last !== undefined && continuesNote(line, last))
        line.note = { label: openLabel, begins: false }
      else openLabel = undefined
      last = line
    }
  }
}

/** Whether text refers to a note below it: the note is smaller or starts with a raised mark. */
function refersTo(text: PdfLine, note: PdfLine): boolean {
  return text !== note && (note.begins !== undefined || text.size * MAX_NOTE_TO_TEXT_SIZE > note.size)
}

/** Moves the notes of a page to after the blocks that refer to them. */
export function moveNotes(blocks: readonly PdfBlock[]): PdfBlock[] {
  const notes = new Map(blocks.flatMap((block) => (block.note === undefined ? [] : [[block.note, block] as const])))
  if (notes.size === 0) return [...blocks]
  const referred = new Set(blocks.flatMap((block) => block.refers ?? []))
  const moved = new Set<PdfBlock>()
  // the block that refers to a note determines its position; a note may refer to others
  const place = (block: PdfBlock): PdfBlock[] => [
    block,
    ...(block.refers ?? []).flatMap((label) => {
      const note = notes.get(label)
      if (note === undefined || moved.has(note)) return []
      moved.add(note)
      return place({ ...note, y: block.y })
    }),
  ]
  const isReferred = ({ note }: PdfBlock): boolean => note !== undefined && referred.has(note)
  const placed = blocks.filter((block) => !isReferred(block)).flatMap(place)
  return [...placed, ...blocks.filter((block) => isReferred(block) && !moved.has(block))]
}

/** The first occurrence of each mark. */
function findMarks(lines: readonly PdfLine[]): Map<string, { line: PdfLine; mark: NoteMark }> {
  const first = new Map<string, { line: PdfLine; mark: NoteMark }>()
  for (const line of lines) {
    if (line.table !== undefined || line.code === true) continue
    const signs = /[*∗†‡§¶‖]/u.test(line.text)
      ? Array.from(line.text.matchAll(SIGN_MARK), ({ 0: label, index: offset }) => ({ label, at: offset }))
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
function isExponent(text: string, { label, at }: NoteMark): boolean {
  if (!/^\d/.test(label)) return false
  const before = text.slice(Math.max(0, at - OPERATOR_DISTANCE), at)
  if (/(?<![\p{L}\p{N}.'’-])\p{Ll}$|(?<!\p{L})[kcdm]m$/u.test(before)) return true
  const context = before + text.slice(at + label.length, at + label.length + OPERATOR_DISTANCE)
  return /(?<![\p{L}\p{N}.'’-])\p{Lu}$/u.test(before) && /[=+−<>≤≥·×∑∫√]/u.test(context)
}

/**
 * The lines of notes at the end of each column, with only page numbers below them: small type, or type of any size
 * below a gap when the first line starts with a raised mark.
 */
function findFootLines(lines: readonly PdfLine[], textSize: number): PdfLine[] {
  const feet: PdfLine[] = []
  let foot: PdfLine[] = []
  let hasNoteStart = false
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1]
    // a step up the page starts another column
    if (before !== undefined && line.y > before.y + 2 * textSize) {
      feet.push(...foot)
      foot = []
      hasNoteStart = false
    }
    const isText = line.table === undefined && !line.turned && line.code !== true
    const isApart = before !== undefined && before.y - line.y > MIN_NOTE_GAP * line.size
    hasNoteStart ||= isText && isApart && line.begins !== undefined
    if (isText && (hasNoteStart || line.size <= MAX_NOTE_SIZE * textSize)) foot.push(line)
    else if (line.text.length > MAX_DIGITS) {
      foot = []
      hasNoteStart = false
    }
  }
  feet.push(...foot)
  return feet.length > MAX_FOOT_LINES ? [] : feet
}

function parseNoteStart(line: PdfLine): { label: string; length: number } | undefined {
  if (line.begins !== undefined) return { label: line.begins, length: line.begins.length }
  const found = NOTE_START.exec(line.text)
  return found?.[1] === undefined ? undefined : { label: found[1], length: found[0].length }
}

function continuesNote(line: PdfLine, last: PdfLine): boolean {
  const drop = last.y - line.y
  const isSameSize = Math.abs(line.size - last.size) <= 0.08 * last.size
  // or at the top of the next column
  return isSameSize && line.text.length > MAX_DIGITS && (drop < MAX_NOTE_STEP * line.size || drop < 0)
}

/** Replaces `sold1.` with `sold[1].`. */
function markReference(line: PdfLine, { label, at: expectedOffset }: NoteMark): void {
  // earlier replacements on this line may have shifted it
  const at = line.text.startsWith(label, expectedOffset) ? expectedOffset : line.text.indexOf(label, expectedOffset)
  if (at === -1 || at > expectedOffset + MAX_SHIFT) return
  line.text = `${line.text.slice(0, at).trimEnd()}[${label}]${line.text.slice(at + label.length)}`
  line.refers = [...(line.refers ?? []), label]
  for (const mark of line.marks ?? []) if (mark.at > at) mark.at += 2
}
