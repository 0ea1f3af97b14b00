import type { ZipArchive } from '../archive/zip.js'
import { buildStoredZip } from '../archive/zip-store.js'
import { ReadError } from '../limits.js'
import { escapeMarkup } from '../markup/markup-events.js'
import {
  findRelatedPart,
  forEachTag,
  getMainPart,
  type PackageRelation,
  readRelations,
  readXmlPart,
} from './office-package.js'

/** Kinds of relations from a workbook to parts with cells, and whether their type is that of Microsoft. */
const SHEET_KIND = /^(?:worksheet|chartsheet|dialogsheet|xlMacrosheet|xlIntlMacrosheet)$/
const OFFICE_RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const MICROSOFT_RELATIONS = 'http://schemas.microsoft.com/office/2006/relationships'
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
/** Other parts that the cells need, with their content types as XML and as binary records. */
const SHARED_TYPES = new Map([
  ['sharedStrings', [`${SPREADSHEET}.sharedStrings+xml`, 'application/vnd.ms-excel.sharedStrings']],
  ['styles', [`${SPREADSHEET}.styles+xml`, 'application/vnd.ms-excel.styles']],
  ['sheetMetadata', [`${SPREADSHEET}.sheetMetadata+xml`, 'application/vnd.ms-excel.sheetMetadata']],
])
const WORKBOOK_TYPES = [`${SPREADSHEET}.sheet.main+xml`, 'application/vnd.ms-excel.sheet.binary.macroEnabled.main']
/** Headers and footers are within this many bytes of the end of a sheet. */
const END_BYTES = 16 * 1024
/** Integers with fewer digits are exact as numbers. */
const MIN_LONG_DIGITS = 16
const MAX_LONG_DIGITS = 400
/** Maximal distance from a value to the start of its cell. */
const MAX_CELL_TAG = 400

/** The cells of a workbook as an archive, and what is read of its sheets without the library. */
export interface WorkbookPackage {
  archive: Buffer
  /** Relations of the workbook, by the ids that its sheets have. */
  relations: ReadonlyMap<string, PackageRelation>
  /** The last characters of each sheet by part, which contain headers and footers. */
  ends: ReadonlyMap<string, string>
  /** Integers that are too long for a number, as they are stored, by part and name of the cell. */
  longNumbers: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/**
 * Repacks the parts with cells as a separate archive with the usual names, inflated within the limits: the library would
 * inflate without limits. Drawings, links and macros are never unpacked. Counts cells before the library parses them.
 */
export function packWorkbook(zip: ZipArchive, filename: string, maxCells: number): WorkbookPackage {
  const main = getMainPart(zip, filename, ['xl/workbook.xml', 'xl/workbook.bin'])
  const isBinary = main.endsWith('.bin')
  const relations = readRelations(zip, main, filename)
  if (!isBinary) checkSheetList(readXmlPart(zip, main, filename), relations, filename)
  const package_ = new WorkbookArchive(zip.read(main), isBinary)
  const ends = new Map<string, string>()
  const longNumbers = new Map<string, Map<string, string>>()
  let cells = 0
  for (const [id, { kind, part }] of [...relations, ...findUnrelatedParts(zip, relations, isBinary)]) {
    const isSheet = SHEET_KIND.test(kind)
    if ((!isSheet && !SHARED_TYPES.has(kind)) || !zip.entries.has(part)) continue
    const content = zip.read(part)
    if (content.includes('<!DOCTYPE'))
      throw new ReadError(
        'malformed',
        `${filename} declares a document type in ${part}, which its format does not allow`,
      )
    package_.add(id, kind, { content, isBinary: part.endsWith('.bin') })
    if (!isSheet || part.endsWith('.bin')) continue
    const long = new Map<string, string>()
    cells += scanCells(content, long)
    if (cells > maxCells) {
      const limit = maxCells.toLocaleString('en-US')
      throw new ReadError('limit-exceeded', `${filename} has more cells than the limit of ${limit}`)
    }
    if (long.size > 0) longNumbers.set(part, long)
    ends.set(part, content.subarray(-END_BYTES).toString('utf8'))
  }
  return { archive: package_.finish(), relations, ends, longNumbers }
}

/** Parts that the cells need and that no relation leads to, by their usual names. */
function findUnrelatedParts(
  zip: ZipArchive,
  relations: ReadonlyMap<string, PackageRelation>,
  isBinary: boolean,
): [string, PackageRelation][] {
  return [...SHARED_TYPES.keys()].flatMap((kind): [string, PackageRelation][] => {
    const usualName = `xl/${kind === 'sheetMetadata' ? 'metadata' : kind}.${isBinary ? 'bin' : 'xml'}`
    const part = findRelatedPart(zip, relations, kind, usualName)
    return part === usualName && ![...relations.values()].some((relation) => relation.part === part)
      ? [[`usual-${kind}`, { kind, part }]]
      : []
  })
}

/** Builds a package with the usual names of parts. */
class WorkbookArchive {
  readonly #parts: [string, Buffer][] = []
  readonly #relations: string[] = []
  readonly #types: string[] = []
  readonly #main: string
  #count = 0

