import type { Block, Parser } from '../parsed.js'
import { lines } from '../text/text.js'

const TOP_LEVEL_KEY = /^(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s#'"{}[\],&*!|>%@`-][^#:]{0,200})):(?:\s|$)/

/**
 * Reads YAML as it is written, with comments: each top-level key of more than one line opens a section.
 *
 * No YAML parser is used: comments are half of what people write in YAML, and aliases can expand a file a million
 * times.
 */
export const yamlParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/yaml',
  parse: (input) => ({
    parser: 'native-structured',
    contentType: 'structured',
    blocks: yamlBlocks(input.text()),
    metadata: {},
  }),
}

interface Entry {
  key: string | undefined
  lines: string[]
}

function yamlBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let plain: string[] = []
  for (const entry of entriesOf(text)) {
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
function entriesOf(text: string): Entry[] {
  const entries: Entry[] = [{ key: undefined, lines: [] }]
  let comments: string[] = []
  for (const line of lines(text)) {
    if (line.startsWith('#')) {
      comments.push(line)
      continue
    }
    if (/^(?:---|\.\.\.)\s*$/.test(line)) continue
    const match = TOP_LEVEL_KEY.exec(line)
    const key = match?.[1] ?? match?.[2] ?? match?.[3]
    if (key !== undefined) entries.push({ key, lines: [] })
    const own = entries[entries.length - 1]?.lines
    for (const comment of comments) own?.push(comment)
    comments = []
    if (line.trim() !== '') own?.push(line.trimEnd())
  }
  const last = entries[entries.length - 1]?.lines
  for (const comment of comments) last?.push(comment)
  return entries
}
