import { isRecord } from '../../../../lib/json/values.js'

/** A block with its children; `value` is the block's own data. */
export interface NotionBlock {
  type: string
  value: unknown
  children: NotionBlock[]
}

const HEADINGS: Record<string, string> = { heading_1: '#', heading_2: '##', heading_3: '###', heading_4: '####' }
const FILES = new Set(['image', 'file', 'pdf', 'video', 'audio'])
const LINKS = new Set(['bookmark', 'embed', 'link_preview'])

/** Converts the blocks of a page to Markdown. Blocks without text are replaced by their children. */
export function blocksToMarkdown(blocks: readonly NotionBlock[]): string {
  const parts: string[] = []
  let number = 0
  let last = ''
  for (const block of blocks) {
    number = block.type === 'numbered_list_item' ? number + 1 : 0
    const text = formatBlock(block, number)
    if (text === '') continue
    // items of one list are not separated by blank lines
    const listed = block.type === last && isListItem(block.type)
    parts.push(`${parts.length === 0 ? '' : listed ? '\n' : '\n\n'}${text}`)
    last = block.type
  }
  return parts.join('')
}

function isListItem(type: string): boolean {
  return type === 'bulleted_list_item' || type === 'numbered_list_item' || type === 'to_do'
}

function formatBlock({ type, value, children }: NotionBlock, number: number): string {
  const data = isRecord(value) ? value : {}
  const text = formatRichText(data.rich_text)
  const below = () => blocksToMarkdown(children)
  const heading = HEADINGS[type]
  if (heading !== undefined) return joinParts(text === '' ? '' : `${heading} ${toOneLine(text)}`, below())
  if (FILES.has(type)) return formatFile(data)
  if (LINKS.has(type)) return formatLink(formatRichText(data.caption), data.url)
  switch (type) {
    case 'bulleted_list_item':
      return formatListItem('- ', text, below())
    case 'numbered_list_item':
      return formatListItem(`${number}. `, text, below())
    case 'to_do':
      return formatListItem(data.checked === true ? '- [x] ' : '- [ ] ', text, below())
    case 'quote':
    case 'callout':
      return joinParts(text, below()).replace(/^/gm, '> ')
    case 'code':
      return fenceCode(toPlainText(data.rich_text), typeof data.language === 'string' ? data.language : '')
    case 'equation':
      return typeof data.expression === 'string' ? `$$\n${data.expression}\n$$` : ''
    case 'divider':
      return '---'
    case 'table':
      return formatTable(children)
    case 'child_page':
    case 'child_database':
      return typeof data.title === 'string' ? escapeMarkdown(data.title) : ''
    default:
      return joinParts(text, below())
  }
}