  constructor(workbook: Buffer, isBinary: boolean) {
    this.#main = `workbook.${isBinary ? 'bin' : 'xml'}`
    this.#addPart(this.#main, workbook, WORKBOOK_TYPES[Number(isBinary)])
  }

  add(id: string, kind: string, { content, isBinary }: { content: Buffer; isBinary: boolean }): void {
    const extension = isBinary ? 'bin' : 'xml'
    const shared = SHARED_TYPES.get(kind)
    const name = shared === undefined ? `worksheets/sheet${++this.#count}.${extension}` : `${kind}.${extension}`
    const base = kind.startsWith('xl') ? MICROSOFT_RELATIONS : OFFICE_RELATIONS
    this.#relations.push(`<Relationship Id="${escapeMarkup(id)}" Type="${base}/${kind}" Target="${name}"/>`)
    this.#addPart(name, content, shared?.[Number(isBinary)])
  }

  finish(): Buffer {
    return buildStoredZip([
      [
        '[Content_Types].xml',
        Buffer.from(
          `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${this.#types.join('')}</Types>`,
        ),
      ],
      [
        `xl/_rels/${this.#main}.rels`,
        Buffer.from(
          `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${this.#relations.join('')}</Relationships>`,
        ),
      ],
      ...this.#parts,
    ])
  }

  #addPart(name: string, content: Buffer, contentType: string | undefined): void {
    this.#parts.push([`xl/${name}`, content])
    if (contentType !== undefined) this.#types.push(`<Override PartName="/xl/${name}" ContentType="${contentType}"/>`)
  }
}

/** Refuses a part that is listed as several sheets: it would be parsed as often. */
function checkSheetList(xml: string, relations: ReadonlyMap<string, PackageRelation>, filename: string): void {
  const parts = [...relations.values()].filter(({ kind }) => kind.endsWith('sheet')).map(({ part }) => part)
  let listedCount = 0
  const ids = new Set<string>()
  for (const tag of ['sheet', 'x:sheet'])
    forEachTag(xml, tag, (attributes) => {
      listedCount++
      const id = attributes.get('r:id')
      if (id !== undefined) ids.add(id)
    })
  if (new Set(parts).size === parts.length && (ids.size === listedCount || ids.size === 0)) return
  throw new ReadError('malformed', `${filename} is not a readable workbook: it lists one sheet more than once`)
}

/**
 * Counts cells with content by their tags: `<c r="A1"><v>` counts, `<c r="A1" s="3"/>` does not.
 *
 * @param longNumbers receives the integers that are too long for a number, by the names of their cells
 */
function scanCells(xml: Buffer, longNumbers: Map<string, string>): number {
  let cellCount = 0
  for (let offset = xml.indexOf('<v'); offset !== -1; offset = xml.indexOf('<v', offset + 2)) {
    cellCount++
    addLongNumber(xml, offset + 3, longNumbers)
  }
  for (let offset = xml.indexOf(':v>'); offset !== -1; offset = xml.indexOf(':v>', offset + 3)) {
    cellCount += 0.5
    addLongNumber(xml, offset + 3, longNumbers)
  }
  for (let offset = xml.indexOf('<is>'); offset !== -1; offset = xml.indexOf('<is>', offset + 4)) cellCount++
  return cellCount
}

function addLongNumber(xml: Buffer, start: number, longNumbers: Map<string, string>): void {
  let end = start
  while (isDigit(xml[end]) || (end === start && xml[end] === 0x2d)) end++
  if (end - start < MIN_LONG_DIGITS || end - start > MAX_LONG_DIGITS || xml[end] !== 0x3c) return
  const before = xml.toString('latin1', Math.max(0, start - MAX_CELL_TAG), start)
  const name = /^[^<>]*\sr="([A-Z]{1,3}\d{1,7})"/.exec(before.slice(findCellTag(before)))?.[1]
  if (name !== undefined) longNumbers.set(name, xml.toString('latin1', start, end))
}

/** The index of the last tag of a cell in a text, after its `<`. */
function findCellTag(text: string): number {
  return Math.max(text.lastIndexOf('<c '), text.lastIndexOf(':c ')) + 1
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}
