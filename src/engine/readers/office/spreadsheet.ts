import { type CellObject, read, type WorkBook, type WorkSheet } from '@e965/xlsx'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { buildStoredZip } from '../archive/zip-store.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { reportProgress } from '../progress.js'
import { toCommentBlock } from './comments.js'
import { checkCompound, readCompound } from './compound.js'
import { addEmbeddedFiles, addEmbeddedFromCompound } from './embedded-files.js'
import { forEachTag, readRelations, readXmlPart } from './office-package.js'
import { readCoreProperties } from './properties.js'
import { fillDown, type Sheet, SheetBudget, sheetBlocks } from './sheet-blocks.js'
import { formatCell, formatCellName, type SheetEpoch } from './sheet-cells.js'
import { createSheetExtras } from './sheet-extras.js'
import { installCodePages } from './spreadsheet-codepages.js'
import { readXlsExtras } from './xls-extras.js'

const LEGACY = 'application/vnd.ms-excel'

/** Parts with the cells of a workbook. Drawings, drawing styles, links and macros are never unpacked. */
const CELL_PARTS =
  /^(?:\[Content_Types\]\.xml|_rels\/\.rels|xl\/(?!(?:drawings|media|charts|theme|embeddings|externalLinks|pivot\w*|queryTables|ctrlProps|printerSettings|comments|worksheets\/_rels|activeX|vba)\b)[^?*]+\.(?:xml|bin|rels))$/i

/** Storages of an old workbook with embedded objects. */
const XLS_OBJECTS = /^MBD[0-9A-F]{1,8}\//i
const MAX_COMMENTS = 5000
const END_BYTES = 16 * 1024

/** Reads old and new Excel workbooks: sheets as sections, rows as tables, values as they are shown. */
export const spreadsheetParser: Parser = {
  parse: parseSpreadsheet,
}

