/** Styles and formatting tables of a `.doc` file: properties of its paragraphs and characters (MS-DOC 2.6). */

/** The used properties of a paragraph. */
export interface ParagraphProperties {
  /** Index of its style in the style sheet. */
  style: number
  /** 0 outside of tables, 1 in a table, 2 in a table within one */
  depth: number
  /** The paragraph ends a row. */
  endsRow: boolean
  /** It is an item of a list. */
  listed: boolean
  /** Level of the item, 0 for the outermost. */
  listLevel: number
  /** 1 to 9 for headings, 0 for text */
  outline: number
}

/** Maximal number of formatting pages; files have a few thousand. */
const MAX_PAGES = 200_000
const PAGE_BYTES = 512
const MAX_STYLES = 4096
/** Maximal depth of the chain of base styles. */
const MAX_STYLE_DEPTH = 12

/** Operations of paragraph properties (sprm). */
const STYLE = 0x4600
const IN_TABLE = 0x2416
const ROW_END = 0x2417
const INNER_ROW_END = 0x244c
const TABLE_DEPTH = 0x6649
const LIST = 0x460b
const LIST_LEVEL = 0x260a
const OUTLINE_LEVEL = 0x2640
const HUGE = 0x6646
/** The only operation with a size of two bytes. */
const DEFINE_TABLE = 0xd608
/** The only operation whose size may be 255 with a different meaning. */
const CHANGE_TABS = 0xc615
const DELETED = 0x0800

/** Bytes of an operand, by the three highest bits of the operation; 0 when the operand contains its size. */
const OPERAND_BYTES = [1, 1, 2, 4, 2, 2, 0, 3]

const DEFAULT_PROPERTIES: ParagraphProperties = {
  style: 0,
  depth: 0,
  endsRow: false,
  listed: false,
  listLevel: 0,
  outline: 0,
}

/** Calls `visit` for each complete operation of a list. */
function forEachOperation(bytes: Buffer, visit: (operation: number, offset: number) => void): void {
  let offset = 0
  while (offset + 3 <= bytes.length) {
    const operation = bytes.readUInt16LE(offset)
    offset += 2
    let size = OPERAND_BYTES[operation >> 13] ?? 0
    if (size === 0) {
      if (operation === DEFINE_TABLE) size = offset + 2 <= bytes.length ? bytes.readUInt16LE(offset) + 1 : bytes.length
      else if (operation === CHANGE_TABS && bytes[offset] === 255) return
      else size = (bytes[offset] ?? 0) + 1
    }
    if (offset + size > bytes.length) return
    visit(operation, offset)
    offset += size
  }
}

function applyOperations(bytes: Buffer, properties: ParagraphProperties, data: Buffer | undefined): void {
  forEachOperation(bytes, (operation, offset) => {
    if (operation === STYLE) properties.style = bytes.readUInt16LE(offset)
    else if (operation === IN_TABLE) properties.depth = Math.max(properties.depth, bytes[offset] === 0 ? 0 : 1)
    else if (operation === TABLE_DEPTH) properties.depth = bytes.readUInt32LE(offset)
    else if (operation === ROW_END || operation === INNER_ROW_END) properties.endsRow ||= bytes[offset] === 1
    else if (operation === LIST) properties.listed = bytes.readUInt16LE(offset) !== 0
    else if (operation === LIST_LEVEL) properties.listLevel = Math.min(bytes[offset] ?? 0, 8)
    else if (operation === OUTLINE_LEVEL) properties.outline = (bytes[offset] ?? 9) < 9 ? (bytes[offset] ?? 0) + 1 : 0
    else if (operation === HUGE && data !== undefined) {
      const listOffset = bytes.readUInt32LE(offset)
      if (listOffset + 2 > data.length) return
      // the referenced list contains no further reference, so one level suffices
      applyOperations(
        data.subarray(listOffset + 2, listOffset + 2 + data.readUInt16LE(listOffset)),
        properties,
        undefined,
      )
    }
  })
}

/** Reads the styles of a document with the properties of their paragraphs. */
export function readStyles(sheet: Buffer): ParagraphProperties[] {
  if (sheet.length < 6) return []
  const count = Math.min(sheet.readUInt16LE(2), MAX_STYLES)
  const fixedBytes = sheet.readUInt16LE(4)
  const raw: { kind: number; base: number; operations: Buffer }[] = []
  let offset = 2 + sheet.readUInt16LE(0)
  for (let index = 0; index < count && offset + 2 <= sheet.length; index++) {
    const size = sheet.readUInt16LE(offset)
    raw.push(readStyle(sheet.subarray(offset + 2, offset + 2 + size), fixedBytes))
    offset += 2 + size + (size & 1)
  }
  return raw.map((_style, index) => {
    const chain: number[] = []
    for (let next = index; raw[next] !== undefined && chain.length < MAX_STYLE_DEPTH; next = raw[next]?.base ?? -1)
      chain.push(next)
    const properties = { ...DEFAULT_PROPERTIES, style: index }
    for (const styleIndex of chain.reverse()) {
      const kind = raw[styleIndex]?.kind ?? 0
      if (kind >= 1 && kind <= 9) properties.outline = kind
      // the title of a document is above its chapters
      if (kind === TITLE_STYLE) properties.outline = 1
      applyOperations(raw[styleIndex]?.operations ?? Buffer.alloc(0), properties, undefined)
    }
    return { ...properties, style: index }
  })
}

