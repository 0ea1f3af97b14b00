import { CELL_SEPARATOR, cellsOfLine } from '../../lib/text/table-lines.js'

/** A part of a document in reading order, as the API and the reader process return it. */
export interface Element {
  id: string
  type: 'title' | 'heading' | 'paragraph' | 'table' | 'list' | 'image' | 'code' | 'page-break'
  text?: string | undefined
  pageNumber?: number | undefined
  sectionPath: string[]
  metadata: Record<string, unknown>
}

/** A table with its cells, by rows. */
export interface TableView {
  id: string
  caption?: string
  pageNumber?: number
  sectionPath: string[]
  /** Number of leading rows with column names. */
  headerRows: number
  rows: string[][]
}

/** The text of a page. */
export interface PageView {
  pageNumber: number
  text: string
}

/** Yields the text of all elements, separated by blank lines. */
export function* textPieces(elements: Iterable<Element>): Generator<string> {
  let isFirst = true
  for (const { text } of elements) {
    if (text === undefined || text === '') continue
    yield isFirst ? text : `\n\n${text}`
    isFirst = false
  }
  if (!isFirst) yield '\n'
}

export function tablesOf(elements: readonly Element[]): TableView[] {
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
        rows: tableRows(element),
      },
    ]
  })
}

/** The text of each page, for documents with pages; elements before the first page number belong to the first page. */
export function pagesOf(elements: readonly Element[]): PageView[] {
  const pages = new Map<number, Element[]>()
  let page = elements.find(({ pageNumber }) => pageNumber !== undefined)?.pageNumber
  if (page === undefined) return []
  for (const element of elements) {
    page = element.pageNumber ?? page
    const some = pages.get(page) ?? []
    some.push(element)
    pages.set(page, some)
  }
  return [...pages].map(([pageNumber, some]) => ({ pageNumber, text: [...textPieces(some)].join('').trimEnd() }))
}

/**
 * The cells of a table. Rows have at most the column count of the parser: further separators are part of the last cell.
 */
export function tableRows({ text = '', metadata }: Element): string[][] {
  const { cells, columnCount } = metadata
  if (isGrid(cells)) return cells
  const most = typeof columnCount === 'number' && columnCount > 0 ? columnCount : Number.POSITIVE_INFINITY
  return text.split('\n').map((line) => {
    const row = cellsOfLine(line)
    return row.length <= most ? row : [...row.slice(0, most - 1), row.slice(most - 1).join(CELL_SEPARATOR)]
  })
}

function isGrid(value: unknown): value is string[][] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((row) => Array.isArray(row) && row.every((cell) => typeof cell === 'string'))
  )
}
