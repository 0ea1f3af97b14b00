import { deflateSync } from 'node:zlib'
import { CFB } from '@e965/xlsx'

export interface WordLine {
  text: string
  /** 1 and 2 are headings of that level, 3 the title, 0 text. */
  style?: number
  /** `cell` ends a table cell, `row` a table row. */
  mark?: 'cell' | 'row'
  /** Depth in a list, from 0. */
  item?: number
  /** Deleted while changes were tracked. */
  deleted?: boolean
}

const PAGE = 512
const TEXT_AT = 0x600

/** Bytes of a compound file with these streams. */
export function compound(streams: Record<string, Buffer>): Buffer {
  const file = CFB.utils.cfb_new()
  for (const [path, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${path}`, content)
  return CFB.write(file, { type: 'buffer' })
}

const u16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2)
  return bytes
}
const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}

/** The formatting of a line: its style and operations. */
function papx({ style = 0, mark, item }: WordLine): Buffer {
  const operations = [u16(style)]
  if (mark !== undefined) operations.push(u16(0x2416), Buffer.from([1]))
  if (mark === 'row') operations.push(u16(0x2417), Buffer.from([1]))
  if (item !== undefined) operations.push(u16(0x460b, 1), u16(0x260a), Buffer.from([item]))
  const list = Buffer.concat(operations)
  // An even number of bytes after a zero byte and a count of pairs.
  const padded = list.length % 2 === 0 ? list : Buffer.concat([list, Buffer.alloc(1)])
  return Buffer.concat([Buffer.from([0, padded.length / 2]), padded])
}

/** Formatting pages for up to a dozen runs each: the end of each run, and its formatting. */
function pages(ends: number[], said: Buffer[], start: number, room: number): { bytes: Buffer; firsts: number[] } {
  const made: Buffer[] = []
  const firsts: number[] = []
  for (let from = 0; from < said.length; from += 12) {
    const page = Buffer.alloc(PAGE)
    const group = said.slice(from, from + 12)
    page[PAGE - 1] = group.length
    firsts.push(from === 0 ? start : (ends[from - 1] ?? 0))
    page.writeUInt32LE(firsts.at(-1) ?? 0, 0)
    let at = PAGE - 2
    for (const [index, bytes] of group.entries()) {
      page.writeUInt32LE(ends[from + index] ?? 0, index * 4 + 4)
      if (bytes.length === 0) continue
      at -= bytes.length + (bytes.length % 2)
      bytes.copy(page, at)
      page[(group.length + 1) * 4 + index * room] = at / 2
    }
    made.push(page)
  }
  return { bytes: Buffer.concat(made), firsts }
}

function styleSheet(): Buffer {
  const style = (kind: number, base: number): Buffer => {
    const name = Buffer.from('s\0', 'utf16le')
    return Buffer.concat([u16(kind, 1 | (base << 4), 0, 0, 0), u16(1), name, u16(2, 0)])
  }
  const styles = [style(0, 0xfff), style(1, 0), style(2, 0), style(62, 0)]
  const head = Buffer.concat([u16(18), u16(styles.length, 10), Buffer.alloc(14)])
  return Buffer.concat([head, ...styles.map((one) => Buffer.concat([u16(one.length), one]))])
}

/** A Word 97 document: the body, footnotes that the character `\u0002` refers to, a header and a footer. */
export function makeDoc(
  lines: WordLine[],
  extra: { notes?: string[]; header?: string; footer?: string; streams?: Record<string, Buffer> } = {},
): Buffer {
  const body = lines.map(({ text, mark }) => text + (mark === undefined ? '\r' : '\u0007'))
  const notes = (extra.notes ?? []).map((note) => `\u0002${note}\r`)
  const margins = [extra.header ?? '', extra.footer ?? ''].map((text) => (text === '' ? '' : `${text}\r\r`))
  const text = [...body, ...notes, ...(notes.length > 0 ? ['\r'] : []), ...margins, '\r'].join('')
  const bytes = Buffer.from(text, 'utf16le')
  const ends: number[] = []
  let end = TEXT_AT
  for (const line of body) {
    end += line.length * 2
    ends.push(end)
  }
  const formats = pages(ends, lines.map(papx), TEXT_AT, 13)
  const deleted = lines.map((line) => (line.deleted === true ? Buffer.from([3, 0, 8, 1]) : Buffer.alloc(0)))
  const marks = pages(ends, deleted, TEXT_AT, 1)
  const pageAt = Math.ceil((TEXT_AT + bytes.length) / PAGE)
  const main = Buffer.concat([Buffer.alloc(TEXT_AT), bytes, Buffer.alloc(pageAt * PAGE - TEXT_AT - bytes.length)])
  const table: Buffer[] = []
  let size = 0
  const put = (place: number, part: Buffer): void => {
    main.writeUInt32LE(size, place)
    main.writeUInt32LE(part.length, place + 4)
    table.push(part)
    size += part.length
  }
  main.writeUInt16LE(0xa5ec, 0)
  main.writeUInt16LE(0x0200, 0x0a)
  main.writeInt32LE(body.join('').length, 0x4c)
  main.writeInt32LE(notes.length > 0 ? notes.join('').length + 1 : 0, 0x50)
  main.writeInt32LE(margins.join('').length, 0x54)
  const list = (first: number, made: { bytes: Buffer; firsts: number[] }): Buffer =>
    Buffer.concat([u32(...made.firsts, end), u32(...made.firsts.map((_start, index) => first + index))])
  put(0xa2, styleSheet())
  put(0x102, list(pageAt, formats))
  put(0xfa, list(pageAt + formats.firsts.length, marks))
  put(0x1a2, Buffer.concat([Buffer.from([2]), u32(16), u32(0, text.length), u16(0), u32(TEXT_AT), u16(0)]))
  const references = [...body.join('').matchAll(/\u0002/g)].map(({ index }) => index)
  put(0xaa, Buffer.concat([u32(...references, body.join('').length), Buffer.alloc(references.length * 2)]))
  const starts = [0]
  for (const note of notes) starts.push((starts.at(-1) ?? 0) + note.length)
  put(0xb2, u32(...starts, (starts.at(-1) ?? 0) + 1))
  const [header = '', footer = ''] = margins
  const both = header.length + footer.length
  put(0xf2, u32(0, 0, 0, 0, 0, 0, 0, header.length, header.length, both, both, both, both))
  return compound({
    WordDocument: Buffer.concat([main, formats.bytes, marks.bytes]),
    '1Table': Buffer.concat(table),
    ...extra.streams,
  })
}

function record(type: number, content: Buffer | Buffer[], instance = 0, container = Array.isArray(content)): Buffer {
  const body = Array.isArray(content) ? Buffer.concat(content) : content
  return Buffer.concat([u16((instance << 4) | (container ? 0xf : 0), type), u32(body.length), body])
}

export interface OldSlideText {
  title?: string
  /** Lines of the body; leading `>` are levels. */
  body?: string
  /** Rows of a table. */
  table?: string[][]
  notes?: string
  /** An embedded compound file, compressed or not. */
  object?: { bytes: Buffer; packed: boolean }
}

const chars = (text: string): Buffer => record(0x0fa0, Buffer.from(text, 'utf16le'))
const run = (kind: number, text: string): Buffer[] => [record(0x0f9f, u32(kind)), chars(text)]

function bodyRun(body: string): Buffer[] {
  const lines = body.split('\n').map((line) => /^(>*)(.*)$/.exec(line))
  const text = lines.map((line) => line?.[2] ?? '').join('\r')
  const styles = lines.map((line) =>
    Buffer.concat([u32((line?.[2] ?? '').length + 1), u16(line?.[1]?.length ?? 0), u32(0)]),
  )
  return [...run(1, text), record(0x0fa1, Buffer.concat(styles))]
}

function drawing(shapes: Buffer[]): Buffer {
  return record(0x040c, [record(0xf002, [record(0xf003, [record(0xf004, []), ...shapes])])])
}

function tableShapes(rows: string[][]): Buffer {
  const head = record(0xf004, [record(0xf122, Buffer.concat([u16(0x039f), u32(1)]), 1)])
  const cells = rows.flatMap((row, top) =>
    row.map((text, left) =>
      record(0xf004, [
        record(0xf00f, u32(left * 10, top * 10, left * 10 + 10, top * 10 + 10)),
        record(0xf00d, run(4, text), 0),
      ]),
    ),
  )
  return record(0xf003, [head, ...cells])
}

/** A PowerPoint 97 presentation with its slides stored in reverse: only the list gives their order. */
export function makePpt(slides: OldSlideText[], options: { locked?: boolean } = {}): Buffer {
  const parts: { id: number; bytes: Buffer }[] = []
  const listed: Buffer[] = []
  const notes: Buffer[] = []
  const objects: Buffer[] = []
  for (const [index, slide] of slides.entries()) {
    const id = 256 + index
    listed.push(record(0x03f3, u32(10 + index, 0, 2, id, 0)))
    if (slide.title !== undefined) listed.push(...run(0, slide.title))
    if (slide.body !== undefined) listed.push(...bodyRun(slide.body))
    const shapes = [slide.title, slide.body]
      .filter((text) => text !== undefined)
      .map((_text, place) => record(0xf004, [record(0xf00d, [record(0x0f9e, u32(place))])]))
    if (slide.table !== undefined) shapes.push(tableShapes(slide.table))
    if (slide.object !== undefined) {
      shapes.push(record(0xf004, [record(0xf011, [record(0x0bc1, u32(7 + index))])]))
      objects.push(record(0x0fcc, [record(0x0fcd, u32(0, 0)), record(0x0fc3, u32(1, 0, 7 + index, 0, 300 + index, 0))]))
      const { bytes, packed } = slide.object
      const stored = packed ? Buffer.concat([u32(bytes.length), deflateSync(bytes)]) : bytes
      parts.push({ id: 300 + index, bytes: record(0x1011, stored, packed ? 1 : 0) })
    }
    parts.push({ id: 10 + index, bytes: record(0x03ee, [drawing(shapes)]) })
    if (slide.notes === undefined) continue
    notes.push(record(0x03f3, u32(100 + index, 0, 0, id, 0)))
    const shape = record(0xf004, [record(0xf00d, run(2, slide.notes))])
    parts.push({ id: 100 + index, bytes: record(0x03f0, [record(0x03f1, u32(id, 0)), drawing([shape])]) })
  }
  const document = record(0x03e8, [record(0x0409, objects), record(0x0ff0, listed, 0), record(0x0ff0, notes, 2)])
  parts.push({ id: 1, bytes: document })
  const places: Buffer[] = []
  let at = 0
  for (const part of parts.reverse()) {
    places.push(u32((1 << 20) | part.id, at))
    at += part.bytes.length
  }
  const stream = Buffer.concat([
    ...parts.map((part) => part.bytes),
    record(0x1772, Buffer.concat(places)),
    record(0x0ff5, u32(0, 0, 0, at, 1, 200, 0)),
  ])
  const editAt = stream.length - 8 - 28
  const user = record(0x0ff6, u32(20, options.locked === true ? 0xf3d1c4df : 0xe391c05f, editAt, 0))
  return compound({ 'PowerPoint Document': stream, 'Current User': user })
}

/** The summary properties of a document: title and author. */
export function summary(title: string, author: string): Buffer {
  const texts = [title, author].map((text) => {
    const bytes = Buffer.from(`${text}\0`, 'utf8')
    return Buffer.concat([u32(30, bytes.length), bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
  })
  const first = 8 + 3 * 8
  const second = first + 8
  const third = second + (texts[0]?.length ?? 0)
  const set = Buffer.concat([u32(0, 3, 1, first, 2, second, 4, third), u32(2), u16(65001, 0), ...texts])
  return Buffer.concat([u16(0xfffe, 0), u32(0), Buffer.alloc(16), u32(1), Buffer.alloc(16), u32(48), set])
}
