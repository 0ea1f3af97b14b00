import { type Element, tableRows } from './element.js'

export interface MarkdownOptions {
  /** Location of the picture of an element, by element id. */
  pictures?: ReadonlyMap<string, string>
  /** Insert a comment at the start of each page. */
  pageMarks?: boolean
}

/** Markdown has six heading levels. */
const DEEPEST = 6

/** Renders the document as GitHub Markdown, in parts. Text is escaped, so that it is never read as markup. */
export function* markdownPieces(elements: Iterable<Element>, options: MarkdownOptions = {}): Generator<string> {
  let page: number | undefined
  let isFirst = true
  for (const element of elements) {
    const piece = markdownOf(element, options.pictures?.get(element.id))
    if (piece === '') continue
    const begins = options.pageMarks === true && element.pageNumber !== undefined && element.pageNumber !== page
    page = element.pageNumber ?? page
    yield `${isFirst ? '' : '\n\n'}${begins ? `<!-- page ${page} -->\n\n` : ''}${piece}`
    isFirst = false
  }
  if (!isFirst) yield '\n'
}

function markdownOf(element: Element, picture: string | undefined): string {
  const { type, text = '', metadata } = element
  switch (type) {
    case 'title':
    case 'heading': {
      const level = typeof metadata.level === 'number' ? Math.min(Math.max(1, metadata.level), DEEPEST) : 1
      return text === '' ? '' : `${'#'.repeat(level)} ${inline(oneLine(text))}`
    }
    case 'code':
      return text === '' ? '' : fenced(text, metadata.language)
    case 'table':
      return markdownTable(tableRows(element), Number(metadata.headerRows ?? 0), metadata.caption)
    case 'list':
      return text.split('\n').map(listLine).join('\n')
    case 'image':
      return pictureOf(text, picture)
    case 'page-break':
      return ''
    default:
      return text.split('\n').map(plainLine).join('\n')
  }
}

/** @param headerRows number of header rows; the first becomes the header, which every GitHub table has */
export function markdownTable(rows: readonly string[][], headerRows: number, caption?: unknown): string {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 1)
  const line = (row: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, column) => tableCell(row[column] ?? '')).join(' | ')} |`
  const [head = [], ...rest] = rows
  const body = headerRows > 0 ? rest : rows
  const lines = [line(headerRows > 0 ? head : []), `|${' --- |'.repeat(columns)}`, ...body.map(line)]
  const title = typeof caption === 'string' && caption.trim() !== '' ? `${plainLine(oneLine(caption))}\n\n` : ''
  return title + lines.join('\n')
}

function tableCell(text: string): string {
  return inline(oneLine(text)).replaceAll('|', '\\|')
}

/** Uses a fence longer than any in the code. */
function fenced(code: string, language: unknown): string {
  let longest = 2
  for (const run of code.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  const name = typeof language === 'string' && /^[\w+#.-]{1,40}$/.test(language) ? language : ''
  return `${fence}${name}\n${code}\n${fence}`
}

function pictureOf(caption: string, place: string | undefined): string {
  const words = inline(oneLine(caption)).replace(/[[\]]/g, '\\$&')
  if (place === undefined) return words
  return `![${words}](<${place.replace(/[<>\\\s]/g, (sign) => encodeURIComponent(sign))}>)`
}

/** Keeps the marker and indentation of a list line; a drawn or missing bullet becomes `-`. */
function listLine(line: string): string {
  const [, room = '', sign, drawn, words = ''] =
    /^(\s*)(?:([-*+]|\d{1,9}[.)])(?=\s|$)|([•●○▪◦‣·–]))?\s*(.*)$/.exec(line) ?? []
  if (words === '' && sign === undefined && drawn === undefined) return ''
  return `${room}${sign ?? '-'} ${plainLine(words)}`
}

/** Text at the start of a line that would begin a block other than a paragraph. */
const BEGINS = /^(\s{0,3})(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+\s*$|-+\s*$|~{3}|`{3})/
const NUMBERED = /^(\s{0,3}\d{1,9})([.)])(?=\s|$)/

function plainLine(line: string): string {
  // An indentation of four would begin a code block.
  const near = line.replace(/^\s{4,}/, '   ')
  return inline(near).replace(BEGINS, '$1\\$2').replace(NUMBERED, '$1\\$2')
}

/** Escapes emphasis, links, pictures and HTML elements. */
function inline(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replace(/\*(?=\S)|(?<=\S)\*/g, '\\*')
    .replace(/(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replaceAll('](', ']\\(')
    .replaceAll('`', '\\`')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
