/**
 * Converts a line of AsciiDoc to text: removes marks, keeps the text of links and references, replaces attributes by
 * their values.
 */
export function asciidocToText(source: string, attributes: ReadonlyMap<string, string>): string {
  let text = source
  if (text.includes('{')) {
    text = text.replace(
      /\{([\w-]{1,80})\}/g,
      (whole, name: string) => attributes.get(name)?.slice(0, 200) ?? BUILTIN_ATTRIBUTES.get(name) ?? whole,
    )
  }
  if (text.includes('[')) {
    text = text
      .replace(/(?:link:|mailto:|xref:)[^\s[\]]{1,500}\[([^[\]]{0,300})\]/g, (_all, words: string) =>
        getLinkText(words),
      )
      .replace(/https?:[^\s[\]]{1,500}\[([^[\]]{1,300})\]/g, (_all, words: string) => getLinkText(words))
      .replace(/(?:image|icon):[^\s[\]:][^\s[\]]{0,300}\[([^[\]]{0,300})\]/g, (_all, words: string) =>
        getLinkText(words),
      )
      .replace(/footnote(?:ref)?:[\w-]{0,80}\[([^[\]]{0,1000})\]/g, ' ($1)')
      .replace(/(?:kbd|btn|menu|pass|stem|latexmath|asciimath):[\w-]{0,80}\[([^[\]]{0,500})\]/g, '$1')
      .replace(/\[\[[\w:.-]{1,100}(?:,[^[\]]{0,100})?\]\]|\[#[\w-]{1,100}\]|\[\.[\w.-]{1,100}\](?=[#*_`])/g, '')
  }
  return text
    .replace(/<<([^<>,]{1,200})(?:,\s?([^<>]{1,200}))?>>/g, (_all, target: string, words?: string) => words ?? target)
    .replace(/(^|[\s("'—-])([*_`#+^~]{1,2})(?=\S)([^\n*_`#+^~]{1,300})\2(?=$|[\s)"',.;:!?—-])/g, '$1$3')
    .replace(
      /\*\*([^*\n]{1,300})\*\*|__([^_\n]{1,300})__|``([^`\n]{1,300})``/g,
      (_all, a?: string, b?: string, c?: string) => a ?? b ?? c ?? '',
    )
    .replace(/\s\+$/, '')
    .trim()
}

const BUILTIN_ATTRIBUTES = new Map(
  Object.entries({
    nbsp: ' ',
    zwsp: '',
    sp: ' ',
    amp: '&',
    lt: '<',
    gt: '>',
    empty: '',
    blank: '',
    plus: '+',
    asterisk: '*',
    cpp: 'C++',
  }),
)

/** The text of a link, without its options. */
function getLinkText(words: string): string {
  return (words.split(/,(?=\w+=)/)[0] ?? '').replace(/^"|"$|\^$/g, '')
}

const MAX_COLUMNS = 500

/**
 * The rows of a table.
 *
 * @param style content of the square brackets above it
 * @param kind first character of its delimiter, which separates its cells unless the style says otherwise
 */
export function parseAsciidocTable(
  body: readonly string[],
  style: string,
  kind: string,
): { rows: string[][]; hasHeader: boolean } {
  const format = /format\s*=\s*"?(\w+)/.exec(style)?.[1]
  if (kind !== '|' || format === 'csv' || format === 'tsv') {
    const part = format === 'tsv' ? '\t' : kind === ':' ? ':' : ','
    const rows = body
      .filter((line) => line.trim() !== '')
      .map((line) => line.split(part).map((cell) => cell.replace(/^\s*"|"\s*$/g, '').trim()))
    return { rows, hasHeader: rows.length > 1 }
  }
  const cells: string[] = []
  let columns = countColumns(style)
  let hasHeader = /header/.test(style) && !/noheader/.test(style)
  const first = body.findIndex((line) => line.trim() !== '')
  for (const [index, line] of body.entries()) {
    const parts = line.split(/(?<!\\)(?:(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,3}[aehlmsdv]?)\|/)
    if (parts.length > 1) {
      for (const part of parts.slice(1)) cells.push(part.replaceAll('\\|', '|').trim())
      if (columns === 0 && index === first) columns = parts.length - 1
    } else if (line.trim() !== '' && cells.length > 0) cells[cells.length - 1] += ` ${line.trim()}`
    // One line with all headers, followed by an empty one.
    if (index === first && parts.length - 1 === columns && columns > 0 && body[index + 1]?.trim() === '')
      hasHeader = true
  }
  const rows: string[][] = []
  const width = Math.max(1, Math.min(columns, MAX_COLUMNS))
  for (let index = 0; index < cells.length; index += width) rows.push(cells.slice(index, index + width))
  return { rows, hasHeader: hasHeader && rows.length > 1 }
}

function countColumns(style: string): number {
  const cols = /cols\s*=\s*"?([^"\]]{1,300})/.exec(style)?.[1]
  if (cols === undefined) return 0
  const repeatCount = /^(\d{1,3})\*/.exec(cols)?.[1]
  return repeatCount === undefined ? cols.split(',').filter((part) => part.trim() !== '').length : Number(repeatCount)
}