async function parseSpreadsheet(input: ParserInput): Promise<ParsedDocument> {
  const { filename, limits, mediaType } = input
  const budget = new SheetBudget(filename, limits)
  const zip = mediaType === LEGACY ? undefined : openZip(input.bytes, filename, limits)
  if (zip === undefined) {
    checkCompound(input.bytes, filename)
    installCodePages()
  }
  const ends = new Map<string, string>()
  const workbook = openWorkbook(
    zip === undefined ? input.bytes : repackCellParts(zip, filename, limits.maxCells, ends),
    filename,
  )
  const epoch = workbook.Workbook?.WBProps?.date1904 === true ? 1904 : 1900
  const streams = zip === undefined ? readCompound(input.bytes, filename) : new Map<string, Buffer>()
  const embedded = await (zip === undefined
    ? addEmbeddedFromCompound(streams, XLS_OBJECTS, input)
    : addEmbeddedFiles(zip, input))
  const readExtras = zip === undefined ? undefined : createSheetExtras(zip, filename, ends, embedded)
  const xlsExtras = zip === undefined ? readXlsExtras(streams.get('Workbook') ?? Buffer.alloc(0)) : undefined
  const hidden: string[] = []
  const sheets: Sheet[] = []
  const unreadSheets: string[] = []
  for (const [index, name] of workbook.SheetNames.entries()) {
    reportProgress('sheet', index + 1, workbook.SheetNames.length)
    const sheet = workbook.Sheets[name]
    const extras = readExtras?.(name, index) ?? [
      ...(xlsExtras?.get(name) ?? []),
      ...(sheet === undefined ? [] : readComments(sheet)),
    ]
    if ((workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0) hidden.push(name)
    if (sheet === undefined) unreadSheets.push(name)
    else sheets.push({ name, rows: toSheetRows(sheet, epoch, budget), extras })
  }
  // the pictures of an old workbook have no known sheet
  const blocks = [...sheetBlocks(sheets), ...(xlsExtras?.get('') ?? []), ...embedded.rest()]
  if (!blocks.some((block) => block.type !== 'heading')) throw new ReadError('empty', `${filename} has no filled cells`)
  const unreadWarnings =
    unreadSheets.length === 0 ? [] : [`sheets that could not be read: ${unreadSheets.slice(0, 20).join(', ')}`]
  const warnings = [...unreadWarnings, ...embedded.warnings]
  return {
    parser: 'native-structured',
    contentType: 'structured',
    ...(zip === undefined ? {} : readCoreProperties(zip, filename)),
    blocks,
    metadata: {
      sheetCount: workbook.SheetNames.length,
      ...(hidden.length === 0 ? {} : { hiddenSheets: hidden }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

function openWorkbook(bytes: Buffer, filename: string): WorkBook {
  try {
    return read(bytes, { type: 'buffer', dense: true, cellFormula: false, cellHTML: false, cellNF: true, xlfn: false })
  } catch (error) {
    if (error instanceof ReadError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    if (/password|encrypt/i.test(detail)) {
      throw new ReadError('encrypted', `${filename} is protected by a password`, { cause: error })
    }
    throw new ReadError('malformed', `${filename} is not a readable workbook: ${detail.slice(0, 200)}`, {
      cause: error,
    })
  }
}

/**
 * Repacks the parts with cells as a separate archive, inflated within the limits: the library would inflate without
 * limits. Counts cells before the library parses them.
 *
 * @param ends receives the last bytes of each sheet, which contain headers and footers
 */
function repackCellParts(zip: ZipArchive, filename: string, maxCells: number, ends: Map<string, string>): Buffer {
  checkSheetList(zip, filename)
  const parts: [string, Buffer][] = []
  let cells = 0
  for (const name of zip.entries.keys()) {
    if (!CELL_PARTS.test(name)) continue
    const content = zip.read(name)
    if (content.includes('<!DOCTYPE')) {
      throw new ReadError(
        'malformed',
        `${filename} declares a document type in ${name}, which its format does not allow`,
      )
    }
    if (/\.xml$/i.test(name)) cells += countCells(content)
    if (cells > maxCells) {
      const limit = maxCells.toLocaleString('en-US')
      throw new ReadError('limit-exceeded', `${filename} has more cells than the limit of ${limit}`)
    }
    if (/^xl\/worksheets\/[^/]+\.xml$/i.test(name)) ends.set(name, content.subarray(-END_BYTES).toString('utf8'))
    parts.push([name, content])
  }
  return buildStoredZip(parts)
}

/** Refuses a part that is listed as several sheets: it would be parsed as often. */
function checkSheetList(zip: ZipArchive, filename: string): void {
  const main = 'xl/workbook.xml'
  if (!zip.entries.has(main)) return
  const relations = readRelations(zip, main, filename)
  const parts = [...relations.values()].filter(({ kind }) => kind.endsWith('sheet')).map(({ part }) => part)
  let listedCount = 0
  const ids = new Set<string>()
  const countSheet = (id: string | undefined): void => {
    listedCount++
    if (id !== undefined) ids.add(id)
  }
  const xml = readXmlPart(zip, main, filename)
  forEachTag(xml, 'sheet', (attributes) => countSheet(attributes.get('r:id')))
  forEachTag(xml, 'x:sheet', (attributes) => countSheet(attributes.get('r:id')))
  if (new Set(parts).size === parts.length && (ids.size === listedCount || ids.size === 0)) return
  throw new ReadError('malformed', `${filename} is not a readable workbook: it lists one sheet more than once`)
}

/** Counts cells with content by their tags: `<c r="A1"><v>` counts, `<c r="A1" s="3"/>` does not. */
function countCells(xml: Buffer): number {
  let cellCount = 0
  for (let offset = xml.indexOf('<v'); offset !== -1; offset = xml.indexOf('<v', offset + 2)) cellCount++
  for (let offset = xml.indexOf(':v>'); offset !== -1; offset = xml.indexOf(':v>', offset + 3)) cellCount += 0.5
  for (let offset = xml.indexOf('<is>'); offset !== -1; offset = xml.indexOf('<is>', offset + 4)) cellCount++
  return cellCount
}

function toSheetRows(sheet: WorkSheet, epoch: SheetEpoch, budget: SheetBudget): Map<number, Map<number, string>> {
  const rows = new Map<number, Map<number, string>>()
  const data: (CellObject[] | undefined)[] = sheet['!data'] ?? []
  // iterate over keys, because an array may claim a length far beyond its contents
  for (const key of Object.keys(data)) {
    const number = Number(key)
    const cells = Number.isInteger(number) ? data[number] : undefined
    if (cells === undefined) continue
    const row = new Map<number, string>()
    for (const column of Object.keys(cells)) {
      const cell = cells[Number(column)]
      const text = cell === undefined ? '' : formatCell(cell, epoch)
      if (text.trim() !== '') row.set(Number(column), budget.text(text))
    }
    budget.cells(row.size)
    if (row.size > 0) rows.set(number, row)
  }
  const merges = (sheet['!merges'] ?? []).map(({ s, e }) => ({ column: s.c, first: s.r, last: e.r }))
  fillDown(rows, merges, budget)
  return rows
}

/** Reads the comments of a workbook from before 2007, with their cells. */
function readComments(sheet: WorkSheet): Block[] {
  const data: (CellObject[] | undefined)[] = sheet['!data'] ?? []
  const blocks: Block[] = []
  for (const row of Object.keys(data)) {
    const cells = data[Number(row)] ?? []
    for (const column of Object.keys(cells)) {
      for (const { a = '', t = '' } of cells[Number(column)]?.c ?? []) {
        const text = t.trim()
        if (text !== '' && blocks.length < MAX_COMMENTS)
          blocks.push(toCommentBlock({ author: a, cell: formatCellName(Number(row), Number(column)), text }))
      }
    }
  }
  return blocks
}