/** Built-in style number of the title of a document. */
const TITLE_STYLE = 62

function readStyle(style: Buffer, fixedBytes: number): { kind: number; base: number; operations: Buffer } {
  const emptyStyle = { kind: 0, base: -1, operations: Buffer.alloc(0) }
  if (style.length < fixedBytes + 2 || fixedBytes < 6) return emptyStyle
  const kind = style.readUInt16LE(0) & 0xfff
  const family = style.readUInt16LE(2) & 0xf
  const base = style.readUInt16LE(2) >> 4
  if (family !== 1) return emptyStyle
  // after its name, which ends with a zero: the paragraph operations, after the number of the style
  const list = fixedBytes + 2 + style.readUInt16LE(fixedBytes) * 2 + 2
  const size = list + 2 <= style.length ? style.readUInt16LE(list) : 0
  return { kind, base: base === 0xfff ? -1 : base, operations: style.subarray(list + 4, list + 2 + size) }
}

/** Consecutive ranges of the main stream, each with a value. */
export class PropertyRuns<T> {
  readonly #ends: number[] = []
  readonly #values: T[] = []
  /** Whether any range has a truthy value. */
  hasTruthyValue = false

  add(end: number, value: T): void {
    if (end < (this.#ends.at(-1) ?? 0)) return
    if (value) this.hasTruthyValue = true
    this.#ends.push(end)
    this.#values.push(value)
  }

  /** The value of the range that contains an offset. */
  at(offset: number): T | undefined {
    let low = 0
    let high = this.#ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return this.#values[low]
  }
}

/** Properties of paragraphs by their ranges in the main stream. */
export function readParagraphRuns(
  main: Buffer,
  table: Buffer,
  styles: ParagraphProperties[],
  data: Buffer | undefined,
): PropertyRuns<ParagraphProperties> {
  const runs = new PropertyRuns<ParagraphProperties>()
  for (const page of listPages(main, table)) {
    const count = page[PAGE_BYTES - 1] ?? 0
    for (let index = 0; index < count && (count + 1) * 4 + index * 13 < PAGE_BYTES; index++) {
      const start = (page[(count + 1) * 4 + index * 13] ?? 0) * 2
      runs.add(page.readUInt32LE(index * 4 + 4), readProperties(page, start, styles, data))
    }
  }
  return runs
}

function readProperties(
  page: Buffer,
  start: number,
  styles: ParagraphProperties[],
  data: Buffer | undefined,
): ParagraphProperties {
  const first = start === 0 ? 0 : (page[start] ?? 0)
  const operationsStart = first === 0 ? start + 2 : start + 1
  const size = first === 0 ? (page[start + 1] ?? 0) * 2 : first * 2 - 1
  if (start === 0 || operationsStart + 2 > PAGE_BYTES) return styles[0] ?? DEFAULT_PROPERTIES
  const style = page.readUInt16LE(operationsStart)
  const properties = { ...(styles[style] ?? DEFAULT_PROPERTIES), style }
  applyOperations(
    page.subarray(operationsStart + 2, Math.min(operationsStart + size, PAGE_BYTES - 1)),
    properties,
    data,
  )
  return properties
}

/** Whether characters were deleted while changes were tracked, by their ranges in the main stream. */
export function readDeletedRuns(main: Buffer, table: Buffer): PropertyRuns<boolean> {
  const runs = new PropertyRuns<boolean>()
  for (const page of listPages(main, table)) {
    const count = page[PAGE_BYTES - 1] ?? 0
    for (let index = 0; index < count && (count + 1) * 4 + index < PAGE_BYTES; index++) {
      const start = (page[(count + 1) * 4 + index] ?? 0) * 2
      let deleted = false
      if (start > 0) {
        const operations = page.subarray(start + 1, start + 1 + (page[start] ?? 0))
        forEachOperation(operations, (operation, offset) => {
          if (operation === DELETED) deleted = operations[offset] === 1
        })
      }
      runs.add(page.readUInt32LE(index * 4 + 4), deleted)
    }
  }
  return runs
}

/** The formatting pages that a table lists, in order. */
function* listPages(main: Buffer, table: Buffer): Generator<Buffer> {
  const count = Math.min(Math.floor((table.length - 4) / 8), MAX_PAGES)
  let last = -1
  for (let index = 0; index < count; index++) {
    const number = table.readUInt32LE((count + 1) * 4 + index * 4) & 0x3fffff
    const start = number * PAGE_BYTES
    // a repeated page contains nothing new
    if (number === last || start + PAGE_BYTES > main.length) continue
    last = number
    yield main.subarray(start, start + PAGE_BYTES)
  }
}