function joinParts(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

function formatListItem(mark: string, text: string, below: string): string {
  const lines = below === '' ? text : `${text}\n${below}`
  return mark + lines.replace(/\n(?=.)/g, `\n${' '.repeat(mark.length > 3 ? 2 : mark.length)}`)
}

function fenceCode(code: string, language: string): string {
  let maxBackticks = 2
  for (const [run] of code.matchAll(/`+/g)) maxBackticks = Math.max(maxBackticks, run.length)
  const fence = '`'.repeat(maxBackticks + 1)
  return `${fence}${language.replace(/[^\w+#-]/g, '')}\n${code}\n${fence}`
}

/** Addresses of files in Notion change with every request and expire within an hour: only their names are kept. */
function formatFile(data: Record<string, unknown>): string {
  const caption = formatRichText(data.caption)
  const external = isRecord(data.external) ? data.external.url : undefined
  const name = typeof data.name === 'string' ? escapeMarkdown(data.name) : ''
  return formatLink(caption === '' ? name : caption, external)
}

function formatLink(label: string, url: unknown): string {
  if (typeof url !== 'string' || !/^https?:\/\/[^\s<>]+$/.test(url)) return label
  return label === '' ? `<${url}>` : `[${label}](<${url}>)`
}

function formatTable(rows: readonly NotionBlock[]): string {
  const cells = rows.map(({ value }) => {
    const row = isRecord(value) && Array.isArray(value.cells) ? value.cells : []
    return row.map((cell) => toOneLine(formatRichText(cell)).replaceAll('|', '\\|'))
  })
  const [head] = cells
  if (head === undefined) return ''
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...cells.slice(1).map(line)].join('\n')
}

/** Texts with their emphasis and links. */
function formatRichText(parts: unknown): string {
  return parseTextParts(parts)
    .map(({ text, marks, href }) => {
      const core = text.trim()
      if (core === '') return text
      const start = text.length - text.trimStart().length
      const [before, after] = [text.slice(0, start), text.slice(start + core.length)]
      let formatted = marks.code === true ? formatCodeSpan(core) : escapeMarkdown(core)
      if (marks.bold === true) formatted = `**${formatted}**`
      if (marks.italic === true) formatted = `*${formatted}*`
      if (marks.strikethrough === true) formatted = `~~${formatted}~~`
      return `${before}${href === undefined ? formatted : formatLink(formatted, href)}${after}`
    })
    .join('')
}

function formatCodeSpan(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

function toPlainText(parts: unknown): string {
  return parseTextParts(parts)
    .map(({ text }) => text)
    .join('')
}

interface NotionText {
  text: string
  marks: Record<string, unknown>
  href: unknown
}

function parseTextParts(parts: unknown): NotionText[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown) => {
    if (!isRecord(part) || typeof part.plain_text !== 'string') return []
    const href = typeof part.href === 'string' ? part.href : undefined
    return [{ text: part.plain_text, marks: isRecord(part.annotations) ? part.annotations : {}, href }]
  })
}

/** A page as Markdown: its title, its columns where it is a row of a database, and its blocks. */
export function pageToMarkdown(properties: unknown, blocks: readonly NotionBlock[]): { title: string; text: string } {
  const title = getTitle(properties)
  const heading = title === '' ? '' : `# ${escapeMarkdown(title)}`
  return { title, text: `${joinParts(heading, propertiesToMarkdown(properties), blocksToMarkdown(blocks))}\n` }
}

/** Characters that start a heading, a list item, a rule or an underline at the start of a line. */
const AT_LINE_START = /^([^\S\n\r\u2028\u2029]*(?:\d{1,9}(?=[.)])|(?=[#+=-])))([.)]|#{1,6}|\+|-+|=+)(?=\s|$)/gm

/** Escapes a text for Markdown. A digit cannot be escaped, so the character after a number is. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/([\\`*_[\]<>])/g, '\\$1')
    .replaceAll('~~', '\\~\\~')
    .replace(AT_LINE_START, '$1\\$2')
}

function toOneLine(text: string): string {
  // no pattern: one for white space around line ends takes quadratic time on long runs of blanks
  const lines = text.split('\n')
  const last = lines.length - 1
  if (last === 0) return text
  return lines
    .map((line, index) => (index === 0 ? line.trimEnd() : index === last ? line.trimStart() : line.trim()))
    .filter((line, index) => line !== '' || index === 0 || index === last)
    .join(' ')
}

/** The title of a page; '' for a page without one. */
export function getTitle(properties: unknown): string {
  if (!isRecord(properties)) return ''
  const title = Object.values(properties).find((property) => isRecord(property) && property.type === 'title')
  return isRecord(title) ? toOneLine(toPlainText(title.title)).trim().slice(0, 200).toWellFormed() : ''
}

/** The columns of a database row, as a list. */
export function propertiesToMarkdown(properties: unknown): string {
  if (!isRecord(properties)) return ''
  return Object.entries(properties)
    .flatMap(([name, property]) => {
      const text = isRecord(property) ? formatProperty(property) : ''
      return text === '' ? [] : [`- ${escapeMarkdown(toOneLine(name))}: ${toOneLine(text)}`]
    })
    .join('\n')
}

function formatProperty(property: Record<string, unknown>): string {
  const value = typeof property.type === 'string' ? property[property.type] : undefined
  switch (property.type) {
    case 'rich_text':
      return formatRichText(value)
    case 'number':
    case 'checkbox':
      return value === null || value === undefined ? '' : String(value)
    case 'url':
    case 'email':
    case 'phone_number':
      return typeof value === 'string' ? escapeMarkdown(value) : ''
    case 'select':
    case 'status':
      return getName(value)
    case 'multi_select':
    case 'people':
      return Array.isArray(value) ? value.map(getName).filter(Boolean).join(', ') : ''
    case 'date': {
      const { start, end } = isRecord(value) ? value : {}
      return [start, end].filter((time) => typeof time === 'string').join(' – ')
    }
    default:
      return ''
  }
}

function getName(value: unknown): string {
  return isRecord(value) && typeof value.name === 'string' ? escapeMarkdown(value.name) : ''
}
