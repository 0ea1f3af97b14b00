import { getTableRows, type ReadingElement } from './element.js'

export interface MarkdownOptions {
  /** Location of the picture of an element, by element id. */
  pictures?: ReadonlyMap<string, string>
  /** Whether to insert a comment at the start of each page. */
  pageMarks?: boolean
}

/** Markdown has six heading levels. */
const MAX_HEADING_LEVEL = 6

/** Renders the document as GitHub Markdown, in parts. Text is escaped, so that it is never read as markup. */
export function* renderMarkdownParts(
  elements: Iterable<ReadingElement>,
  options: MarkdownOptions = {},
): Generator<string> {
  let page: number | undefined
  let isFirst = true
  for (const element of elements) {
    const part = renderElement(element, options.pictures?.get(element.id))
    if (part === '') continue
    const startsPage = options.pageMarks === true && element.pageNumber !== undefined && element.pageNumber !== page
    page = element.pageNumber ?? page
    yield `${isFirst ? '' : '\n\n'}${startsPage ? `<!-- page ${page} -->\n\n` : ''}${part}`
    isFirst = false
  }
  if (!isFirst) yield '\n'
}

function renderElement(element: ReadingElement, picture: string | undefined): string {
  const { type, text = '', metadata } = element
  switch (type) {
    case 'title':
    case 'heading': {
      const level = typeof metadata.level === 'number' ? Math.min(Math.max(1, metadata.level), MAX_HEADING_LEVEL) : 1
      return text === '' ? '' : `${'#'.repeat(level)} ${escapeInline(toOneLine(text))}`
    }
    case 'code':
      return text === '' ? '' : renderCodeBlock(text, metadata.language)
    case 'table':
      return renderMarkdownTable(getTableRows(element), Number(metadata.headerRows ?? 0), metadata.caption)
    case 'list':
      return text.split('\n').map(renderListLine).join('\n')
    case 'image':
      return renderPicture(text, picture)
    case 'page-break':
      return ''
    default:
      return text.split('\n').map(renderPlainLine).join('\n')
  }
}

/** @param headerRows number of header rows; the first becomes the header, which every GitHub table has */
export function renderMarkdownTable(rows: readonly string[][], headerRows: number, caption?: unknown): string {
  const columns = rows.reduce((max, row) => Math.max(max, row.length), 1)
  const renderRow = (row: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, column) => escapeInline(toOneLine(row[column] ?? '')).replaceAll('|', '\\|')).join(' | ')} |`
  const [header, body] = headerRows > 0 ? [rows[0] ?? [], rows.slice(1)] : [[], rows]
  const lines = [renderRow(header), `|${' --- |'.repeat(columns)}`, ...body.map(renderRow)]
  const title = typeof caption === 'string' && caption.trim() !== '' ? `${renderPlainLine(toOneLine(caption))}\n\n` : ''
  return title + lines.join('\n')
}

/** Uses a fence longer than any in the code. */
function renderCodeBlock(code: string, language: unknown): string {
  let longest = 2
  for (const run of code.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  const name = typeof language === 'string' && /^[\w+#.-]{1,40}$/.test(language) ? language : ''
  return `${fence}${name}\n${code}\n${fence}`
}

function renderPicture(caption: string, location: string | undefined): string {
  const altText = escapeInline(toOneLine(caption)).replace(/[[\]]/g, '\\$&')
  if (location === undefined) return altText
  return `![${altText}](<${location.replace(/[<>\\\s]/g, (char) => encodeURIComponent(char))}>)`
}

/** Keeps the marker and indentation of a list line; a drawn or missing bullet becomes `-`. */
function renderListLine(line: string): string {
  const [, indent = '', marker, bullet, text = ''] =
    /^(\s*)(?:([-*+]|\d{1,9}[.)])(?=\s|$)|([•●○▪◦‣·–]))?\s*(.*)$/.exec(line) ?? []
  if (text === '' && marker === undefined && bullet === undefined) return ''
  return `${indent}${marker ?? '-'} ${renderPlainLine(text)}`
}

/** Text at the start of a line that would begin a block other than a paragraph. */
const BLOCK_START = /^(\s{0,3})(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+\s*$|-+\s*$|~{3}|`{3})/
const NUMBERED_START = /^(\s{0,3}\d{1,9})([.)])(?=\s|$)/

function renderPlainLine(line: string): string {
  // An indentation of four would begin a code block.
  const trimmed = line.replace(/^\s{4,}/, '   ')
  return escapeInline(trimmed).replace(BLOCK_START, '$1\\$2').replace(NUMBERED_START, '$1\\$2')
}

/** Escapes emphasis, links, pictures and HTML elements. */
function escapeInline(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replace(/\*(?=\S)|(?<=\S)\*/g, '\\*')
    .replace(/(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replaceAll('](', ']\\(')
    .replaceAll('`', '\\`')
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
