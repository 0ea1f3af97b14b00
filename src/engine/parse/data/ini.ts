import type { Block, Parser } from '../parsed.js'
import { lines } from '../text/text.js'

const SECTION = /^\s*\[{1,2}\s*([^[\]\n]{1,200}?)\s*\]{1,2}\s*(?:[#;][^\n]*)?$/
const MAX_LINES = 120
const MAX_CHARACTERS = 6000

/** Reads settings in INI and TOML format, properties and environments: unchanged lines, in their sections. */
export const iniParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-ini' || mediaType === 'text/x-toml',
  parse(input) {
    const language = input.mediaType === 'text/x-toml' ? 'toml' : 'ini'
    return {
      parser: 'native-structured',
      contentType: 'text',
      blocks: settingBlocks(input.text(), language),
      metadata: { programmingLanguage: language },
    }
  },
}

function settingBlocks(text: string, language: string): Block[] {
  const blocks: Block[] = []
  let held: string[] = []
  let size = 0
  /** end of a value of several lines, whose lines may look like sections */
  let quote = ''
  const flush = (): void => {
    if (size > 0) blocks.push({ type: 'code', text: held.join('\n'), metadata: { language } })
    held = []
    size = 0
  }
  for (const line of lines(text)) {
    const section = quote === '' ? SECTION.exec(line.slice(0, 300))?.[1] : undefined
    if (section !== undefined && !section.includes(',')) {
      const comments = takeComments(held)
      flush()
      const level = language === 'toml' ? Math.min(section.split('.').length, 6) : 1
      blocks.push({ type: 'heading', text: section, level, tocSource: 'key', silent: true })
      held = comments
      size = comments.length
    } else if (held.length >= MAX_LINES || size > MAX_CHARACTERS) flush()
    const marks = language === 'toml' ? (line.match(/"""|'''/g) ?? []) : []
    for (const mark of marks) quote = quote === '' ? mark : quote === mark ? '' : quote
    held.push(line.trimEnd())
    if (line.trim() !== '') size += line.length
  }
  flush()
  return blocks
}

/** Comments right above a section belong to it. */
function takeComments(held: string[]): string[] {
  let from = held.length
  while (from > 0 && /^\s*[#;]/.test(held[from - 1] ?? '')) from--
  return from === 0 ? [] : held.splice(from)
}
