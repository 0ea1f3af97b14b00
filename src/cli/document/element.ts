import { CELL_SEPARATOR, cellsOfLine } from '../../lib/text/table-lines.js'

/** A piece of a document in reading order, as the API and the reading process tell it. */
export interface Element {
  id: string
  type: 'title' | 'heading' | 'paragraph' | 'table' | 'list' | 'image' | 'code' | 'page-break'
  text?: string | undefined
  pageNumber?: number | undefined
  sectionPath: string[]
  metadata: Record<string, unknown>
}

/** A table with its cells, row by row. */
export interface TableView {
  id: string
  caption?: string
  pageNumber?: number
  sectionPath: string[]
  /** how many of the rows name the columns */
  headerRows: number
  rows: string[][]
}

/** The text of a page. */
export interface PageView {
  pageNumber: number
  text: string
}

/** The text of all elements, with a blank line between two. */
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

/** Texts by page, of a document that has pages; what stands before the first one belongs to it. */
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

/** The cells of a table, of as many columns each row as its reader counted: a bar within a cell ends none. */
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
