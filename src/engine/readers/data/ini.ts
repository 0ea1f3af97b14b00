import type { Block, Parser } from '../parsed.js'
import { iterateLines } from '../text/text.js'

const SECTION = /^\s*\[{1,2}\s*([^[\]\n]{1,200}?)\s*\]{1,2}\s*(?:[#;][^\n]*)?$/
const MAX_BLOCK_LINES = 120
const MAX_BLOCK_CHARACTERS = 6000

/** Reads settings in INI and TOML format, properties and environments: unchanged lines, in their sections. */
export const iniParser: Parser = {
  parse(input) {
    const language = input.mediaType === 'text/x-toml' ? 'toml' : 'ini'
    return {
      parser: 'native-structured',
      contentType: 'text',
      blocks: toSettingBlocks(input.text(), language),
      metadata: { programmingLanguage: language },
    }
  },
}

function toSettingBlocks(text: string, language: string): Block[] {
  const blocks: Block[] = []
  let pendingLines: string[] = []
  let size = 0
  /** end of a value of several lines, whose lines may look like sections */
  let quote = ''
  const flush = (): void => {
    if (size > 0) blocks.push({ type: 'code', text: pendingLines.join('\n'), metadata: { language } })
    pendingLines = []
    size = 0
  }
  for (const line of iterateLines(text)) {
    const section = quote === '' ? SECTION.exec(line.slice(0, 300))?.[1] : undefined
    if (section !== undefined && !section.includes(',')) {
      const comments = takeComments(pendingLines)
      flush()
      const level = language === 'toml' ? Math.min(section.split('.').length, 6) : 1
      blocks.push({ type: 'heading', text: section, level, tocSource: 'key', silent: true })
      pendingLines = comments
      size = comments.length
    } else if (pendingLines.length >= MAX_BLOCK_LINES || size > MAX_BLOCK_CHARACTERS) flush()
    const marks = language === 'toml' ? (line.match(/"""|'''/g) ?? []) : []
    for (const mark of marks) quote = quote === '' ? mark : quote === mark ? '' : quote
    pendingLines.push(line.trimEnd())
    if (line.trim() !== '') size += line.length
  }
  flush()
  return blocks
}

/** Comments right above a section belong to it. */
function takeComments(pendingLines: string[]): string[] {
  let firstComment = pendingLines.length
  while (firstComment > 0 && /^\s*[#;]/.test(pendingLines[firstComment - 1] ?? '')) firstComment--
  return firstComment === 0 ? [] : pendingLines.splice(firstComment)
}
