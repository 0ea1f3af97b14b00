import { CELL_SEPARATOR, splitCells } from '../../lib/text/table-lines.js'
import type { PageView, TableView } from '../json-output/documents.js'

/** A part of a document in reading order, as the API and the reader process return it. */
export interface ReadingElement {
  id: string
  type: 'title' | 'heading' | 'paragraph' | 'table' | 'list' | 'image' | 'code' | 'page-break'
  text?: string | undefined
  pageNumber?: number | undefined
  sectionPath: string[]
  metadata: Record<string, unknown>
}

/** Yields the text of all elements, separated by blank lines. */
export function* renderTextParts(elements: Iterable<ReadingElement>): Generator<string> {
  let isFirst = true
  for (const { text } of elements) {
    if (text === undefined || text === '') continue
    yield isFirst ? text : `\n\n${text}`
    isFirst = false
  }
  if (!isFirst) yield '\n'
}

export function getTables(elements: readonly ReadingElement[]): TableView[] {
  return elements.flatMap((element) => {
    if (element.type !== 'table') return []
    const { caption, headerRows } = element.metadata
    return [
      {
        id: element.id,
        ...(typeof caption === 'string' ? { caption } : {}),
        ...(element.pageNumber === undefined ? {} : { pageNumber: element.pageNumber }),
        sectionPath: element.sectionPath,
        headerRows: typeof headerRows === 'number' ? headerRows : 0,
        rows: getTableRows(element),
      },
    ]
  })
}

/** The text of each page, for documents with pages; elements before the first page number belong to the first page. */
export function getPages(elements: readonly ReadingElement[]): PageView[] {
  const pages = new Map<number, ReadingElement[]>()
  let page = elements.find(({ pageNumber }) => pageNumber !== undefined)?.pageNumber
  if (page === undefined) return []
  for (const element of elements) {
    page = element.pageNumber ?? page
    const pageElements = pages.get(page) ?? []
    pageElements.push(element)
    pages.set(page, pageElements)
  }
  return [...pages].map(([pageNumber, pageElements]) => ({
    pageNumber,
    text: [...renderTextParts(pageElements)].join('').trimEnd(),
  }))
}

/**
 * The cells of a table. Rows have at most the column count of the parser: further separators are part of the last cell.
 */
export function getTableRows({ text = '', metadata }: ReadingElement): string[][] {
  const { cells, columnCount } = metadata
  if (isGrid(cells)) return cells
  const maxColumns = typeof columnCount === 'number' && columnCount > 0 ? columnCount : Number.POSITIVE_INFINITY
  return text.split('\n').map((line) => {
    const row = splitCells(line)
    return row.length <= maxColumns
      ? row
      : [...row.slice(0, maxColumns - 1), row.slice(maxColumns - 1).join(CELL_SEPARATOR)]
  })
}

function isGrid(value: unknown): value is string[][] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((row) => Array.isArray(row) && row.every((cell) => typeof cell === 'string'))
  )
}
