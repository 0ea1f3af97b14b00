import { ReadError } from '../limits.js'
import { findRecord, type PptRecord, readRecord, readRecords } from './ppt-records.js'
import { SlideTextReader, type SlideTextRun } from './ppt-text.js'

const DOCUMENT = 0x03e8
const SLIDE = 0x03ee
const NOTES = 0x03f0
const NOTES_ATOM = 0x03f1
const SLIDE_PERSIST = 0x03f3
const SLIDE_LIST = 0x0ff0
const USER_EDIT = 0x0ff5
const PERSIST_DIRECTORY = 0x1772
/** Kinds of slide lists, by their instance. */
const SLIDES = 0
const NOTE_PAGES = 2
/** First bytes of the stream `Current User` of a password-protected document. */
const LOCKED = 0xf3d1c4df
const MAX_EDITS = 1000
const MAX_PARTS = 1_000_000

export interface OldSlide {
  id: number
  /** Absent when the file lacks it. */
  record?: PptRecord
  /** Texts of its placeholders, which are stored separately. */
  outline: SlideTextRun[]
  notes?: PptRecord
}

export interface OldPresentation {
  root: PptRecord
  slides: OldSlide[]
  /** Offset of a part in the stream, by its number; -1 when it is missing. */
  partAt(part: number): number
}

/**
 * Reads the slides of a presentation in the order of the show (MS-PPT 2.1.2). The last edit lists the offsets of the
 * parts.
 *
 * @throws ReadError `encrypted`, `malformed`
 */
export function readSlides(stream: Buffer, user: Buffer, filename: string): OldPresentation {
  const malformed = (detail: string): ReadError =>
    new ReadError('malformed', `${filename} is not a readable presentation: ${detail}`)
  if (user.length < 20) throw malformed('the offset of its content is missing')
  if (user.readUInt32LE(12) === LOCKED) throw new ReadError('encrypted', `${filename} is protected by a password`)
  const { parts, document } = readParts(stream, user.readUInt32LE(16))
  const root = readRecord(stream, parts.get(document) ?? -1)
  if (root === undefined || root.type !== DOCUMENT) throw malformed('its document is missing')
  const slides: OldSlide[] = []
  const notes = new Map<number, PptRecord>()
  for (const list of readRecords(root.body)) {
    if (list.type !== SLIDE_LIST) continue
    if (list.instance === SLIDES) slides.push(...listSlides(list, stream, parts))
    if (list.instance === NOTE_PAGES) for (const page of listSlides(list, stream, parts)) addNotes(page, notes)
  }
  return {
    root,
    partAt: (part) => parts.get(part) ?? -1,
    slides: slides.map((slide) => {
      const page = notes.get(slide.id)
      return page === undefined ? slide : { ...slide, notes: page }
    }),
  }
}

/** Reads the offsets of all parts, newest edits first, and the number of the part with the document. */
function readParts(stream: Buffer, start: number): { parts: Map<number, number>; document: number } {
  const parts = new Map<number, number>()
  let document = -1
  let offset = start
  for (let edits = 0; edits < MAX_EDITS; edits++) {
    const edit = readRecord(stream, offset)
    if (edit === undefined || edit.type !== USER_EDIT || edit.body.length < 20) break
    if (document === -1) document = edit.body.readUInt32LE(16)
    const directory = readRecord(stream, edit.body.readUInt32LE(12))
    if (directory?.type === PERSIST_DIRECTORY) addParts(directory.body, parts)
    offset = edit.body.readUInt32LE(8)
    if (offset === 0) break
  }
  return { parts, document }
}

function addParts(directory: Buffer, parts: Map<number, number>): void {
  let offset = 0
  while (offset + 4 <= directory.length) {
    const head = directory.readUInt32LE(offset)
    const first = head & 0xfffff
    const count = head >>> 20
    offset += 4
    for (let index = 0; index < count && offset + 4 <= directory.length && parts.size < MAX_PARTS; index++, offset += 4)
      if (!parts.has(first + index)) parts.set(first + index, directory.readUInt32LE(offset))
  }
}

function listSlides(list: PptRecord, stream: Buffer, parts: ReadonlyMap<number, number>): OldSlide[] {
  const slides: OldSlide[] = []
  let texts = new SlideTextReader()
  let last: OldSlide | undefined
  const seen = new Set<number>()
  const endSlide = (): void => {
    if (last !== undefined) slides.push({ ...last, outline: texts.finish() })
    last = undefined
  }
  for (const record of readRecords(list.body)) {
    if (record.type !== SLIDE_PERSIST) {
      texts.take(record)
      continue
    }
    endSlide()
    texts = new SlideTextReader()
    if (record.body.length < 16) continue
    const part = record.body.readUInt32LE(0)
    // a part that is listed as many slides would be read as often
    if (seen.has(part)) continue
    seen.add(part)
    const slideRecord = readRecord(stream, parts.get(part) ?? -1)
    const recordField = slideRecord?.type === SLIDE || slideRecord?.type === NOTES ? { record: slideRecord } : {}
    last = { id: record.body.readUInt32LE(12), outline: [], ...recordField }
  }
  endSlide()
  return slides
}

function addNotes(page: OldSlide, notes: Map<number, PptRecord>): void {
  if (page.record?.type !== NOTES) return
  const atom = findRecord(page.record.body, NOTES_ATOM)
  if (atom !== undefined && atom.body.length >= 4) notes.set(atom.body.readUInt32LE(0), page.record)
}
