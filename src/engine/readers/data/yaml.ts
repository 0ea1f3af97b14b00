import type { Block, Parser } from '../parsed.js'
import { iterateLines } from '../text/text.js'

const TOP_LEVEL_KEY = /^(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s#'"{}[\],&*!|>%@`-][^#:]{0,200})):(?:\s|$)/

/**
 * Reads YAML as it is written, with comments: each top-level key of more than one line opens a section.
 *
 * No YAML parser is used: comments are half of what people write in YAML, and aliases can expand a file a million
 * times.
 */
export const yamlParser: Parser = {
  parse: (input) => ({
    parser: 'native-structured',
    contentType: 'structured',
    blocks: toYamlBlocks(input.text()),
    metadata: {},
  }),
}

interface YamlEntry {
  key: string | undefined
  lines: string[]
}

function toYamlBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let plain: string[] = []
  for (const entry of splitEntries(text)) {
    const short = entry.lines.filter((line) => !line.startsWith('#')).length <= 1
    if (entry.key === undefined || (short && (blocks.length === 0 || plain.length > 0))) {
      for (const line of entry.lines) plain.push(line)
      continue
    }
    if (plain.length > 0) blocks.push({ type: 'list', text: plain.join('\n') })
    plain = []
    blocks.push({ type: 'heading', text: entry.key, level: 1, tocSource: 'key', silent: true })
    blocks.push({ type: 'list', text: entry.lines.join('\n') })
  }
  if (plain.length > 0) blocks.push({ type: 'list', text: plain.join('\n') })
  return blocks
}

/** Splits a text into its top-level keys with their lines; comments belong to the key below them. */
function splitEntries(text: string): YamlEntry[] {
  const entries: YamlEntry[] = [{ key: undefined, lines: [] }]
  let comments: string[] = []
  for (const line of iterateLines(text)) {
    if (line.startsWith('#')) {
      comments.push(line)
      continue
    }
    if (/^(?:---|\.\.\.)\s*$/.test(line)) continue
    const match = TOP_LEVEL_KEY.exec(line)
    const key = match?.[1] ?? match?.[2] ?? match?.[3]
    if (key !== undefined) entries.push({ key, lines: [] })
    const entryLines = entries[entries.length - 1]?.lines
    for (const comment of comments) entryLines?.push(comment)
    comments = []
    if (line.trim() !== '') entryLines?.push(line.trimEnd())
  }
  const last = entries[entries.length - 1]?.lines
  for (const comment of comments) last?.push(comment)
  return entries
}
