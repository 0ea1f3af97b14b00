import { type CellObject, read, type WorkBook, type WorkSheet } from '@e965/xlsx'
import { isRecord } from '../../../lib/json/values.js'
import { openZip } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { reportProgress } from '../progress.js'
import { toCommentBlock } from './comments.js'
import { checkCompound, readCompound } from './compound.js'
import { addEmbeddedFiles, addEmbeddedFromCompound } from './embedded-files.js'
import { readCoreProperties } from './properties.js'
import { fillDown, type Sheet, SheetBudget, sheetBlocks } from './sheet-blocks.js'
import { formatCell, formatCellName, type SheetEpoch } from './sheet-cells.js'
import { createSheetExtras } from './sheet-extras.js'
import { installCodePages } from './spreadsheet-codepages.js'
import { packWorkbook } from './workbook-package.js'
import { readXlsExtras } from './xls-extras.js'

const LEGACY = 'application/vnd.ms-excel'

/** Storages of an old workbook with embedded objects. */
const XLS_OBJECTS = /^MBD[0-9A-F]{1,8}\//i
const MAX_COMMENTS = 5000

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
  const packed = zip === undefined ? undefined : packWorkbook(zip, filename, limits.maxCells)
  const workbook = openWorkbook(packed?.archive ?? input.bytes, filename)
  const epoch = workbook.Workbook?.WBProps?.date1904 === true ? 1904 : 1900
  const streams = zip === undefined ? readCompound(input.bytes, filename) : new Map<string, Buffer>()
  const embedded = await (zip === undefined
    ? addEmbeddedFromCompound(streams, XLS_OBJECTS, input)
    : addEmbeddedFiles(zip, input))
  const readExtras =
    zip === undefined || packed === undefined ? undefined : createSheetExtras(zip, filename, packed.ends, embedded)
  const xlsExtras = zip === undefined ? readXlsExtras(streams.get('Workbook') ?? Buffer.alloc(0)) : undefined
  const hidden: string[] = []
  const sheets: Sheet[] = []
  const unreadSheets: string[] = []
  for (const [index, name] of workbook.SheetNames.entries()) {
    reportProgress('sheet', index + 1, workbook.SheetNames.length)
    const sheet = workbook.Sheets[name]
    const part = packed?.relations.get(getSheetRelation(workbook, index))?.part ?? ''
    const extras = readExtras?.(part) ?? [
      ...(xlsExtras?.get(name) ?? []),
      ...(sheet === undefined ? [] : readComments(sheet)),
    ]
    if ((workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0) hidden.push(name)
    if (sheet === undefined) unreadSheets.push(name)
    else
      sheets.push({
        name,
        rows: toSheetRows(sheet, { epoch, longNumbers: packed?.longNumbers.get(part) }, budget),
        extras,
      })
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

/** The id of the relation to a sheet; empty in an old workbook. */
function getSheetRelation(workbook: WorkBook, index: number): string {
  const sheet: unknown = workbook.Workbook?.Sheets?.[index]
  return isRecord(sheet) && typeof sheet.id === 'string' ? sheet.id : ''
}

interface SheetNumbers {
  epoch: SheetEpoch
  /** Integers that are too long for a number, by the names of their cells. */
  longNumbers: ReadonlyMap<string, string> | undefined
}

function toSheetRows(
  sheet: WorkSheet,
  { epoch, longNumbers }: SheetNumbers,
  budget: SheetBudget,
): Map<number, Map<number, string>> {
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
      const exact = longNumbers?.get(formatCellName(number, Number(column)))
      const text = cell === undefined ? '' : formatCell(cell, epoch, exact)
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
